// Levels, devices and anti-affinity against a brute-force twin that looks at every domain and every GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "parts/placer.hpp"
#include "random_workload.hpp"

namespace muster { namespace {

/// Racks of nodes of sockets of switches; counts differ everywhere.
Topology random_tree(Dice& dice) {
  TopologySpec spec;
  spec.name = "random", spec.levels = {"rack", "node", "socket", "switch"};
  const uint32_t racks = dice.from_to(1, 4);
  for (uint32_t r = 0; r < racks; r++) {
    auto& rack = spec.top.emplace_back();
    for (uint32_t n = dice.from_to(1, 5); n--;) {
      auto& node = rack.children.emplace_back();
      uint32_t gpus = 0;
      for (uint32_t s = dice.from_to(1, 3); s--;) {
        auto& socket = node.children.emplace_back();
        for (uint32_t w = dice.from_to(1, 3); w--;) gpus += socket.children.emplace_back().gpus = dice.one_in(30) ? 70 : dice.from_to(1, 4);
      }
      node.kind = uint32_t(spec.kinds.size());
      NodeKind& kind = spec.kinds.emplace_back();
      kind.name = "k" + std::to_string(node.kind), kind.gpus = gpus;
      if (dice.one_in(4)) kind.gpu_type = "B";
      if (dice.one_in(3)) kind.limits_cpu = true, kind.capacity[kCpu] = dice.from_to(2, 16) * kMilli;
    }
  }
  return Topology::build(std::move(spec));
}

Shape random_wish(Dice& dice) {
  Shape s;
  TaskGroup& g = s.groups.emplace_back();
  s.nodes = dice.one_in(3) ? Nodes::any : dice.one_in(3) ? Nodes::each : Nodes::one;
  g.min_tasks = g.max_tasks = s.nodes == Nodes::one && dice.one_in(2) ? 1 : dice.from_to(1, 4);
  g.gpus = dice.from_to(1, 4), g.per_task[kGpu] = g.gpus * kMilli;
  if (dice.one_in(4)) g.per_task[kCpu] = dice.from_to(1, 4) * kMilli;
  if (dice.one_in(6)) g.gpu_types = {"B"};
  s.total_gpus = g.gpus * g.max_tasks;
  constexpr const char* kLevels[] = {"", "", "rack", "node", "socket", "switch"};
  s.required_level = kLevels[dice.below(6)], s.preferred_level = kLevels[dice.below(6)];
  if (dice.one_in(5)) s.apart = dice.from_to(1, 2);
  return s;
}

/// The rules of docs/placers.md, best fit, by looking at everything.
class Brute {
 public:
  Brute(const View& now, const Plan& plan, const Shape& s) : t_(now.topology()), c_(plan.cluster()), s_(s), g_(s.groups[0]) {}

  /// Nodes and how many tasks each gets; empty: no placement. `domain`: below the node, where the GPUs are taken.
  struct Answer {
    std::vector<std::pair<NodeId, uint32_t>> tasks;
    size_t level = 0;
    uint32_t domain = kNone;
  };
  Answer find(bool consolidate) {
    const size_t none = t_.levels().size();
    const size_t required = s_.required_level.empty() ? none : t_.find_level(s_.required_level);
    size_t preferred = consolidate ? none - 1 : s_.preferred_level.empty() ? none : t_.find_level(s_.preferred_level);
    if (preferred == none || (required != none && preferred < required)) preferred = required;
    for (size_t l = preferred; preferred != none; l--) {
      if (Answer a = at(l); !a.tasks.empty()) return a;
      if (l == required) return {};
      if (l == 0) break;
    }
    return {within(0, t_.nodes(), false), 0, kNone};
  }

