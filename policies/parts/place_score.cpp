#include "parts/place_score.hpp"

#include <algorithm>
#include <numeric>

namespace muster {

namespace {
constexpr uint32_t kAllGroups = kMaxGroups;
constexpr std::string_view kTies[] = {"index", "permutation"};
}  // namespace

ScoringPlacer::ScoringPlacer(const PolicyInput& in)
    : Placer(in.topology),
      in_topology_(in.topology),
      place_(in.topology.nodes()),
      node_at_(in.topology.nodes()),
      seen_(in.topology.nodes()) {
  std::iota(node_at_.begin(), node_at_.end(), 0u);
  if (const Config* tie = in.parameters.find("tie")) {
    const std::string name(tie->as_text());
    if (std::find(std::begin(kTies), std::end(kTies), name) == std::end(kTies)) {
      const std::string near = nearest_name(name, kTies);
      throw InputError((tie->where.empty() ? "tie" : tie->where) + ": want index or permutation, found \"" + name + "\"" +
                       (near.empty() ? "" : "; did you mean " + near + "?"));
    }
    Random random(in.seed, "place-tie");
    if (name == "permutation")
      for (size_t i = node_at_.size(); i > 1; i--) std::swap(node_at_[i - 1], node_at_[random.below(i)]);
  }
  for (uint32_t i = 0; i < node_at_.size(); i++) place_[node_at_[i]] = i;
}

Int128 ScoringPlacer::most_cpus() const {
  int64_t most = 1;
  for (const NodeKind& k : in_topology_.kinds())
    if (k.limits_cpu) most = std::max(most, k.capacity[kCpu]);
  return most;
}

uint32_t ScoringPlacer::card(const State& s, const Task& t) {
  size_t best = s.parts.size();
  for (size_t i = 0; i < s.parts.size(); i++)
    if (s.parts[i] >= t.milli && (best == s.parts.size() || s.parts[i] < s.parts[best])) best = i;
  return best < s.parts.size() ? s.gpus[best] : s.lowest;
}

const ScoringPlacer::State& ScoringPlacer::state(NodeId n) {
  State& s = state_;
  const Cluster& c = cluster();
  s.node = n, s.installed = in_topology_.gpus_of(n), s.whole = 0, s.lowest = kNone;
  for (size_t k = 1; k < kMaxKinds; k++) s.left[k] = c.free_amount(n, k);
  s.cpu = s.left[kCpu];
  s.parts.clear(), s.gpus.clear();
  s.milli = 0;
  for (unsigned w = 0; w < c.words(n); w++) {
    const uint64_t free = c.free_now(n, w);
    if (free && s.lowest == kNone) s.lowest = w * 64 + unsigned(std::countr_zero(free));
    s.whole += unsigned(std::popcount(free));
    for (uint64_t m = c.sliced(n, w); m; m &= m - 1) {
      const unsigned gpu = w * 64 + unsigned(std::countr_zero(m));
      const int32_t left = c.slice_left(n, gpu);
      if (left == 0) continue;
      s.parts.push_back(left), s.gpus.push_back(gpu);
      s.milli += left;
    }
  }
  s.milli += int64_t{s.whole} * kMilli;
  return s;
}

const ScoringPlacer::State& ScoringPlacer::state(const Used& u) {
  State& s = state_;
  s.node = u.node, s.installed = in_topology_.gpus_of(u.node), s.whole = u.gpus;
  s.left = u.left;
  s.cpu = u.left[kCpu];
  s.lowest = u.gpus ? free_gpu(u) : kNone;
  s.parts.clear(), s.gpus.clear();
  for (uint32_t i = u.slices; i != kNone; i = slice(i).next)
    if (slice(i).left) s.gpus.push_back(i);
  std::sort(s.gpus.begin(), s.gpus.end(), [&](uint32_t a, uint32_t b) { return slice(a).gpu < slice(b).gpu; });
  s.milli = int64_t{s.whole} * kMilli;
  for (uint32_t& g : s.gpus) {
    s.parts.push_back(slice(g).left);
    s.milli += slice(g).left;
    g = slice(g).gpu;
  }
  return s;
}

uint32_t ScoringPlacer::slice_for(const Used& u, uint32_t milli) {
  Task t = task_;
  t.gpus = 0, t.milli = int32_t(milli);
  const uint32_t gpu = card(state(u), t);
  for (uint32_t i = u.slices; i != kNone; i = slice(i).next)
    if (slice(i).gpu == gpu) return i;
  return kNone;
}

void ScoringPlacer::look(Line& l, const Want& w, NodeId n) {
  l.keys.set(place_[n], holds(n, w) ? -score(state(n), l.task) : WinnerTree::kOut);
}

/// The scores for a kind of request as things are now.
ScoringPlacer::Line& ScoringPlacer::line(ShapeId id, uint32_t group, bool most, const Task& t, const Want& w) {
  auto side = std::find_if(sides_.begin(), sides_.end(), [&](const Side& x) { return x.cluster == &cluster() && x.index == &index(); });
  if (side == sides_.end()) side = sides_.insert(sides_.end(), Side{&cluster(), &index(), {}});
  if (id >= side->lines.size()) side->lines.resize(id + 1);
  const uint32_t key = group * 2 + most;
  auto& of = side->lines[id];
  auto at = std::find_if(of.begin(), of.end(), [&](const auto& x) { return x.first == key; });
  if (at == of.end()) {
    of.emplace_back(key, std::make_unique<Line>());
    at = of.end() - 1;
    at->second->keys = WinnerTree(nodes());
  }
  Line& l = *at->second;
  l.task = t;
  const bool known = cluster().changed_since(l.from, changed_);
  if (!known || !l.built) {
    for (NodeId n = index().begin(); n < index().end(); n++) look(l, w, n);
    l.built = true;
  } else {
    round_++;
    for (std::vector<NodeId>* nodes : {&changed_, &l.touched})
      for (const NodeId n : *nodes) {
        if (seen_[n] == round_ || n < index().begin() || n >= index().end()) continue;
        seen_[n] = round_;
        look(l, w, n);
      }
  }
  l.touched.clear();
  return l;
}

NodeId ScoringPlacer::first(Line& l) {
  if (!restricted()) return l.keys.empty() ? kNone : node_at_[pick(l.keys, nodes())];
  inner_.clear();
  for (NodeId n = lo(); n < hi(); n++)
    if (l.keys.key(place_[n]) != WinnerTree::kOut) inner_.push_back(place_[n]);
  if (inner_.empty()) return kNone;
  std::sort(inner_.begin(), inner_.end());
  WinnerTree keys(inner_.size());
  for (uint32_t i = 0; i < inner_.size(); i++) keys.set(i, l.keys.key(inner_[i]));
  return node_at_[inner_[pick(keys, uint32_t(inner_.size()))]];
}

bool ScoringPlacer::choose(const View& now, JobId j, ShapeId id, const Shape& s, const Ask& a, bool most, bool one_node) {
  now_ = &now;
  draw(now, j, 0);
  if (s.nodes == Nodes::one || a.simple || one_node) {
    const Want& w = most ? a.all : a.least;
    Task t;
    const TaskGroup& g = s.groups[0];
    t = {g.per_task[kCpu], g.gpus, int32_t(g.gpu_milli()), a.groups[0].need};
    if (w.need[kGpu] == 0) t = {w.need[kCpu], w.gpus, 0, w.need};
    task_ = t;
    NodeId n;
    if (w.nothing) {
      n = lowest(w, 0).node;
    } else {
      n = first(line(id, kAllGroups, most, t, w));
    }
    return n != kNone && put_all(n, s, most, w.need[kGpu] != 0);
  }
  for (uint32_t i = 0; i < s.groups.size(); i++) {
    const TaskGroup& g = s.groups[i];
    const uint32_t tasks = most ? g.max_tasks : g.min_tasks;
    const Want& w = a.groups[i];
    if (tasks == 0) continue;
    if (w.nothing) {
      if (!place_group(now, j, g, i, w, tasks, s.nodes == Nodes::each)) return false;
      continue;
    }
    task_ = {w.need[kCpu], g.gpus, int32_t(g.gpu_milli()), w.need};
    Line& l = line(id, i, true, task_, w);
    if (!choose_group(l, w, g, i, tasks, s.nodes == Nodes::each)) return false;
  }
  return true;
}

/// Task by task, each on the node that is first as those before it have left the nodes.
bool ScoringPlacer::choose_group(Line& l, const Want& w, const TaskGroup& g, uint32_t group, uint32_t tasks, bool each) {
  const auto again = [&](uint32_t u) {
    const NodeId n = used(u).node;
    const bool room = !each && suits(n, w) && fits(used(u), w) > 0;
    l.keys.set(place_[n], room ? -score(state(used(u)), l.task) : WinnerTree::kOut);
    l.touched.push_back(n);
  };
  for (uint32_t u = 0; u < used_count(); u++) used(u).slots = kTasksOfPiece, again(u);
  for (; tasks; tasks--) {
    const NodeId n = first(l);
    if (n == kNone) return false;
    const uint32_t u = use_once(n);
    take(u, group, g, w, 1);
    again(u);
  }
  return true;
}

}  // namespace muster
