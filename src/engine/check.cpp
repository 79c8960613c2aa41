// Everything that must hold between passes, recomputed from the jobs alone.
#include <stdexcept>

#include "engine/engine.hpp"

namespace muster {

void Simulator::Engine::check() const {
  const Topology& t = w.topology;
  const auto fail = [&](const std::string& what) { throw std::logic_error("invariant broken at " + std::to_string(w.now) + " us: " + what); };
  std::vector<std::vector<uint64_t>> taken(t.nodes()), draining(t.nodes());
  for (NodeId n = 0; n < t.nodes(); n++) taken[n].resize(w.cluster.words(n)), draining[n].resize(w.cluster.words(n));
  std::vector<int64_t> usage(w.usage.size());
  std::vector<Resources> used(t.nodes()), held(t.nodes());  // wanted; held in fact, drains included
  std::vector<int64_t> shares(t.gpus());                     // thousandths held in fact, of whatever kind
  const auto hold = [&](const Shape& s, const Piece& p) {
    if (!s.groups.empty()) held[p.node] += s.groups[p.group].per_task.times(p.tasks);
    if (p.share != Share::whole && !s.groups.empty()) shares[t.first_gpu(p.node) + p.gpu()] += p.milli();
  };
  size_t open = 0, live_busy = 0;
  for (JobId j = 0; j < w.live.size(); j++) {
    const Live& l = w.live[j];
    const Pieces at = PieceStore::pieces(l.at);
    const bool has = l.state == State::claimed || l.state == State::starting || l.state == State::running;
    open += !ended(l.state);
    live_busy += l.state == State::running || l.state == State::starting || l.state == State::draining;
    if (has != !at.empty() || has != w.placed.contains(j)) fail("placed set, job " + w.name(j));
    if ((l.state == State::queued) != w.queue.contains(j)) fail("queue set, job " + w.name(j));
    if ((l.state == State::draining) > (w.drains(j) > 0)) fail("draining without a drain, job " + w.name(j));
    if ((l.state == State::running || l.state == State::starting) && !w.has_minimum(j)) fail("runs below its minimum, job " + w.name(j));
    usage[w.job(j).tenant] += l.at.milli;
    for (const Piece& p : at) {
      used[p.node] += w.shape(j).groups[p.group].per_task.times(p.tasks);
      if (l.counted) hold(w.shape(j), p);
      if (l.counted && p.share == Share::whole && (w.cluster.draining(p.node, p.word) & p.what)) fail("runs on a draining device, job " + w.name(j));
      if (p.share != Share::whole) {
        taken[p.node][p.word] |= p.mask();
        continue;
      }
      if (!p.what) continue;
      if (taken[p.node][p.word] & p.what) fail("device twice, job " + w.name(j));
      taken[p.node][p.word] |= p.what;
      if (w.cluster.bad(p.node, p.word) & p.what) fail("on a bad device, job " + w.name(j));
    }
    if (l.state == State::future) continue;
    const TimeParts parts = this->parts(j);
    Duration risk = 0;
    if (l.rare != kNone) risk = w.rare[l.rare].risk_run + w.rare[l.rare].risk_write;
    if (parts.total() + risk != l.since - w.job(j).submit) fail("T = T_queue + T_run + T_restart, job " + w.name(j));
    if (l.left < 0) fail("work below 0, job " + w.name(j));
  }
  if (open != left) fail("jobs that are still to end");
  if (live_busy != busy) fail("count of busy jobs");
  if (usage != w.usage) fail("usage of tenants");
  for (const Drain& d : drains)
    if (d.open)
      for (const Piece& p : PieceStore::pieces(d.held)) {
        draining[p.node][p.word] |= p.mask();
        if (d.job != kNone) hold(w.shape(d.job), p);
      }
  int64_t free = 0, free_now = 0;
  const NodeIndex& index = w.cluster.index();
  for (NodeId n = 0; n < t.nodes(); n++) {
    unsigned now = 0;
    for (unsigned word = 0; word < w.cluster.words(n); word++) {
      for (unsigned g = 64 * word; g < t.gpus_of(n) && g < 64 * (word + 1); g++)
        if (const SharedGpu* s = w.cluster.shared(t.first_gpu(n) + g); s && s->geometry) taken[n][word] |= uint64_t{1} << (g & 63);
      const uint64_t want = w.cluster.usable(n) && t.gpus_of(n) ? w.cluster.all(n, word) & ~(taken[n][word] | w.cluster.bad(n, word)) : 0;
      if (w.cluster.free(n, word) != want) fail("free GPUs of node " + t.node_name(n));
      if (w.cluster.draining(n, word) != draining[n][word]) fail("draining GPUs of node " + t.node_name(n));
      free += std::popcount(want), now += unsigned(std::popcount(want & ~draining[n][word]));
    }
    free_now += now;
    if (w.cluster.usable(n) && !index.with(now).contains(n)) fail("index, node " + t.node_name(n));
    for (size_t k = 1; k < kMaxKinds; k++) {
      const NodeKind& kind = t.kind(n);
      if ((k == kCpu && !kind.limits_cpu) || (k == kMem && !kind.limits_mem) || k >= t.resource_names().size()) continue;
      if (used[n][k] > kind.capacity[k] || held[n][k] > kind.capacity[k]) fail(t.resource_names()[k] + " of node " + t.node_name(n) + " over capacity");
    }
  }
  for (GpuId g = 0; g < t.gpus(); g++)
    if (shares[g] > 1000) fail("shares of " + t.gpu_name(g) + " over capacity");
  if (free != w.cluster.free_gpus() || free_now != w.cluster.free_now_gpus()) fail("count of free GPUs");
}

std::string Simulator::Engine::state_text() const {
  std::string out = "t=" + std::to_string(w.now) + "\n";
  for (JobId j = 0; j < w.live.size(); j++) {
    const Live& l = w.live[j];
    if (l.state == State::future) continue;
    out += w.name(j) + " " + std::string(to_text(l.state)) + " " + to_text(w.topology, PieceStore::pieces(l.at)) + " left=" + std::to_string(l.left) +
           " reason=" + std::string(to_text(l.reason)) + (w.queue.contains(j) ? " queued" : "") + (w.placed.contains(j) ? " placed" : "") +
           " drains=" + std::to_string(w.drains(j)) + "\n";
  }
  for (NodeId n = 0; n < w.topology.nodes(); n++)
    for (unsigned word = 0; word < w.cluster.words(n); word++)
      out += w.topology.node_name(n) + " free=" + std::to_string(w.cluster.free(n, word)) + " draining=" + std::to_string(w.cluster.draining(n, word)) + "\n";
  for (const int64_t u : w.usage) out += "usage=" + std::to_string(u) + "\n";
  for (GpuId g = 0; g < w.topology.gpus(); g++)
    if (const SharedGpu* s = w.cluster.shared(g); s && (s->used || s->clients || s->geometry))
      out += w.topology.gpu_name(g) + " slices=" + std::to_string(s->used) + " size=" + std::to_string(s->size) + " clients=" + std::to_string(s->clients) +
             " geometry=" + std::to_string(s->geometry) + "\n";
  return out + "wake=" + std::to_string(w.wake) + " free=" + std::to_string(w.cluster.free_gpus()) + "\n";
}

}  // namespace muster
