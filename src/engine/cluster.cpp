#include "muster/cluster.hpp"

#include <algorithm>

namespace muster {

namespace {
constexpr int64_t kSharedMemory = 81920;  // MiB of a GPU whose memory is not stated
constexpr unsigned kClients = 48;         // MPS clients of one GPU (Volta and later); time slices have no such limit

uint8_t slices(const Piece& p) { return uint8_t(((1u << p.size()) - 1) << p.first()); }
}  // namespace

Cluster::Cluster(const Topology& t)
    : topology_(t), flags_(t.nodes()), holder_(t.gpus(), kNone), free_gpus_(t.gpus()), installed_(t.gpus()), stale_(t.nodes()) {
  word_first_.reserve(t.nodes() + 1);
  word_first_.push_back(0);
  for (NodeId n = 0; n < t.nodes(); n++) word_first_.push_back(word_first_.back() + (t.gpus_of(n) + 63) / 64);
  // A node without GPUs still has a first word to look at.
  for (NodeId n = 0, extra = 0; n < t.nodes(); n++) {
    extra += t.gpus_of(n) == 0;
    word_first_[n + 1] += extra;
  }
  taken_.resize(word_first_.back()), rare_.resize(word_first_.back());
  bool others = t.resource_names().size() > 3;
  for (size_t k = kCpu; k <= kMem; k++) others |= t.limits(k);
  if (others) {
    others_.resize(t.nodes());
    for (NodeId n = 0; n < t.nodes(); n++) others_[n] = empty_node(n);
  }
  index_ = std::make_unique<NodeIndex>(t, *this, 0, t.nodes());
}

template <class F>
void Cluster::edit(NodeId n, unsigned w, F f) {
  const uint64_t free_before = free(n, w), drains_before = free_before & draining(n, w);
  Word x = at(n, w);
  f(x);
  const size_t i = word_first_[n] + w;
  taken_[i] = x.taken, rare_[i] = x;
  flags_[n] &= uint8_t(~kRare);
  for (size_t k = word_first_[n]; k < word_first_[n + 1]; k++)
    if (rare_[k].draining | rare_[k].share_draining | rare_[k].bad) flags_[n] |= kRare;
  const uint64_t free_after = free(n, w);
  free_gpus_ += std::popcount(free_after) - std::popcount(free_before);
  free_draining_ += std::popcount(free_after & draining(n, w)) - std::popcount(drains_before);
  touch(n);
}

int32_t Cluster::slice_left(NodeId n, unsigned gpu) const {
  const unsigned w = gpu / 64;
  const uint64_t bit = uint64_t{1} << (gpu & 63);
  if (free_now(n, w) & bit) return kMilli;
  if (!(sliced(n, w) & bit) || (rare(n, w).draining & bit)) return 0;
  const SharedGpu& x = shares_[slot_[topology_.first_gpu(n) + gpu]];
  if (!x.clients && (taken(n, w) & bit)) return 0;                         // somebody is to have it whole once the slices are gone
  if ((x.draining || x.clients_draining) && x.drains != Share::slice) return 0;  // shares of another kind leave it first
  return std::max(0, int32_t(kMilli) - x.size - x.size_draining);
}

int32_t Cluster::longest_slice(NodeId n) const {
  int32_t most = 0;
  for (unsigned w = 0; w < words(n); w++) {
    if (free_now(n, w)) return kMilli;
    for (uint64_t m = sliced(n, w); m; m &= m - 1) most = std::max(most, slice_left(n, w * 64 + unsigned(std::countr_zero(m))));
  }
  return most;
}

void Cluster::note_change(NodeId n) const {
  changes_.push_back(n);
  if (const size_t most = 4 * size_t{topology_.nodes()} + 1024; changes_.size() > 2 * most) {  // whoever is that far behind looks at all nodes anyway
    changes_.erase(changes_.begin(), changes_.begin() + ptrdiff_t(most));
    changes_before_ += most;
  }
}

bool Cluster::changed_since(uint64_t& from, std::vector<NodeId>& nodes) const {
  const bool known = follows_ && from >= changes_before_;
  if (known) nodes.assign(changes_.begin() + ptrdiff_t(from - changes_before_), changes_.end());
  follows_ = true;
  from = changes_before_ + changes_.size();
  return known;
}

Cluster::Others Cluster::empty_node(NodeId n) const {
  Others o;
  const NodeKind& kind = topology_.kind(n);
  for (size_t k = 1; k < kMaxKinds; k++) {
    const bool limited = k == kCpu ? kind.limits_cpu : k == kMem ? kind.limits_mem : true;
    o.free[k] = limited ? kind.capacity[k] : kPlenty;
  }
  return o;
}

void Cluster::copy(NodeId n, const Cluster& from, bool held) {
  const GpuId first = topology_.first_gpu(n), end = first + topology_.gpus_of(n);
  if ((flags_[n] ^ from.flags_[n]) & kUnusable) {
    set_removed(n, from.removed(n));
    set_flags(n, from.flags_[n]);
  }
  for (unsigned w = 0; w < words(n); w++)
    edit(n, w, [&](Word& x) {
      x = from.at(n, w);
      if (!held) x.taken = x.draining = x.share_draining = 0;
    });
  for (GpuId g = first; g < end; g++) holder_[g] = held ? from.holder_[g] : kNone;
  if (!from.sliced_.empty() && sliced_.empty()) sliced_.resize(taken_.size());
  for (unsigned w = 0; !sliced_.empty() && w < words(n); w++)
    sliced_[word_first_[n] + w] = held && !from.sliced_.empty() ? from.sliced_[word_first_[n] + w] : 0;
  if (!others_.empty()) others_[n] = held ? from.others_[n] : empty_node(n);
  for (GpuId g = first; g < end && !(slot_.empty() && from.slot_.empty()); g++) {
    const SharedGpu* s = held ? from.shared(g) : nullptr;
    if (s) shares_[slot(g)] = *s;
    else if (shared(g)) shares_[slot_[g]] = SharedGpu{};
  }
}

bool Cluster::room(NodeId n, const TaskGroup& g, unsigned tasks) const {
  if (!usable(n) || !suits(n, g)) return false;
  if (others_.empty()) return true;
  for (size_t k = 1; k < kMaxKinds; k++)
    if (const int64_t need = g.per_task[k]; need && need * int64_t(tasks) > free_amount(n, k)) return false;
  return true;
}

void Cluster::take(JobId j, const Shape& s, const Piece& p, bool stays) {
  if (p.node >= topology_.nodes()) throw Conflict{p.node, kNone, kNone, "no such node"};
  if (!stays && !usable(p.node)) throw Conflict{p.node, kNone, kNone, removed(p.node) ? "the node is not installed" : down(p.node) ? "the node is down" : "the node takes no new work"};
  const TaskGroup& g = s.groups[p.group];
  if (!others_.empty() && p.tasks) {
    for (size_t k = 1; k < kMaxKinds; k++)
      if (const int64_t need = g.per_task[k]; need && need * p.tasks > others_[p.node].free[k])
        throw Conflict{p.node, kNone, kNone, k == kCpu ? "more CPUs than it has left" : k == kMem ? "more memory than it has left" : "more than it has left"};
  }
  Tag* tag = nullptr;
  if (s.apart) {
    if (s.apart >= tags_.size()) tags_.resize(s.apart + 1);
    if (tags_[s.apart].empty()) tags_[s.apart].resize(topology_.nodes());
    tag = &tags_[s.apart][p.node];
    if (tag->pieces && tag->job != j) throw Conflict{p.node, kNone, kNone, "a job is there that it wants to be apart from"};
  }
  if (p.share != Share::whole) {
    take_share(j, p);
  } else if (p.what) {
    if (p.word >= words(p.node) || (p.what & ~all(p.node, p.word))) throw Conflict{p.node, p.word * 64u + unsigned(std::bit_width(p.what)) - 1, kNone, "no such GPU"};
    if (const uint64_t twice = p.what & taken(p.node, p.word)) {
      const unsigned gpu = p.word * 64u + unsigned(std::countr_zero(twice));
      throw Conflict{p.node, gpu, holder_[topology_.first_gpu(p.node) + gpu], "held"};
    }
    if (const uint64_t broken = p.what & bad(p.node, p.word)) throw Conflict{p.node, p.word * 64u + unsigned(std::countr_zero(broken)), kNone, "bad device"};
    if (plain(p.node)) taken_[word_first_[p.node] + p.word] |= p.what, free_gpus_ -= std::popcount(p.what), touch(p.node);
    else edit(p.node, p.word, [&](Word& x) { x.taken |= p.what; });
    const GpuId base = topology_.first_gpu(p.node) + p.word * 64u;
    for (uint64_t m = p.what; m; m &= m - 1) holder_[base + unsigned(std::countr_zero(m))] = j;
  }
  if (!others_.empty() && p.tasks) {
    for (size_t k = 1; k < kMaxKinds; k++) others_[p.node].free[k] -= g.per_task[k] * p.tasks;
    touch(p.node);
  }
  if (tag) tag->job = j, tag->pieces++;
}

void Cluster::give(JobId j, const Shape& s, const Piece& p) {
  if (s.apart) tags_[s.apart][p.node].pieces--;
  if (p.share != Share::whole) {
    give_share(j, p);
  } else if (p.what) {
    if (plain(p.node)) taken_[word_first_[p.node] + p.word] &= ~p.what, free_gpus_ += std::popcount(p.what), touch(p.node);
    else edit(p.node, p.word, [&](Word& x) { x.taken &= ~p.what; });
    const GpuId base = topology_.first_gpu(p.node) + p.word * 64u;
    for (uint64_t m = p.what; m; m &= m - 1) holder_[base + unsigned(std::countr_zero(m))] = kNone;
  }
  if (!others_.empty() && p.tasks) {
    const TaskGroup& g = s.groups[p.group];
    for (size_t k = 1; k < kMaxKinds; k++) others_[p.node].free[k] += g.per_task[k] * p.tasks;
    touch(p.node);
  }
}

void Cluster::drain(const Shape& s, const Piece& p, bool on) {
  const int sign = on ? 1 : -1;
  if (p.share != Share::whole) {
    SharedGpu& x = shares_[slot(gpu_of(p))];
    if (on) x.drains = p.share;
    if (p.share == Share::mig) {
      if (on) x.draining |= slices(p);
      else x.draining &= uint8_t(~slices(p));
    } else {
      x.size_draining += sign * int32_t(p.size()), x.mib_draining += sign * int64_t(p.mib()), x.clients_draining = uint16_t(x.clients_draining + sign);
    }
    settle_share(p, x);
  } else if (p.what) {
    edit(p.node, p.word, [&](Word& w) { on ? w.draining |= p.what : w.draining &= ~p.what; });
  }
  if (!others_.empty() && p.tasks && !s.groups.empty()) {
    for (size_t k = 1; k < kMaxKinds; k++) others_[p.node].draining[k] += sign * s.groups[p.group].per_task[k] * p.tasks;
    touch(p.node);
  }
}

bool Cluster::waits(const Shape& s, const Piece& p) const {
  if (p.share == Share::whole) {
    if (p.what & draining(p.node, p.word)) return true;
  } else {
    if (rare(p.node, p.word).draining & p.mask()) return true;
    const SharedGpu& x = *shared(gpu_of(p));
    if ((x.draining || x.clients_draining) && x.drains != p.share) return true;
    const int64_t memory = topology_.kind(p.node).gpu_mem_mib ? topology_.kind(p.node).gpu_mem_mib : kSharedMemory;
    if (p.share == Share::mig ? (x.draining & slices(p)) != 0
                              : x.size + x.size_draining > (p.share == Share::mps ? 100 : 1000) || x.mib + x.mib_draining > memory ||
                                    (p.share == Share::mps && x.clients + x.clients_draining > int(kClients)))
      return true;
  }
  if (!others_.empty() && p.tasks)
    for (size_t k = 1; k < kMaxKinds; k++)
      if (s.groups[p.group].per_task[k] && others_[p.node].draining[k] && others_[p.node].free[k] < others_[p.node].draining[k]) return true;
  return false;
}

void Cluster::add_part(NodeId begin, NodeId end) {
  parts_.push_back(std::make_unique<NodeIndex>(topology_, *this, begin, end));
}

void Cluster::set_bad(NodeId n, unsigned w, uint64_t mask) {
  edit(n, w, [&](Word& x) { x.bad = mask; });
}

void Cluster::set_flags(NodeId n, uint8_t flags) {
  const auto count = [&](int64_t sign) {
    for (unsigned w = 0; w < words(n); w++) {
      free_gpus_ += sign * std::popcount(free(n, w));
      free_draining_ += sign * std::popcount(free(n, w) & draining(n, w));
    }
  };
  count(-1);
  flags_[n] = uint8_t((flags & kUnusable) | (flags_[n] & kRare));
  count(1);
  touch(n);
}

void Cluster::set_removed(NodeId n, bool on) {
  if (removed(n) == on) return;
  set_flag(n, 2, on);
  installed_ += on ? -int64_t(topology_.gpus_of(n)) : int64_t(topology_.gpus_of(n));
}

void Cluster::set_geometry(GpuId g, uint8_t starts) {
  const NodeId n = topology_.node_of(g);
  const unsigned local = g - topology_.first_gpu(n);
  SharedGpu& x = shares_[slot(g)];
  if (x.used || x.draining || x.clients || x.clients_draining) throw Conflict{n, local, x.jobs.empty() ? kNone : x.jobs[0], "repartition of a GPU in use"};
  if (holder_[g] != kNone) throw Conflict{n, local, holder_[g], "held"};
  x.share = Share::mig;
  x.geometry = starts;
  settle_share(Piece::part(Share::mig, n, local, 0, 1, 0), x);
}

uint32_t Cluster::slot(GpuId g) {
  if (slot_.empty()) slot_.assign(topology_.gpus(), kNone);
  if (slot_[g] == kNone) {
    slot_[g] = uint32_t(shares_.size());
    shares_.emplace_back();
  }
  return slot_[g];
}

void Cluster::take_share(JobId j, const Piece& p) {
  if ((p.what & 255) > 63 || p.gpu() >= topology_.gpus_of(p.node)) throw Conflict{p.node, p.gpu(), kNone, "no such GPU"};
  SharedGpu& x = shares_[slot(gpu_of(p))];
  const bool idle = !x.used && !x.clients && !x.geometry;
  const auto refuse = [&](const char* why, JobId other = kNone) { throw Conflict{p.node, p.gpu(), other, why}; };
  if (bad(p.node, p.word) & p.mask()) refuse("bad device");
  if (idle && (taken(p.node, p.word) & p.mask())) refuse("held", holder_[gpu_of(p)]);
  if (!idle && x.share != p.share) refuse("another kind of sharing on one GPU");
  if (p.share == Share::mig) {
    // Start positions of the A100 family: 1 slice anywhere below 7, 2 on even, 4 on 0 and 4, 8 on 0.
    const unsigned size = p.size(), first = p.first();
    const bool legal = size == 8 ? first == 0 : size == 4 ? first % 4 == 0 && first < 8 : size == 2 ? first % 2 == 0 && first < 8 : size == 1 && first < 7;
    if (!legal || (x.geometry && !(x.geometry >> first & 1))) refuse("no MIG instance may start there");
    if (x.used & slices(p)) refuse("MIG slices taken twice");
    x.used |= slices(p);
  } else {
    const int32_t most = p.share == Share::mps ? 100 : 1000;
    const int64_t memory = topology_.kind(p.node).gpu_mem_mib ? topology_.kind(p.node).gpu_mem_mib : kSharedMemory;
    if (x.size + int32_t(p.size()) > most) refuse("share over capacity");
    if (x.mib + int64_t(p.mib()) > memory) refuse("GPU memory over capacity");
    if (x.clients == (p.share == Share::mps ? kClients : UINT16_MAX)) refuse("too many clients");
    x.size += int32_t(p.size()), x.mib += p.mib(), x.clients++;
  }
  x.share = p.share;
  x.jobs.push_back(j);
  settle_share(p, x);
}

void Cluster::give_share(JobId j, const Piece& p) {
  SharedGpu& x = shares_[slot(gpu_of(p))];
  if (p.share == Share::mig) x.used &= uint8_t(~slices(p));
  else x.size -= int32_t(p.size()), x.mib -= p.mib(), x.clients--;
  x.jobs.erase(std::find(x.jobs.begin(), x.jobs.end(), j));
  settle_share(p, x);
}

/// A GPU with any share or a fixed geometry is not free as a whole.
void Cluster::settle_share(const Piece& p, SharedGpu& x) {
  const uint64_t bit = p.mask();
  const bool held = x.used || x.clients || x.geometry, drains = x.draining || x.clients_draining;
  edit(p.node, p.word, [&](Word& w) {
    if (held != x.blocks) {  // not by the bit in `taken`: that may be a whole-GPU job's while a share of it still drains
      x.blocks = held;
      held ? w.taken |= bit : w.taken &= ~bit;
    }
    drains ? w.share_draining |= bit : w.share_draining &= ~bit;
  });
  const bool slices = x.clients ? x.share == Share::slice : x.clients_draining && x.drains == Share::slice;
  if (sliced_.empty() && slices) sliced_.resize(taken_.size());
  if (sliced_.empty()) return;
  uint64_t& word = sliced_[word_first_[p.node] + p.word];
  slices ? word |= bit : word &= ~bit;
}

}  // namespace muster
