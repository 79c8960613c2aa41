// Placers against a brute-force twin that looks at every node for every task, on the states that random runs go through.
#include "parts/placer.hpp"

#include <gtest/gtest.h>

#include <map>
#include <tuple>

#include "random_workload.hpp"

namespace muster { namespace {

/// The rule of docs/policies/list.md, word for word, by looking at all nodes.
class Brute {
 public:
  Brute(bool spread, const View& now, const Plan& plan, JobId j)
      : spread_(spread), cluster_(plan.cluster()), t_(now.topology()), shape_(now.shape(j)) {
    for (NodeId n = 0; n < t_.nodes(); n++) {
      Node& x = nodes_.emplace_back();
      for (unsigned w = 0; w < cluster_.words(n); w++)
        for (unsigned b = 0; b < 64; b++)
          if (cluster_.free_now(n, w) >> b & 1) x.free.push_back(w * 64 + b);
      for (size_t k = 1; k < kMaxKinds; k++) x.left[k] = cluster_.free_amount(n, k);
      for (unsigned g = 0; g < t_.gpus_of(n); g++)
        if (cluster_.slice_left(n, g) && std::find(x.free.begin(), x.free.end(), g) == x.free.end()) x.cut[g] = cluster_.slice_left(n, g);
    }
  }
  std::vector<Piece> find() {
    if (shape_.nodes == Nodes::whole) return whole();
    if (shape_.nodes == Nodes::one) {
      TaskGroup sum;
      for (const TaskGroup& g : shape_.groups) {
        sum.gpus += g.gpus * g.max_tasks;
        for (size_t k = 0; k < kMaxKinds; k++) sum.per_task[k] += g.per_task[k] * g.max_tasks;
      }
      const NodeId n = best(sum, false);
      if (n == kNone) return {};
      for (size_t g = 0; g < shape_.groups.size(); g++)
        for (uint32_t i = 0; i < shape_.groups[g].max_tasks; i++) put(n, uint32_t(g));
      return pieces();
    }
    for (size_t g = 0; g < shape_.groups.size(); g++)
      for (uint32_t i = 0; i < shape_.groups[g].max_tasks; i++) {
        const NodeId n = best(shape_.groups[g], true);
        if (n == kNone) return {};
        put(n, uint32_t(g));
      }
    return pieces();
  }

