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
  if (dice.one_in(3)) s.numa = Numa(dice.from_to(1, 3));
  return s;
}

/// What the policy chooses: a placer that looks for levels, or best fit; and GPUs inside a node.
struct Choice {
  std::string placer, devices, level;
};

/// The rules of docs/placers.md, best fit, by looking at everything.
class Brute {
 public:
  Brute(const View& now, const Plan& plan, const Shape& s, const Choice& choice)
      : t_(now.topology()), c_(plan.cluster()), s_(s), g_(s.groups[0]), choice_(choice), numa_(t_.find_level("socket")) {}

  /// Nodes and how many tasks each gets; empty: no placement. `domain`: below the node, where the GPUs are taken.
  struct Answer {
    std::vector<std::pair<NodeId, uint32_t>> tasks;
    size_t level = 0;
    uint32_t domain = kNone;
  };
  Answer find() {
    aligned_ = s_.numa != Numa::none && g_.gpus > 1;
    Answer a = find_as_it_is();
    if (!a.tasks.empty() || s_.numa != Numa::best_effort) return a;
    aligned_ = false;
    return find_as_it_is();
  }

  /// GPUs that `tasks` tasks get on node `n`, as numbers inside it, inside domain `d` of `level`.
  std::vector<uint32_t> devices(NodeId n, size_t level, uint32_t d, uint32_t tasks) {
    taken_.clear();
    if (s_.numa == Numa::none || g_.gpus < 2) {
      pick(level, d, tasks * g_.gpus);
    } else {
      for (; tasks; tasks--)
        if (!pick_aligned(n, level, d)) pick(level, d, g_.gpus);
    }
    std::sort(taken_.begin(), taken_.end());
    for (uint32_t& g : taken_) g -= t_.first_gpu(n);
    return taken_;
  }

 private:
  Answer find_as_it_is() {
    const size_t none = t_.levels().size();
    size_t required = s_.required_level.empty() ? none : t_.find_level(s_.required_level);
    size_t preferred = choice_.placer == "consolidate" ? none - 1 : s_.preferred_level.empty() ? none : t_.find_level(s_.preferred_level);
    if (choice_.placer == "topology-preferred" && preferred == none) preferred = t_.find_level(choice_.level);
    if (choice_.placer == "topology-required" && required == none)
      for (size_t l = t_.find_level(choice_.level) + 1; l-- > 0 && required == none;)
        for (uint32_t d = 0; d < t_.domains(l).size(); d++)
          if (t_.domains(l)[d].gpu_end - t_.domains(l)[d].gpu_begin >= s_.total_gpus) required = l;
    if (preferred == none || (required != none && preferred < required)) preferred = required;
    for (size_t l = preferred; preferred != none; l--) {
      if (Answer a = at(l); !a.tasks.empty()) return a;
      if (l == required) return {};
      if (l == 0) break;
    }
    return {within(0, t_.nodes(), false), 0, kNone};
  }

