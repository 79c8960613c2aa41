#include "metrics/occupancy.hpp"

#include <algorithm>

#include "engine/world.hpp"

namespace muster {
namespace {

/// Thousandths of its GPU that a share holds; a memory slice of a MIG instance is an eighth.
int64_t milli_of(const Piece& p) {
  const int64_t whole = p.share == Share::mig ? 8 : p.share == Share::mps ? 100 : kMilli;
  return int64_t{p.size()} * kMilli / whole;
}

}  // namespace

void Occupancy::begin(const Header& h) {
  topology_ = h.topology, workload_ = h.workload;
  const Topology& t = *topology_;
  first_.assign(1, 0);
  for (NodeId n = 0; n < t.nodes(); n++) first_.push_back(first_.back() + std::max(1u, (t.gpus_of(n) + 63) / 64));
  words_.assign(first_.back(), {});
  off_.assign(t.nodes(), 0), stale_.assign(t.nodes(), 0);
  holder_.assign(t.gpus(), kNone);
  amount_.clear();
  for (NodeId n = 0; n < t.nodes(); n++)
    for (size_t k = 1; k < kMaxKinds; k++) amount_.push_back(t.kind(n).capacity[k]);
  slot_.assign(workload_->jobs.size(), kNone);
}

int64_t Occupancy::left(NodeId n, unsigned gpu) const {
  const Word& w = at(n, gpu / 64);
  const uint64_t bit = uint64_t{1} << (gpu % 64);
  if (!usable(n) || ((w.taken | w.draining | w.bad) & bit)) return 0;
  return w.shared & bit ? std::max<int64_t>(0, kMilli - used_[topology_->first_gpu(n) + gpu].milli) : kMilli;
}

int64_t Occupancy::free_amount(NodeId n, size_t kind) const {
  const NodeKind& k = topology_->kind(n);
  if ((kind == kCpu && !k.limits_cpu) || (kind == kMem && !k.limits_mem)) return Cluster::kPlenty;
  return usable(n) ? std::max<int64_t>(0, amount_[n * (kMaxKinds - 1) + kind - 1]) : 0;
}

Occupancy::Holding& Occupancy::holding(JobId j) {
  if (slot_[j] == kNone) {
    if (free_slots_.empty()) free_slots_.push_back(uint32_t(holdings_.size())), holdings_.emplace_back();
    slot_[j] = free_slots_.back();
    free_slots_.pop_back();
  }
  return holdings_[slot_[j]];
}

void Occupancy::apply(JobId j, Pieces pieces, bool on, bool drains) {
  const Shape* s = j == kNone ? nullptr : &workload_->shapes[workload_->jobs[j].shape];
  for (const Piece& p : pieces) {
    touch(p.node);
    Word& w = at(p.node, p.word);
    if (p.share == Share::whole) {
      if (drains) {
        on ? w.draining |= p.what : w.draining &= ~p.what;
      } else {
        // Jobs that change places are told one after the other: the first may take what the second has not given back yet.
        const GpuId base = topology_->first_gpu(p.node) + 64u * p.word;
        for (uint64_t m = p.what; m; m &= m - 1) {
          JobId& holder = holder_[base + unsigned(std::countr_zero(m))];
          const uint64_t bit = m & -m;
          if (on) holder = j, w.taken |= bit;
          else if (holder == j) holder = kNone, w.taken &= ~bit;
        }
      }
    } else {
      if (used_.empty()) used_.assign(topology_->gpus(), {});
      Shares& used = used_[topology_->first_gpu(p.node) + p.gpu()];
      used.milli += (on ? 1 : -1) * milli_of(p), used.count += on ? 1 : -1;
      used.count > 0 ? w.shared |= p.mask() : w.shared &= ~p.mask();
    }
    if (s && p.tasks)
      for (size_t k = 1; k < kMaxKinds; k++) amount_[p.node * (kMaxKinds - 1) + k - 1] -= (on ? 1 : -1) * s->groups[p.group].per_task[k] * p.tasks;
  }
}

/// From now on the job holds these.
void Occupancy::set(JobId j, Pieces p) {
  Holding& h = holding(j);
  apply(j, h.held, false, false);
  h.held.assign(p.begin(), p.end());
  apply(j, h.held, true, false);
}

void Occupancy::see(const Record& r) {
  if (r.job == kNone || r.job >= slot_.size()) return devices(r);
  switch (r.what) {
    case What::start:
    case What::claim:
    case What::run: {
      Holding& h = holding(r.job);
      if (h.was_draining)  // a notice withdrawn: what it wants again drains no longer
        std::erase_if(h.drains, [&](const auto& d) {
          if (!covers(r.pieces, d)) return false;
          apply(r.job, d, false, true);
          return true;
        });
      h.was_draining = false;
      set(r.job, r.pieces);
      break;
    }
    case What::resize:
    case What::preempt: {
      Holding& h = holding(r.job);
      const Pieces now = r.what == What::resize ? r.pieces : Pieces();
      if (r.grace > 0) {
        h.drains.push_back(minus(h.held, now));
        apply(r.job, h.drains.back(), true, true);
      }
      set(r.job, now);
      h.was_draining = r.state == State::draining;
      break;
    }
    case What::lost:
      set(r.job, {});
      holding(r.job).was_draining = r.state == State::draining;
      break;
    case What::drained: {
      Holding& h = holding(r.job);
      const auto d = std::find_if(h.drains.begin(), h.drains.end(), [&](const auto& x) { return std::equal(x.begin(), x.end(), r.pieces.begin(), r.pieces.end()); });
      if (d == h.drains.end()) break;
      apply(r.job, *d, false, true);
      h.drains.erase(d);
      break;
    }
    case What::end: {
      if (slot_[r.job] == kNone) break;
      set(r.job, {});
      Holding& h = holding(r.job);
      for (const auto& d : h.drains) apply(r.job, d, false, true);
      h.drains.clear(), h.was_draining = false;
      free_slots_.push_back(slot_[r.job]);
      slot_[r.job] = kNone;
      break;
    }
    default: break;
  }
}

int64_t Occupancy::unusable_of(NodeId n) const {
  if (off_[n] & kRemoved) return 0;
  if (!usable(n)) return topology_->gpus_of(n);
  int64_t bad = 0;
  for (unsigned w = 0; w < words(n); w++) bad += std::popcount(at(n, w).bad);
  return bad;
}

void Occupancy::switch_off(NodeId n, uint8_t flag, bool on) { off_[n] = uint8_t(on ? off_[n] | flag : off_[n] & ~flag); }

void Occupancy::devices(const Record& r) {
  switch (r.what) {
    case What::reshape:
    case What::reshaped: return apply(kNone, r.pieces, r.what == What::reshape, true);
    case What::fault:
    case What::repair:
    case What::cordon:
    case What::uncordon:
    case What::capacity: break;
    default: return;
  }
  for (size_t i = 0; i < r.pieces.size();) {
    const NodeId n = r.pieces[i].node;
    touch(n);
    unusable_ -= unusable_of(n);
    bool whole = true;
    unsigned w = 0;
    const size_t from = i;
    for (; i < r.pieces.size() && r.pieces[i].node == n; i++, w++) whole &= topology_->gpus_of(n) == 0 || r.pieces[i].what == all(n, r.pieces[i].word);
    whole &= w == words(n);
    const bool on = r.what == What::fault || r.what == What::cordon || (r.what == What::capacity && r.capacity < 0);
    if (r.what == What::cordon || r.what == What::uncordon) switch_off(n, kCordoned, on);
    else if (r.what == What::capacity) switch_off(n, kRemoved, on);
    else if (r.what == What::fault && whole) switch_off(n, kDown, true);  // the node with its CPUs
    else {
      for (size_t k = from; k < i; k++) {
        uint64_t& bad = at(n, r.pieces[k].word).bad;
        r.what == What::fault ? bad |= r.pieces[k].what : bad &= ~r.pieces[k].what;
      }
      if (whole) switch_off(n, kDown, false);
    }
    unusable_ += unusable_of(n);
  }
}

}  // namespace muster
