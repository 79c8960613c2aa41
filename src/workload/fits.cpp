#include "muster/fits.hpp"

#include <algorithm>
#include <limits>

#include "muster/packing.hpp"

namespace muster {

int compare_versions(std::string_view a, std::string_view b) {
  const auto number = [](std::string_view& s) {
    int64_t n = 0;
    size_t i = 0;
    for (; i < s.size() && s[i] >= '0' && s[i] <= '9'; i++) n = std::min<int64_t>(n * 10 + (s[i] - '0'), 1'000'000'000);
    s.remove_prefix(i < s.size() ? i + 1 : i);
    return n;
  };
  while (!a.empty() || !b.empty()) {
    const int64_t x = number(a), y = number(b);
    if (x != y) return x < y ? -1 : 1;
  }
  return 0;
}

bool suits(const NodeKind& kind, const TaskGroup& g, uint8_t wishes) {
  if (g.gpus > kind.gpus || (g.gpu_milli() && !kind.gpus)) return false;
  if (wishes & kWishLabel)
    for (const LabelWish& wish : g.labels) {
      const auto at = std::find_if(kind.labels.begin(), kind.labels.end(), [&](const auto& l) { return l.first == wish.key; });
      const bool there = at != kind.labels.end(), same = there && at->second == wish.value;
      if (wish.rule == LabelWish::Rule::is ? !same : wish.rule == LabelWish::Rule::is_not ? same : !there) return false;
    }
  if (g.gpus == 0 && g.per_task[kGpu] == 0) return true;
  if (wishes & kWishType) {
    if (!g.gpu_types.empty() && std::find(g.gpu_types.begin(), g.gpu_types.end(), kind.gpu_type) == g.gpu_types.end()) return false;
    if (g.gpu_mem_mib && kind.gpu_mem_mib && g.gpu_mem_mib > kind.gpu_mem_mib) return false;
  }
  if (wishes & kWishDriver) {
    if (!g.driver.empty() && !kind.driver.empty() && compare_versions(kind.driver, g.driver) < 0) return false;
    if (!g.cuda.empty() && !kind.cuda.empty() && compare_versions(kind.cuda, g.cuda) < 0) return false;
  }
  return true;
}

namespace {

bool limited(const NodeKind& k, size_t kind) { return kind == kCpu ? k.limits_cpu : kind == kMem ? k.limits_mem : true; }

/// How many tasks of `g` an empty node has room for, whatever GPUs it wants.
int64_t room(const TaskGroup& g, const NodeKind& k, const Resources& capacity, int64_t most) {
  for (size_t kind = 0; kind < kMaxKinds; kind++)
    if (g.per_task[kind] > 0 && limited(k, kind)) most = std::min(most, capacity[kind] / g.per_task[kind]);
  // A share is of one GPU: what two of them have left does not hold it. Where other shares lie before is not looked at.
  if (const int64_t milli = g.gpu_milli(); milli && capacity[kGpu] % kMilli == 0) most = std::min(most, capacity[kGpu] / kMilli * (kMilli / milli));
  return most;
}

/// Milli-GPUs that its least tasks want: 2^5 groups of less than 2^32 tasks times GPUs.
Int128 least_milli(const Shape& s) {
  if (s.nodes == Nodes::whole) return Int128{s.total_gpus} * kMilli;
  Int128 least = 0;
  for (const auto& g : s.groups) least += Int128{g.per_task[kGpu]} * g.min_tasks;
  return least;
}

/// Nodes of each kind.
std::vector<int64_t> census(const Topology& t, NodeId begin, NodeId end) {
  std::vector<int64_t> n(t.kinds().size());
  for (NodeId i = begin; i < end; i++) n[t.kind_id(i)]++;
  return n;
}

/// Whether an empty node of the kind holds a task of `g`.
bool holds(const TaskGroup& g, const NodeKind& k, uint8_t wishes) { return suits(k, g, wishes) && room(g, k, k.capacity, 1) == 1; }

/// Whether the least tasks of one group fit, with or without regard to type.
bool group_fits(const TaskGroup& g, const Topology& t, const std::vector<int64_t>& count, uint8_t wishes) {
  Int128 have = 0;
  for (size_t i = 0; i < count.size(); i++)
    if (const NodeKind& k = t.kinds()[i]; suits(k, g, wishes)) have += Int128{count[i]} * room(g, k, k.capacity, g.min_tasks);
  return have >= int64_t{g.min_tasks};
}

/// One task a node. Groups compete: for each, its nodes have to suffice for all groups that no other nodes hold. That is all there is to it
/// while one group's nodes are among the other's, as they are for rows of a trace.
bool each_fits(const Shape& s, const Topology& t, const std::vector<int64_t>& count, uint8_t wishes) {
  const auto& kinds = t.kinds();
  for (const auto& g : s.groups) {
    int64_t have = 0, want = 0;
    for (size_t i = 0; i < count.size(); i++) have += holds(g, kinds[i], wishes) ? count[i] : 0;
    for (const auto& other : s.groups) {
      bool inside = true;
      for (size_t i = 0; i < count.size(); i++) inside &= !count[i] || !holds(other, kinds[i], wishes) || holds(g, kinds[i], wishes);
      want += inside ? int64_t{other.min_tasks} : 0;
    }
    if (have < want) return false;
  }
  return true;
}

/// Whether one task of the group fits some node.
bool task_fits(const TaskGroup& g, const Topology& t, const std::vector<int64_t>& count, uint8_t wishes) {
  for (size_t i = 0; i < count.size(); i++)
    if (count[i] && holds(g, t.kinds()[i], wishes)) return true;
  return false;
}

/// All groups together on one node of some kind.
bool one_node_fits(const Shape& s, const Topology& t, const std::vector<int64_t>& count, uint8_t wishes) {
  for (size_t i = 0; i < count.size(); i++) {
    const NodeKind& k = t.kinds()[i];
    if (count[i] == 0) continue;
    Resources left = k.capacity;
    bool good = true;
    for (const auto& g : s.groups) {
      good = good && suits(k, g, wishes) && room(g, k, left, g.min_tasks) >= int64_t{g.min_tasks};
      if (!good) break;
      for (size_t kind = 0; kind < kMaxKinds; kind++)
        if (limited(k, kind)) left[kind] -= g.per_task[kind] * int64_t{g.min_tasks};
    }
    if (good) return true;
  }
  return false;
}

/// A row of GPUs on wholly free nodes: each of them has to hold the rest of the request, and together they have the GPUs.
bool whole_fits(const Shape& s, const Topology& t, const std::vector<int64_t>& count, uint8_t wishes) {
  TaskGroup rest = s.groups[0];
  rest.per_task[kGpu] = 0, rest.gpus = std::min(rest.gpus, 1u);
  Int128 gpus = 0;
  for (size_t i = 0; i < count.size(); i++) {
    const NodeKind& k = t.kinds()[i];
    if (holds(rest, k, wishes)) gpus += Int128{count[i]} * k.capacity[kGpu];
  }
  return gpus >= Int128{s.total_gpus} * kMilli;
}

/// Every task by itself finds a node (or all of them one, or wholly free ones).
bool finds_nodes(const Shape& s, const Topology& t, const std::vector<int64_t>& count, uint8_t wishes) {
  if (s.nodes == Nodes::whole) return whole_fits(s, t, count, wishes);
  if (s.nodes == Nodes::one) return one_node_fits(s, t, count, wishes);
  return std::all_of(s.groups.begin(), s.groups.end(), [&](const TaskGroup& g) { return task_fits(g, t, count, wishes); });
}

/// Unequal groups side by side. What a search does not decide is held to fit.
bool groups_fit(const Shape& s, const Topology& t, const std::vector<int64_t>& count, uint8_t wishes) {
  std::vector<PackingItems> items;
  int64_t tasks = 0;
  for (const TaskGroup& g : s.groups) items.push_back({g.min_tasks, g.per_task}), tasks += g.min_tasks;
  std::vector<PackingBins> bins;
  for (size_t i = 0; i < count.size(); i++) {
    const NodeKind& k = t.kinds()[i];
    if (count[i] == 0) continue;
    PackingBins& b = bins.emplace_back();
    b.count = uint32_t(std::min(count[i], tasks)), b.room = k.capacity, b.suits = 0;
    for (size_t kind = 0; kind < kMaxKinds; kind++)
      if (!limited(k, kind)) b.room[kind] = std::numeric_limits<int64_t>::max() / 4;
    for (size_t g = 0; g < s.groups.size(); g++) b.suits |= uint32_t(suits(k, s.groups[g], wishes)) << g;
  }
  std::vector<PackingFill> fills;
  return pack_items(items, bins, false, fills) != Packing::no;
}

/// There are enough of such nodes.
bool enough_nodes(const Shape& s, const Topology& t, const std::vector<int64_t>& count, uint8_t wishes) {
  if (s.nodes == Nodes::whole || s.nodes == Nodes::one) return true;
  if (s.nodes == Nodes::each) return each_fits(s, t, count, wishes);
  return std::all_of(s.groups.begin(), s.groups.end(), [&](const TaskGroup& g) { return group_fits(g, t, count, wishes); }) &&
         (s.groups.size() == 1 || groups_fit(s, t, count, wishes));
}

/// Whatever the level.
Reason misfit(const Shape& s, const Topology& t, NodeId begin, NodeId end) {
  const auto count = census(t, begin, end);
  int64_t gpus = 0;
  for (size_t i = 0; i < count.size(); i++) gpus += count[i] * t.kinds()[i].gpus;
  if (least_milli(s) > Int128{gpus} * kMilli) return Reason::cluster_size;
  if (!finds_nodes(s, t, count, 0)) return Reason::node_size;
  if (!enough_nodes(s, t, count, 0)) return Reason::cluster_size;
  constexpr std::pair<uint8_t, Reason> kSteps[] = {
      {kWishType, Reason::type}, {kWishType | kWishDriver, Reason::driver}, {kAllWishes, Reason::label}};
  for (const auto& [wishes, reason] : kSteps)
    if (!finds_nodes(s, t, count, wishes) || !enough_nodes(s, t, count, wishes)) return reason;
  return Reason::none;
}

/// Whether one domain of the level holds it. Below the node that is one node's part with all its GPUs; CPUs and memory are the node's.
bool level_fits(const Shape& s, const Topology& t, size_t level, NodeId begin, NodeId end) {
  const bool below = level > t.node_level();
  uint64_t tasks = 0;
  for (const auto& g : s.groups) tasks += g.min_tasks;
  if (below && s.nodes == Nodes::each && tasks > 1) return false;
  std::vector<int8_t> good(t.kinds().size(), -1);
  for (const Domain& d : t.domains(level)) {
    const NodeId from = std::max(begin, d.node_begin), to = std::min(end, d.node_end);
    if (from >= to) continue;
    if (!below) {
      if (misfit(s, t, from, to) == Reason::none) return true;
      continue;
    }
    if (least_milli(s) > Int128{d.gpu_end - d.gpu_begin} * kMilli) continue;
    int8_t& known = good[t.kind_id(from)];
    if (known < 0) known = s.nodes != Nodes::whole && one_node_fits(s, t, census(t, from, to), kAllWishes);
    if (known) return true;
  }
  return false;
}

/// Least tasks of the groups [from, to) that an empty node holds with their GPUs aligned, placed one by one as the placers do: each in the
/// smallest rest of a NUMA domain that holds it. A task larger than every domain takes as many as it needs, which `single` forbids.
bool numa_holds(const Shape& s, std::vector<uint32_t> domains, const TaskGroup& g, uint32_t tasks, std::vector<uint32_t>* rest) {
  const uint32_t largest = domains.empty() ? 0 : *std::max_element(domains.begin(), domains.end());
  if (g.gpus > largest && s.numa == Numa::single) return false;
  for (uint32_t i = 0; i < tasks && g.gpus > 1 && g.gpus <= largest; i++) {
    auto best = domains.end();
    for (auto d = domains.begin(); d != domains.end(); ++d)
      if (*d >= g.gpus && (best == domains.end() || *d < *best)) best = d;
    if (best == domains.end()) return false;
    *best -= g.gpus;
  }
  if (rest) *rest = std::move(domains);
  return true;
}

/// Whether the least tasks find NUMA domains as they wish. Each group is looked at by itself, but those that want one node together.
bool numa_fits(const Shape& s, const Topology& t, NodeId begin, NodeId end) {
  const size_t level = t.numa_level();
  if (s.numa == Numa::none || s.numa == Numa::best_effort || level == t.node_level()) return true;
  std::vector<Int128> have(s.groups.size());
  Int128 whole = 0;
  for (NodeId n = begin; n < end; n++) {
    std::vector<uint32_t> domains;
    for (GpuId g = t.first_gpu(n), last = g + t.gpus_of(n); g < last;) {
      const Domain& d = t.domains(level)[t.domain_of_gpu(level, g)];
      domains.push_back(d.gpu_end - d.gpu_begin), g = d.gpu_end;
    }
    const NodeKind& k = t.kind(n);
    if (domains.size() <= 1 || s.numa == Numa::restricted) whole += t.gpus_of(n);
    bool all = true;
    std::vector<uint32_t> left = domains;
    for (size_t i = 0; i < s.groups.size(); i++) {
      const TaskGroup& g = s.groups[i];
      uint32_t tasks = suits(k, g) ? uint32_t(room(g, k, k.capacity, g.min_tasks)) : 0;
      while (tasks && !numa_holds(s, domains, g, tasks, nullptr)) tasks--;
      have[i] += s.nodes == Nodes::each ? std::min(tasks, 1u) : tasks;
      all = all && suits(k, g) && room(g, k, k.capacity, g.min_tasks) >= int64_t{g.min_tasks} && numa_holds(s, left, g, g.min_tasks, &left);
    }
    if (s.nodes == Nodes::one && all) return true;
  }
  if (s.nodes == Nodes::one) return false;
  if (s.nodes == Nodes::whole) return whole >= Int128{s.total_gpus};
  for (size_t i = 0; i < s.groups.size(); i++)
    if (have[i] < Int128{s.groups[i].min_tasks}) return false;
  return true;
}

}  // namespace

Reason never_fits(const Shape& s, const Topology& t) { return never_fits(s, t, 0, t.nodes()); }

Reason never_fits(const Shape& s, const Topology& t, NodeId begin, NodeId end) {
  if (const Reason r = misfit(s, t, begin, end); r != Reason::none) return r;
  if (!s.required_level.empty()) {
    const size_t level = t.find_level(s.required_level);
    if (level == t.levels().size() || !level_fits(s, t, level, begin, end)) return Reason::level;
  }
  return numa_fits(s, t, begin, end) ? Reason::none : Reason::numa;
}

}  // namespace muster