  bool is_free(GpuId g) const {
    const NodeId node = t_.node_of(g);
    const uint32_t i = g - t_.first_gpu(node);
    return (c_.free_now(node, i / 64) >> (i % 64) & 1) && std::find(taken_.begin(), taken_.end(), g) == taken_.end();
  }
  uint32_t free(GpuId from, GpuId to) const {
    uint32_t n = 0;
    for (GpuId g = from; g < to; g++) n += is_free(g);
    return n;
  }
  std::vector<uint32_t> children(size_t level, size_t outer_level, uint32_t outer) const {
    const Domain& o = t_.domains(outer_level)[outer];
    std::vector<uint32_t> out;
    for (uint32_t d = 0; d < t_.domains(level).size(); d++)
      if (t_.domains(level)[d].gpu_begin >= o.gpu_begin && t_.domains(level)[d].gpu_end <= o.gpu_end) out.push_back(d);
    return out;
  }
  void lowest(size_t level, uint32_t d, uint32_t k) {
    for (GpuId g = t_.domains(level)[d].gpu_begin; k; g++)
      if (is_free(g)) taken_.push_back(g), k--;
  }
  uint32_t fullest_that_holds(size_t level, size_t outer_level, uint32_t outer, uint32_t k) const {
    std::pair<std::vector<uint32_t>, uint32_t> best{{kNone}, kNone};
    for (const uint32_t d : children(level, outer_level, outer)) {
      if (free_of(level, d) < k) continue;
      std::vector<uint32_t> around{free_of(level, d)};
      for (size_t up = level, e = d; up > outer_level; up--) e = t_.domains(up)[e].parent, around.push_back(free_of(up - 1, e));
      best = std::min(best, {around, d});
    }
    return best.second;
  }
  void pick(size_t level, uint32_t d, uint32_t k) {
    const size_t last = t_.levels().size() - 1;
    if (choice_.devices == "lowest") return lowest(level, d, k);
    if (choice_.devices == "spread") {
      for (; k; k--) {
        uint32_t at = d;
        for (size_t l = level + 1; l <= last; l++) {
          std::pair<int64_t, uint32_t> best{0, kNone};
          for (const uint32_t in : children(l, l - 1, at)) best = std::min(best, {-int64_t(free_of(l, in)), in});
          at = best.second;
        }
        lowest(last, at, 1);
      }
      return;
    }
    for (size_t l = last; l > level; l--)
      if (const uint32_t in = fullest_that_holds(l, level, d, k); in != kNone) return pick(l, in, k);
    if (level == last) return lowest(level, d, k);
    std::pair<int64_t, uint32_t> most{0, kNone};
    for (const uint32_t in : children(level + 1, level, d)) most = std::min(most, {-int64_t(free_of(level + 1, in)), in});
    lowest(level + 1, most.second, uint32_t(-most.first));
    pick(level, d, k - uint32_t(-most.first));
  }
  /// One task, inside as few NUMA domains as an empty node would need.
  bool pick_aligned(NodeId n, size_t level, uint32_t d) {
    if (level >= numa_) {
      if (free_of(level, d) < g_.gpus) return false;
      pick(level, d, g_.gpus);
      return true;
    }
    std::vector<uint32_t> sizes;
    const std::vector<uint32_t> domains = children(numa_, t_.node_level(), n);
    for (const uint32_t x : domains) sizes.push_back(t_.domains(numa_)[x].gpu_end - t_.domains(numa_)[x].gpu_begin);
    std::sort(sizes.rbegin(), sizes.rend());
    size_t few = 0;
    for (uint32_t have = 0; have < g_.gpus && few < sizes.size();) have += sizes[few++];
    if (few == 1) {
      const uint32_t in = fullest_that_holds(numa_, level, d, g_.gpus);
      if (in != kNone) pick(numa_, in, g_.gpus);
      return in != kNone;
    }
    if (s_.numa == Numa::single) return false;
    std::vector<std::pair<int64_t, uint32_t>> by_free;
    for (const uint32_t x : children(numa_, level, d)) by_free.emplace_back(-int64_t(free_of(numa_, x)), x);
    std::sort(by_free.begin(), by_free.end());
    by_free.resize(std::min(few, by_free.size()));
    int64_t have = 0;
    for (const auto& [f, x] : by_free) have -= f;
    if (have < int64_t(g_.gpus)) return false;
    uint32_t left = g_.gpus;
    for (const auto& [f, x] : by_free) {
      const uint32_t here = uint32_t(std::min<int64_t>(left, -f));
      pick(numa_, x, here), left -= here;
    }
    return true;
  }
  bool aligns(NodeId n, uint32_t tasks) {
    taken_.clear();
    bool good = true;
    for (; good && tasks; tasks--) good = pick_aligned(n, t_.node_level(), n);
    taken_.clear();
    return good;
  }
  uint32_t free_of(size_t l, uint32_t d) const { return free(t_.domains(l)[d].gpu_begin, t_.domains(l)[d].gpu_end); }
  bool good(NodeId n, uint32_t tasks) {
    const NodeKind& k = t_.kind(n);
    if (!c_.usable(n) || (!g_.gpu_types.empty() && g_.gpu_types[0] != k.gpu_type)) return false;
    if (s_.apart && c_.tagged(s_.apart, n) != kNone) return false;
    if (aligned_ && !aligns(n, tasks)) return false;
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
  const Choice& choice_;
  size_t numa_;
  bool aligned_ = false;
  std::vector<GpuId> taken_;
};

class Compare final : public Policy {
 public:
  Compare(const Topology& t, const Workload& w, Choice choice) : choice_(std::move(choice)) {
    PolicyInput in{t, w, {}, 1};
    in.parameters.set("devices", Config::text(choice_.devices));
    if (!choice_.level.empty()) in.parameters.set("level", Config::text(choice_.level));
    placer_ = make_placer(choice_.placer, in);
    placer_->set_devices(devices_called(choice_.devices));
  }
  void schedule(const View& now, Plan& plan) override {
    const Topology& t = now.topology();
    for (JobId j = plan.queue().first(); j != kNone; j = plan.queue().next(j + 1)) {
      const Pieces at = placer_->find(now, plan, j);
      Brute brute(now, plan, now.shape(j), choice_);
      const Brute::Answer want = brute.find();
      asked++, found += !at.empty(), below += want.domain != kNone;
      std::vector<std::pair<NodeId, uint32_t>> got;
      std::vector<std::vector<uint32_t>> gpus;
      for (const Piece& p : at) {
        if (p.tasks) got.emplace_back(p.node, p.tasks), gpus.emplace_back();
        for (uint32_t i = 0; i < 64; i++)
          if (p.what >> i & 1) gpus.back().push_back(p.word * 64u + i);
      }
      ASSERT_EQ(got, want.tasks) << now.name(j);
      for (size_t i = 0; i < got.size(); i++) {
        const bool inside = want.domain != kNone;
        const NodeId n = got[i].first;
        ASSERT_EQ(gpus[i], brute.devices(n, inside ? want.level : t.node_level(), inside ? want.domain : n, got[i].second)) << now.name(j);
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
  Choice choice_;
  std::unique_ptr<Placer> placer_;
};

void compare_on_random_trees(const char* placer) {
  size_t asked = 0, found = 0, below = 0, levels = 0, apart = 0, numa = 0;
  for (uint64_t seed = 0; seed < 250; seed++) {
    SCOPED_TRACE(seed);
    Dice dice(seed);
    const Topology t = random_tree(dice);
    Workload w = random_workload(dice, t, 40, 1, 1);
    w.shapes.clear();
    for (int i = 0; i < 12; i++) w.shapes.push_back(random_wish(dice));
    for (Job& j : w.jobs) j.shape = dice.below(12), j.earliest_start = 0;
    for (const char* tag : {"", "a", "b"}) w.tags.add(tag);
    constexpr const char* kDevices[] = {"lowest", "closest", "spread"};
    Choice choice{placer, kDevices[dice.below(3)], ""};
    if (choice.placer.starts_with("topology")) choice.level = t.levels()[dice.below(4)];
    Compare policy(t, w, choice);
    RunOptions options;
    options.check = true;
    Simulator s(t, w, policy, options);
    try {
      s.run();
    } catch (const NoProgress&) {  // wishes that contradict each other
    }
    asked += policy.asked, found += policy.found, below += policy.below;
    levels += policy.reasons[size_t(Reason::level)], apart += policy.reasons[size_t(Reason::apart)], numa += policy.reasons[size_t(Reason::numa)];
    if (testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GT(found, 4000u);
  EXPECT_GT(asked, found + 500);
  EXPECT_GT(below, 500u);
  EXPECT_GT(levels, 100u);
  EXPECT_GT(apart, 20u);
  EXPECT_GT(numa, 20u);
}

TEST(PlaceLevels, WishesForLevelsUnderBestFit) { compare_on_random_trees("pack"); }
TEST(PlaceLevels, ConsolidateTakesTheLowestLevel) { compare_on_random_trees("consolidate"); }
TEST(PlaceLevels, TheTopologyPlacerThatRequiresALevel) { compare_on_random_trees("topology-required"); }
TEST(PlaceLevels, TheTopologyPlacerThatPrefersALevel) { compare_on_random_trees("topology-preferred"); }

}}  // namespace muster
