#include "muster/fits.hpp"

#include <algorithm>
#include <numeric>

namespace muster {
namespace {

bool type_fits(const TaskGroup& g, const NodeKind& k) {
  if (g.gpus == 0) return true;
  return (g.gpu_type.empty() || g.gpu_type == k.gpu_type) && (g.gpu_mem_mib == 0 || k.gpu_mem_mib == 0 || g.gpu_mem_mib <= k.gpu_mem_mib);
}

bool limited(const NodeKind& k, size_t kind) { return kind == kCpu ? k.limits_cpu : kind == kMem ? k.limits_mem : true; }

/// How many tasks of `g` an empty node has room for, whatever GPUs it wants.
int64_t room(const TaskGroup& g, const NodeKind& k, const Resources& capacity, int64_t most) {
  for (size_t kind = 0; kind < kMaxKinds; kind++)
    if (g.per_task[kind] > 0 && limited(k, kind)) most = std::min(most, capacity[kind] / g.per_task[kind]);
  return most;
}

/// Nodes of each kind.
std::vector<int64_t> census(const Topology& t, NodeId begin, NodeId end) {
  std::vector<int64_t> n(t.kinds().size());
  for (NodeId i = begin; i < end; i++) n[t.kind_id(i)]++;
  return n;
}

/// Whether the least tasks of one group fit, with or without regard to type.
bool group_fits(const TaskGroup& g, Nodes nodes, const Topology& t, const std::vector<int64_t>& count, bool typed) {
  Int128 have = 0;
  for (size_t i = 0; i < count.size(); i++) {
    const NodeKind& k = t.kinds()[i];
    if (count[i] == 0 || (typed && !type_fits(g, k))) continue;
    const int64_t here = room(g, k, k.capacity, g.min_tasks);
    if (nodes == Nodes::one && here >= int64_t{g.min_tasks}) return true;
    have += Int128{count[i]} * (nodes == Nodes::each ? std::min<int64_t>(here, 1) : here);
  }
  return nodes != Nodes::one && have >= int64_t{g.min_tasks};
}

/// Whether one task of the group fits some node.
bool task_fits(const TaskGroup& g, const Topology& t, const std::vector<int64_t>& count, bool typed) {
  for (size_t i = 0; i < count.size(); i++)
    if (count[i] && (!typed || type_fits(g, t.kinds()[i])) && room(g, t.kinds()[i], t.kinds()[i].capacity, 1) == 1) return true;
  return false;
}

/// All groups together on one node of some kind.
bool one_node_fits(const Shape& s, const Topology& t, const std::vector<int64_t>& count, bool typed) {
  for (size_t i = 0; i < count.size(); i++) {
    const NodeKind& k = t.kinds()[i];
    if (count[i] == 0) continue;
    Resources left = k.capacity;
    bool good = true;
    for (const auto& g : s.groups) {
      good = good && (!typed || type_fits(g, k)) && room(g, k, left, g.min_tasks) >= int64_t{g.min_tasks};
      if (!good) break;
      for (size_t kind = 0; kind < kMaxKinds; kind++)
        if (limited(k, kind)) left[kind] -= g.per_task[kind] * int64_t{g.min_tasks};
    }
    if (good) return true;
  }
  return false;
}

/// A row of GPUs on wholly free nodes: it needs as many GPUs as it states, on nodes that also have the rest of the request.
bool whole_fits(const Shape& s, const Topology& t, const std::vector<int64_t>& count, bool typed) {
  const TaskGroup& g = s.groups[0];
  Resources have;
  for (size_t i = 0; i < count.size(); i++) {
    const NodeKind& k = t.kinds()[i];
    if (typed && !type_fits(g, k)) continue;
    for (size_t kind = 0; kind < kMaxKinds; kind++) have[kind] += limited(k, kind) ? k.capacity[kind] * count[i] : g.per_task[kind];
  }
  if (have[kGpu] < int64_t{s.total_gpus} * kMilli) return false;
  for (size_t kind = 1; kind < kMaxKinds; kind++)
    if (have[kind] < g.per_task[kind]) return false;
  return true;
}

Reason lacks_node(const Shape& s, const Topology& t, const std::vector<int64_t>& count) {
  bool untyped = true, typed = true;
  if (s.nodes == Nodes::whole) {
    untyped = whole_fits(s, t, count, false), typed = whole_fits(s, t, count, true);
  } else if (s.nodes == Nodes::one) {
    untyped = one_node_fits(s, t, count, false), typed = one_node_fits(s, t, count, true);
  } else {
    for (const auto& g : s.groups) untyped = untyped && task_fits(g, t, count, false), typed = typed && task_fits(g, t, count, true);
  }
  return !untyped ? Reason::node_size : !typed ? Reason::type : Reason::none;
}

}  // namespace

Reason never_fits(const Shape& s, const Topology& t) { return never_fits(s, t, 0, t.nodes()); }

Reason never_fits(const Shape& s, const Topology& t, NodeId begin, NodeId end) {
  const auto count = census(t, begin, end);
  int64_t gpus = 0;
  for (size_t i = 0; i < count.size(); i++) gpus += count[i] * t.kinds()[i].gpus;
  int64_t least = 0;  // GPUs; 2^5 groups of less than 2^32 tasks times GPUs
  for (const auto& g : s.groups) least += int64_t{g.gpus} * g.min_tasks;
  if (s.nodes == Nodes::whole) least = s.total_gpus;
  if (least > gpus) return Reason::cluster_size;
  if (const Reason r = lacks_node(s, t, count); r != Reason::none || s.nodes == Nodes::one || s.nodes == Nodes::whole) return r;
  bool untyped = true, typed = true;
  for (const auto& g : s.groups) {
    untyped = untyped && group_fits(g, s.nodes, t, count, false);
    typed = typed && group_fits(g, s.nodes, t, count, true);
  }
  if (s.nodes == Nodes::each) {
    const int64_t tasks = std::accumulate(s.groups.begin(), s.groups.end(), int64_t{0}, [](int64_t n, const TaskGroup& g) { return n + g.min_tasks; });
    if (tasks > int64_t{end - begin}) return Reason::cluster_size;
  }
  // A task fits a node, but there are too few such nodes.
  return !untyped ? Reason::cluster_size : !typed ? Reason::type : Reason::none;
}

}  // namespace muster