 private:
  struct Node {
    std::vector<unsigned> free;
    int64_t left[kMaxKinds] = {};
    std::map<uint32_t, std::pair<unsigned, std::vector<unsigned>>> groups;  // tasks and GPUs
    std::map<unsigned, int32_t> cut;                                        // what is left of GPUs that are shared
    std::vector<Piece> shares;
  };
  bool kind_suits(NodeId n, const TaskGroup& g) const {
    const NodeKind& k = t_.kind(n);
    const bool type = g.gpu_types.empty() || std::count(g.gpu_types.begin(), g.gpu_types.end(), k.gpu_type);
    return type && (!g.gpu_mem_mib || !k.gpu_mem_mib || g.gpu_mem_mib <= k.gpu_mem_mib);
  }
  NodeId best(const TaskGroup& g, bool one_task) const {
    const bool nothing = g.gpus == 0 && g.per_task == Resources{};
    NodeId best = kNone;
    for (NodeId n = 0; n < t_.nodes(); n++) {
      const Node& x = nodes_[n];
      if (cluster_.cordoned(n) || x.free.size() < g.gpus) continue;
      if (shape_.nodes == Nodes::each && !x.groups.empty()) continue;
      bool fits = true;
      for (size_t k = 1; k < kMaxKinds; k++) fits &= g.per_task[k] <= 0 || g.per_task[k] <= x.left[k];
      if (one_task) fits &= kind_suits(n, g);
      else
        for (const TaskGroup& each : shape_.groups) fits &= kind_suits(n, each);
      fits &= one_task ? !g.gpu_milli() || card(x, int32_t(g.gpu_milli())) != kNone : together(n);
      if (!fits) continue;
      if (best == kNone) best = n;
      else if (!nothing && (spread_ ? x.free.size() > nodes_[best].free.size() : x.free.size() < nodes_[best].free.size())) best = n;
    }
    return best;
  }
  /// The GPU with the least left that holds the share, or kNone.
  static unsigned card(const Node& x, int32_t milli) {
    unsigned best = kNone;
    for (const auto& [gpu, left] : x.cut)
      if (left >= milli && (best == kNone || left < x.cut.at(best))) best = gpu;
    return best != kNone || x.free.empty() ? best : x.free[0];
  }
  bool together(NodeId n) const {
    Brute copy(*this);
    for (size_t g = 0; g < shape_.groups.size(); g++)
      for (uint32_t i = 0; i < shape_.groups[g].max_tasks; i++) {
        Node& x = copy.nodes_[n];
        if (x.free.size() < shape_.groups[g].gpus || (shape_.groups[g].gpu_milli() && card(x, int32_t(shape_.groups[g].gpu_milli())) == kNone)) return false;
        copy.put(n, uint32_t(g));
      }
    return true;
  }
  void put(NodeId n, uint32_t group) {
    const TaskGroup& g = shape_.groups[group];
    if (const auto milli = int32_t(g.gpu_milli())) {
      Node& x = nodes_[n];
      const unsigned gpu = card(x, milli);
      if (!x.cut.count(gpu)) x.cut[gpu] = kMilli, x.free.erase(x.free.begin());
      x.cut[gpu] -= milli;
      x.shares.push_back(Piece::part(Share::slice, n, gpu, 0, unsigned(milli), 0, uint8_t(group)));
      for (size_t k = 1; k < kMaxKinds; k++) x.left[k] -= g.per_task[k];
      if (shape_.nodes == Nodes::each) x.groups[group];  // it is used
      return;
    }
    auto& [tasks, gpus] = nodes_[n].groups[group];
    tasks++;
    gpus.insert(gpus.end(), nodes_[n].free.begin(), nodes_[n].free.begin() + g.gpus);
    nodes_[n].free.erase(nodes_[n].free.begin(), nodes_[n].free.begin() + g.gpus);
    for (size_t k = 1; k < kMaxKinds; k++) nodes_[n].left[k] -= g.per_task[k];
  }
  std::vector<Piece> whole() {
    uint32_t left = shape_.total_gpus;
    for (NodeId n = 0; n < t_.nodes() && left; n++) {
      Node& x = nodes_[n];
      if (cluster_.cordoned(n) || x.free.empty() || x.free.size() != t_.gpus_of(n) || !kind_suits(n, shape_.groups[0])) continue;
      const uint32_t here = std::min<uint32_t>(left, uint32_t(x.free.size()));
      x.groups[0] = {1, {x.free.begin(), x.free.begin() + here}};
      left -= here;
    }
    return left ? std::vector<Piece>{} : pieces();
  }
  /// Tasks of a group on one node all ask alike, so it does not matter which of the node's GPUs is whose: groups in order, lowest first.
  std::vector<Piece> pieces() const {
    std::vector<Piece> out;
    for (NodeId n = 0; n < t_.nodes(); n++) {
      std::vector<unsigned> all;
      for (const auto& [group, held] : nodes_[n].groups) all.insert(all.end(), held.second.begin(), held.second.end());
      std::sort(all.begin(), all.end());
      size_t at = 0;
      for (const auto& [group, held] : nodes_[n].groups) {
        if (!held.first) continue;
        std::map<unsigned, uint64_t> words;
        for (size_t i = 0; i < held.second.size(); i++, at++) words[all[at] / 64] |= uint64_t{1} << all[at] % 64;
        if (words.empty()) words[0] = 0;
        bool first = true;
        for (const auto& [word, mask] : words) {
          out.push_back(Piece::whole(n, uint16_t(first ? held.first : 0), mask, uint8_t(word), uint8_t(group)));
          first = false;
        }
      }
      out.insert(out.end(), nodes_[n].shares.begin(), nodes_[n].shares.end());
      std::stable_sort(out.begin(), out.end(), [](const Piece& a, const Piece& b) {
        return std::tuple(a.node, a.group, a.share == Share::slice ? a.gpu() : 0) < std::tuple(b.node, b.group, b.share == Share::slice ? b.gpu() : 0);
      });
    }
    return out;
  }
  bool spread_;
  const Cluster& cluster_;
  const Topology& t_;
  const Shape& shape_;
  std::vector<Node> nodes_;
};

/// Places every waiting job that fits, and asks both twins each time.
class Compare final : public Policy {
 public:
  Compare(const Topology& t, bool spread) : spread_(spread), placer_(make_placer(spread ? "spread" : "pack", t, 1)) {}
  void schedule(const View& now, Plan& plan) override {
    for (JobId j = plan.queue().first(); j != kNone; j = plan.queue().next(j + 1)) {
      const Pieces at = placer_->find(now, plan, j);
      const std::vector<Piece> want = Brute(spread_, now, plan, j).find();
      asked++;
      found += !want.empty();
      // Unequal tasks that do not fit in their order are searched for; the plan checks what was found.
      const bool searched = want.empty() && now.shape(j).groups.size() > 1;
      if (!searched && !std::equal(at.begin(), at.end(), want.begin(), want.end())) {
        differ++;
        ADD_FAILURE() << now.name(j) << " at " << now.now() << ": found " << to_text(now.topology(), at) << ", expected "
                      << to_text(now.topology(), want);
        return;
      }
      if (!at.empty()) plan.start(j, at);
    }
  }
  size_t asked = 0, found = 0, differ = 0;

 private:
  bool spread_;
  std::unique_ptr<Placer> placer_;
};

void compare_on_random_runs(bool spread, bool large) {
  size_t asked = 0, found = 0;
  for (uint64_t seed = 0; seed < (large ? 60 : 300); seed++) {
    SCOPED_TRACE(seed);
    Dice dice(seed);
    const Topology t = random_topology(dice, large ? 6 : 20, large);
    const Workload w = random_workload(dice, t, 40, 12, 3);
    Compare policy(t, spread);
    RunOptions options;
    for (int i = 0; i < 4; i++) {
      ScriptedEvent& e = options.events.emplace_back();
      e.at = dice.below(40);
      e.kind = i % 2 ? ScriptedEvent::Kind::undrain : ScriptedEvent::Kind::drain;
      e.node_begin = dice.below(t.nodes()), e.node_end = e.node_begin + 1;
      e.value = kNever;
    }
    ScriptedEvent& all = options.events.emplace_back();
    all.at = 60, all.kind = ScriptedEvent::Kind::undrain, all.node_end = t.nodes();
    Simulator s(t, w, policy, options);
    try {
      s.run();
    } catch (const NoProgress&) {  // several groups that fit one by one and never together
    }
    asked += policy.asked, found += policy.found;
    if (policy.differ) return;
  }
  EXPECT_GT(found, large ? 800u : 5000u);
  EXPECT_GT(asked, found + 500);
}

TEST(Placer, PackIsBestFit) { compare_on_random_runs(false, false); }
TEST(Placer, PackOnNodesOfManyGpus) { compare_on_random_runs(false, true); }
TEST(Placer, SpreadTakesTheEmptiest) { compare_on_random_runs(true, false); }
TEST(Placer, SpreadOnNodesOfManyGpus) { compare_on_random_runs(true, true); }

}}  // namespace muster
