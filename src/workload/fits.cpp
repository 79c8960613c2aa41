#include "muster/fits.hpp"

#include <algorithm>

namespace muster {
namespace {

bool type_fits(const TaskGroup& g, const NodeKind& k) {
  if (g.gpus == 0 && g.gpu_milli() == 0) return true;
  return (g.gpu_type.empty() || g.gpu_type == k.gpu_type) && (g.gpu_mem_mib == 0 || k.gpu_mem_mib == 0 || g.gpu_mem_mib <= k.gpu_mem_mib);
}

bool limited(const NodeKind& k, size_t kind) { return kind == kCpu ? k.limits_cpu : kind == kMem ? k.limits_mem : true; }

/// How many tasks of `g` an empty node has room for, whatever GPUs it wants.
int64_t room(const TaskGroup& g, const NodeKind& k, const Resources& capacity, int64_t most) {
  for (size_t kind = 0; kind < kMaxKinds; kind++)
    if (g.per_task[kind] > 0 && limited(k, kind)) most = std::min(most, capacity[kind] / g.per_task[kind]);
  // A share is of one GPU: what two of them have left does not hold it. Where other shares lie before is not looked at.
  if (const int64_t milli = g.gpu_milli(); milli && capacity[kGpu] % kMilli == 0) most = std::min(most, capacity[kGpu] / kMilli * (kMilli / milli));
  return most;
}

/// Nodes of each kind.
std::vector<int64_t> census(const Topology& t, NodeId begin, NodeId end) {
  std::vector<int64_t> n(t.kinds().size());
  for (NodeId i = begin; i < end; i++) n[t.kind_id(i)]++;
  return n;
}

/// Whether an empty node of the kind holds a task of `g`.
bool holds(const TaskGroup& g, const NodeKind& k, bool typed) { return (!typed || type_fits(g, k)) && room(g, k, k.capacity, 1) == 1; }

/// Whether the least tasks of one group fit, with or without regard to type.
bool group_fits(const TaskGroup& g, const Topology& t, const std::vector<int64_t>& count, bool typed) {
  Int128 have = 0;
  for (size_t i = 0; i < count.size(); i++)
    if (const NodeKind& k = t.kinds()[i]; !typed || type_fits(g, k)) have += Int128{count[i]} * room(g, k, k.capacity, g.min_tasks);
  return have >= int64_t{g.min_tasks};
}

/// One task a node. Groups compete: for each, its nodes have to suffice for all groups that no other nodes hold. That is all there is to it
/// while one group's nodes are among the other's, as they are for rows of a trace.
bool each_fits(const Shape& s, const Topology& t, const std::vector<int64_t>& count, bool typed) {
  const auto& kinds = t.kinds();
  for (const auto& g : s.groups) {
    int64_t have = 0, want = 0;
    for (size_t i = 0; i < count.size(); i++) have += holds(g, kinds[i], typed) ? count[i] : 0;
    for (const auto& other : s.groups) {
      bool inside = true;
      for (size_t i = 0; i < count.size(); i++) inside &= !count[i] || !holds(other, kinds[i], typed) || holds(g, kinds[i], typed);
      want += inside ? int64_t{other.min_tasks} : 0;
    }
    if (have < want) return false;
  }
  return true;
}

/// Whether one task of the group fits some node.
bool task_fits(const TaskGroup& g, const Topology& t, const std::vector<int64_t>& count, bool typed) {
  for (size_t i = 0; i < count.size(); i++)
    if (count[i] && holds(g, t.kinds()[i], typed)) return true;
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

/// A row of GPUs on wholly free nodes: each of them has to hold the rest of the request, and together they have the GPUs.
bool whole_fits(const Shape& s, const Topology& t, const std::vector<int64_t>& count, bool typed) {
  TaskGroup rest = s.groups[0];
  rest.per_task[kGpu] = 0;
  Int128 gpus = 0;
  for (size_t i = 0; i < count.size(); i++) {
    const NodeKind& k = t.kinds()[i];
    if (holds(rest, k, typed)) gpus += Int128{count[i]} * k.capacity[kGpu];
  }
  return gpus >= Int128{s.total_gpus} * kMilli;
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
  Int128 gpus = 0, least = 0;  // in thousandths; 2^5 groups of less than 2^32 tasks times GPUs
  for (size_t i = 0; i < count.size(); i++) gpus += Int128{count[i]} * t.kinds()[i].gpus * kMilli;
  for (const auto& g : s.groups) least += Int128{g.per_task[kGpu]} * g.min_tasks;
  if (s.nodes == Nodes::whole) least = Int128{s.total_gpus} * kMilli;
  if (least > gpus) return Reason::cluster_size;
  if (const Reason r = lacks_node(s, t, count); r != Reason::none || s.nodes == Nodes::one || s.nodes == Nodes::whole) return r;
  bool untyped = true, typed = true;
  if (s.nodes == Nodes::each) {
    untyped = each_fits(s, t, count, false), typed = each_fits(s, t, count, true);
  } else {
    for (const auto& g : s.groups) untyped = untyped && group_fits(g, t, count, false), typed = typed && group_fits(g, t, count, true);
  }
  // A task fits a node, but there are too few such nodes.
  return !untyped ? Reason::cluster_size : !typed ? Reason::type : Reason::none;
}

}  // namespace muster