 private:
  uint32_t free(GpuId from, GpuId to) const {
    uint32_t n = 0;
    for (GpuId g = from; g < to; g++) {
      const NodeId node = t_.node_of(g);
      const uint32_t i = g - t_.first_gpu(node);
      n += c_.free_now(node, i / 64) >> (i % 64) & 1;
    }
    return n;
  }
  uint32_t free_of(size_t l, uint32_t d) const { return free(t_.domains(l)[d].gpu_begin, t_.domains(l)[d].gpu_end); }
  bool good(NodeId n, uint32_t tasks) const {
    const NodeKind& k = t_.kind(n);
    if (!c_.usable(n) || (!g_.gpu_types.empty() && g_.gpu_types[0] != k.gpu_type)) return false;
    if (s_.apart && c_.tagged(s_.apart, n) != kNone) return false;
    return !g_.per_task[kCpu] || g_.per_task[kCpu] * tasks <= c_.free_amount(n, kCpu);
  }
  Answer at(size_t l) {
    const uint32_t all = s_.total_gpus, tasks = g_.max_tasks;
    if (l < t_.node_level()) {
      std::vector<std::pair<uint32_t, uint32_t>> order;
      for (uint32_t d = 0; d < t_.domains(l).size(); d++)
        if (free_of(l, d) >= all) order.emplace_back(free_of(l, d), d);
      std::sort(order.begin(), order.end());
      for (const auto& [f, d] : order)
        if (auto got = within(t_.domains(l)[d].node_begin, t_.domains(l)[d].node_end, false); !got.empty()) return {got, 0, kNone};
      return {};
    }
    if (s_.nodes == Nodes::each && tasks > 1) return {};
    if (l == t_.node_level()) return {within(0, t_.nodes(), true), 0, kNone};
    using Key = std::tuple<uint32_t, uint32_t, NodeId, std::vector<uint32_t>, uint32_t>;
    Key best{kNone, 0, 0, {}, kNone};
    for (uint32_t d = 0; d < t_.domains(l).size(); d++) {
      const Domain& x = t_.domains(l)[d];
      const NodeId n = x.node_begin;
      if (free_of(l, d) < all || !good(n, tasks)) continue;
      std::vector<uint32_t> around;
      for (size_t up = l, e = d; up > t_.node_level(); up--) e = t_.domains(up)[e].parent, around.push_back(free_of(up - 1, e));
      best = std::min(best, Key{free_of(l, d), c_.free_now_count(n), n, around, d});
    }
    if (std::get<4>(best) == kNone) return {};
    return {{{std::get<2>(best), tasks}}, l, std::get<4>(best)};
  }
  std::vector<std::pair<NodeId, uint32_t>> within(NodeId from, NodeId to, bool one) {
    std::vector<std::pair<NodeId, uint32_t>> got;
    const uint32_t lump = s_.nodes == Nodes::one || one ? g_.max_tasks : 1;
    std::vector<uint32_t> has(t_.nodes());
    for (uint32_t i = 0; i < g_.max_tasks; i += lump) {
      std::pair<uint32_t, NodeId> best{kNone, kNone};
      for (NodeId n = from; n < to; n++) {
        if (s_.nodes == Nodes::each && has[n]) continue;
        const uint32_t left = c_.free_now_count(n) - has[n] * g_.gpus;
        if (left >= lump * g_.gpus && good(n, has[n] + lump)) best = std::min(best, {left, n});
      }
      if (best.second == kNone) return {};
      has[best.second] += lump;
    }
    for (NodeId n = 0; n < t_.nodes(); n++)
      if (has[n]) got.emplace_back(n, has[n]);
    return got;
  }
  const Topology& t_;
  const Cluster& c_;
  const Shape& s_;
  const TaskGroup& g_;
};

class Compare final : public Policy {
 public:
  Compare(const Topology& t, bool consolidate) : consolidate_(consolidate), placer_(make_placer(consolidate ? "consolidate" : "pack", t, 1)) {}
  void schedule(const View& now, Plan& plan) override {
    for (JobId j = plan.queue().first(); j != kNone; j = plan.queue().next(j + 1)) {
      const Pieces at = placer_->find(now, plan, j);
      const Brute::Answer want = Brute(now, plan, now.shape(j)).find(consolidate_);
      asked++, found += !at.empty();
      std::vector<std::pair<NodeId, uint32_t>> got;
      uint32_t inside = 0;
      for (const Piece& p : at) {
        if (p.tasks) got.emplace_back(p.node, p.tasks);
        for (uint32_t i = 0; i < 64 && want.domain != kNone; i++)
          if (p.what >> i & 1) inside += now.topology().domain_of_gpu(want.level, now.topology().first_gpu(p.node) + p.word * 64 + i) == want.domain;
      }
      ASSERT_EQ(got, want.tasks) << now.name(j);
      if (want.domain != kNone) {
        ASSERT_EQ(inside, now.shape(j).total_gpus);
        below++;
      }
      if (at.empty()) {
        reasons[size_t(placer_->why(now, plan, j))]++;
        continue;
      }
      plan.start(j, at);
    }
  }
  size_t asked = 0, found = 0, below = 0;
  std::array<size_t, size_t(Reason::policy) + 1> reasons{};

 private:
  bool consolidate_;
  std::unique_ptr<Placer> placer_;
};

void compare_on_random_trees(bool consolidate) {
  size_t asked = 0, found = 0, below = 0, levels = 0, apart = 0;
  for (uint64_t seed = 0; seed < 250; seed++) {
    SCOPED_TRACE(seed);
    Dice dice(seed);
    const Topology t = random_tree(dice);
    Workload w = random_workload(dice, t, 40, 1, 1);
    w.shapes.clear();
    for (int i = 0; i < 12; i++) w.shapes.push_back(random_wish(dice));
    for (Job& j : w.jobs) j.shape = dice.below(12), j.earliest_start = 0;
    for (const char* tag : {"", "a", "b"}) w.tags.add(tag);
    Compare policy(t, consolidate);
    RunOptions options;
    options.check = true;
    Simulator s(t, w, policy, options);
    try {
      s.run();
    } catch (const NoProgress&) {  // wishes that contradict each other
    }
    asked += policy.asked, found += policy.found, below += policy.below;
    levels += policy.reasons[size_t(Reason::level)], apart += policy.reasons[size_t(Reason::apart)];
    if (testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GT(found, 4000u);
  EXPECT_GT(asked, found + 500);
  EXPECT_GT(below, 500u);
  EXPECT_GT(levels, 100u);
  EXPECT_GT(apart, 20u);
}

TEST(PlaceLevels, WishesForLevelsUnderBestFit) { compare_on_random_trees(false); }
TEST(PlaceLevels, ConsolidateTakesTheLowestLevel) { compare_on_random_trees(true); }

}}  // namespace muster
