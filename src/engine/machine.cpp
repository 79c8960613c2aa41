// What happens to devices, and through them to jobs.
#include <algorithm>

#include "engine/engine.hpp"

namespace muster {

/// Jobs that hold or claim something there, each once, in order of id.
std::vector<JobId> Simulator::Engine::holders(NodeId n, GpuId from, GpuId to, bool node) const {
  std::vector<JobId> hit;
  for (GpuId g = from; g < to; g++) {
    if (const JobId j = w.cluster.holder(g); j != kNone) hit.push_back(j);
    if (const SharedGpu* s = w.cluster.shared(g)) hit.insert(hit.end(), s->jobs.begin(), s->jobs.end());
  }
  if (node)  // tasks without a GPU are in no table: whoever has a piece on the node
    for (JobId j = w.placed.first(); j != kNone; j = w.placed.next(j + 1))
      for (const Piece& p : PieceStore::pieces(w.live[j].at))
        if (p.node == n && !p.mask()) hit.push_back(j);
  std::sort(hit.begin(), hit.end());
  hit.erase(std::unique(hit.begin(), hit.end()), hit.end());
  return hit;
}

/// A job loses its whole placement and goes back to the queue, without what no checkpoint holds. A claim is given up.
void Simulator::Engine::lose(JobId j) {
  Live& l = w.live[j];
  settle(j);
  set_back(j, l.at);
  stops_computing(j);
  int64_t held = count(j, false);
  const State was = l.state;
  const Held at = l.at;
  const Pieces old = PieceStore::pieces(at);
  for (const Piece& p : old) w.cluster.give(j, w.shape(j), p);
  w.usage[w.job(j).tenant] -= at.milli;
  w.placed.erase(j);
  l.at.count = 0, l.at.milli = 0;
  disturb(j, old);
  if (was == State::claimed) std::erase(claimed, j);
  else busy--;
  Duration lost = 0;
  Int128 lost_gpu = 0;
  if (l.rare != kNone) lost = w.rare[l.rare].risk_run + w.rare[l.rare].risk_write, lost_gpu = w.rare[l.rare].risk_computed;
  to_queue(j, true);
  if (w.drains(j)) {  // it still drains elsewhere
    l.state = State::draining;
    busy++;
    w.queue.erase(j);
  }
  if (!observers.empty()) {
    Record& r = record(What::lost, j, at);
    r.held += held, r.waiting = int(l.state == State::queued) - int(was == State::claimed), r.lost_time = lost, r.lost = lost_gpu;
  }
  happened(What::lost, j, at);
  devices_back = true;
}

/// GPUs [from, to) of a node break, or the whole node with its CPUs.
void Simulator::Engine::break_gpus(NodeId n, GpuId from, GpuId to, bool node) {
  const GpuId base = w.topology.first_gpu(n);
  std::vector<Piece> broken;
  for (unsigned word = 0; word < w.cluster.words(n); word++) {
    uint64_t mask = 0;
    for (GpuId g = std::max(from, base + word * 64); g < std::min(to, base + word * 64 + 64); g++) mask |= uint64_t{1} << ((g - base) & 63);
    if (mask || word == 0) broken.push_back(Piece::whole(n, 0, mask, uint8_t(word)));
    if (!node) w.cluster.set_bad(n, word, w.cluster.bad(n, word) | mask);
  }
  for (const JobId j : holders(n, from, to, node)) lose(j);
  for (uint32_t d = 0; d < drains.size(); d++) {  // what drains there is gone at once
    if (!drains[d].open || drains[d].job == kNone) continue;
    bool hit = false;
    for (const Piece& p : PieceStore::pieces(drains[d].held))
      for (const Piece& b : broken) hit |= p.node == n && ((p.word == b.word && (p.mask() & b.mask())) || (node && !p.mask()));
    if (hit) drained(d);
  }
  if (node) w.cluster.set_down(n, true);
  const Held held = w.store.keep(broken);
  if (!observers.empty()) record(What::fault, kNone, held);
  happened(What::fault, n, held);
}

/// A drain ends: its devices are given back, and a job that wanted nothing else is back in the queue.
void Simulator::Engine::drained(uint32_t d) {
  const JobId j = drains[d].job;
  const GpuId gpu = drains[d].gpu;
  const Held held = drains[d].held;
  if (j == kNone) {
    close_drain(d);
    if (!observers.empty()) record(What::reshaped, kNone, held);
    happened(What::reshaped, gpu, held);
    return;
  }
  Live& l = w.live[j];
  settle(j);
  close_drain(d);
  const bool gone = l.state == State::draining && !w.drains(j);
  if (gone) busy--, to_queue(j, false);
  if (!observers.empty()) {
    Record& r = record(What::drained, j, held);
    r.held -= held.milli, r.waiting = int(gone);
  }
  happened(What::drained, j, held);
}

/// An application comes down to `n` tasks by its own choice: its last tasks go. Below its minimum it leaves its placement altogether.
void Simulator::Engine::give_back(JobId j, unsigned n) {
  Live& l = w.live[j];
  if (l.state != State::running) return;
  const Pieces at = plan.at(j);
  unsigned have = tasks_of(at);
  if (n >= have) return;
  const Shape& s = w.shape(j);
  std::vector<Piece> keep(at.begin(), at.end());
  while (have > n && !keep.empty()) {
    size_t first = keep.size() - 1;  // the tasks of a node are counted on its first piece
    while (first && keep[first].tasks == 0) first--;
    if (keep[first].share != Share::whole || keep[first].tasks <= 1) {
      have -= keep[first].tasks;
      keep.resize(first);
      continue;
    }
    for (unsigned k = s.groups[keep[first].group].gpus; k > 0; k--) {
      if (!keep.back().what) keep.pop_back();
      keep.back().what &= ~(uint64_t{1} << (std::bit_width(keep.back().what) - 1));
    }
    if (!keep.back().what && keep.size() - 1 > first) keep.pop_back();
    keep[first].tasks--, have--;
  }
  uint32_t tasks[kMaxGroups] = {};
  for (const Piece& p : keep) tasks[p.group] += p.tasks;
  bool enough = s.nodes != Nodes::whole;
  for (size_t g = 0; g < s.groups.size(); g++) enough &= tasks[g] >= s.groups[g].min_tasks;
  if (!enough) keep.clear();
  const Held given = w.store.keep(minus(at, keep));
  settle(j);
  keep_risk(j);
  change_outside_a_pass(j, keep, 0);
  if (!observers.empty()) record(What::gave_back, j, given);
  happened(What::gave_back, j, given);
}

/// All GPUs of a node as pieces.
Held Simulator::Engine::all_of(NodeId n) {
  std::vector<Piece> all;
  for (unsigned word = 0; word < w.cluster.words(n); word++) all.push_back(Piece::whole(n, 0, w.topology.gpus_of(n) ? w.cluster.all(n, word) : 0, uint8_t(word)));
  return w.store.keep(all);
}

/// Maintenance: nobody new; who is there has `notice` to leave (kNever: as long as it likes).
void Simulator::Engine::drain_node(NodeId n, Duration notice) {
  w.cluster.set_cordoned(n, true);
  const Held held = all_of(n);
  if (!observers.empty()) record(What::cordon, kNone, held);
  happened(What::cordon, n, held);
  if (notice == kNever) return;
  for (const JobId j : holders(n, w.topology.first_gpu(n), w.topology.first_gpu(n) + w.topology.gpus_of(n), true)) {
    const Held at = w.live[j].at;
    const std::vector<Piece> was(PieceStore::pieces(at).begin(), PieceStore::pieces(at).end());
    change_outside_a_pass(j, {}, notice);
    if (w.live[j].state == State::queued) happened(What::lost, j, w.store.keep(was));
  }
}

/// Tells of the nodes that will be added in the course of the run.
void Simulator::Engine::absent() {
  std::vector<Piece> pieces;
  for (NodeId n = 0; n < w.topology.nodes(); n++)
    if (w.cluster.removed(n))
      for (unsigned word = 0; word < w.cluster.words(n); word++) pieces.push_back(Piece::whole(n, 0, w.topology.gpus_of(n) ? w.cluster.all(n, word) : 0, uint8_t(word)));
  const Held held = w.store.keep(pieces);
  if (held.count > 1) doomed.push_back(held);
  record(What::capacity, kNone, held).capacity = (w.cluster.installed() - int64_t(w.topology.gpus())) * kMilli;
}

void Simulator::Engine::set_installed(NodeId n, bool on) {
  if (w.cluster.removed(n) == !on) return;
  const GpuId first = w.topology.first_gpu(n), gpus = w.topology.gpus_of(n);
  if (!on) {
    for (const JobId j : holders(n, first, first + gpus, true)) lose(j);
    for (uint32_t d = 0; d < drains.size(); d++) {
      if (!drains[d].open || drains[d].job == kNone) continue;
      bool hit = false;
      for (const Piece& p : PieceStore::pieces(drains[d].held)) hit |= p.node == n;
      if (hit) drained(d);
    }
  }
  w.cluster.set_removed(n, !on);
  const Held held = all_of(n);
  if (!observers.empty()) record(What::capacity, kNone, held).capacity = (on ? 1 : -1) * int64_t(gpus) * kMilli;
  happened(What::capacity, n, held, on ? 1 : -1);
}

}  // namespace muster
