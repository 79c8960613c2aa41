// Placers that score nodes, against twins that look at every node and GPU anew for each task; and their rules on small cases by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

#include "muster/fragmentation.hpp"
#include "parts/placer.hpp"
#include "parts/volcano.hpp"
#include "random_workload.hpp"

namespace muster { namespace {

/// The rules of docs/placers.md by looking at all nodes.
class Brute {
 public:
  Brute(std::string_view rule, const std::vector<TaskClass>& classes, const View& now, const Plan& plan, JobId j)
      : rule_(rule), classes_(classes), now_(now), c_(plan.cluster()), t_(now.topology()), s_(now.shape(j)) {
    for (NodeId n = 0; n < t_.nodes(); n++) {
      Node& x = nodes_.emplace_back();
      for (unsigned g = 0; g < t_.gpus_of(n); g++) x.left.push_back(c_.slice_left(n, g));
      for (size_t k = 1; k < kMaxKinds; k++) x.amount[k] = c_.free_amount(n, k);
      x.usable = c_.usable(n);
    }
  }
  std::vector<Piece> find() {
    if (s_.nodes == Nodes::one || (s_.groups.size() == 1 && s_.groups[0].max_tasks == 1)) {
      const NodeId n = best([&](NodeId at) { return together(at); }, whole_request());
      for (size_t g = 0; n != kNone && g < s_.groups.size(); g++)
        for (uint32_t i = 0; i < s_.groups[g].max_tasks; i++) put(n, uint32_t(g));
      return n == kNone ? std::vector<Piece>{} : pieces();
    }
    for (uint32_t g = 0; g < s_.groups.size(); g++)
      for (uint32_t i = 0; i < s_.groups[g].max_tasks; i++) {
        const TaskGroup& group = s_.groups[g];
        const NodeId n =
            best([&](NodeId at) { return !(s_.nodes == Nodes::each && nodes_[at].tasks) && fits(nodes_[at], at, group); }, group);
        if (n == kNone) return {};
        put(n, g);
      }
    return pieces();
  }

 private:
  struct Node {
    std::vector<int32_t> left;
    int64_t amount[kMaxKinds] = {};
    bool usable = true;
    unsigned tasks = 0;
    std::map<uint32_t, std::pair<unsigned, std::vector<unsigned>>> groups;
    std::vector<Piece> shares;
    unsigned whole() const { return unsigned(std::count(left.begin(), left.end(), kMilli)); }
    int64_t milli() const {
      int64_t sum = 0;
      for (const int32_t l : left) sum += l;
      return sum;
    }
  };
  /// What a job on one node is scored as.
  TaskGroup whole_request() const {
    TaskGroup sum = s_.groups[0];
    bool shares = false;
    for (const TaskGroup& g : s_.groups) shares |= g.gpu_milli() > 0;
    if (shares) return sum;
    sum.gpus = 0, sum.per_task = {};
    for (const TaskGroup& g : s_.groups) sum.gpus += g.gpus * g.max_tasks, sum.per_task += g.per_task.times(g.max_tasks);
    return sum;
  }
  bool fits(const Node& x, NodeId n, const TaskGroup& g) const {
    if (!x.usable || !suits(t_.kind(n), g) || x.whole() < g.gpus) return false;
    for (size_t k = 1; k < kMaxKinds; k++)
      if (g.per_task[k] > x.amount[k]) return false;
    return !g.gpu_milli() || std::any_of(x.left.begin(), x.left.end(), [&](int32_t l) { return l >= int32_t(g.gpu_milli()); });
  }
  bool together(NodeId n) const {
    Brute copy(*this);
    for (uint32_t g = 0; g < s_.groups.size(); g++)
      for (uint32_t i = 0; i < s_.groups[g].max_tasks; i++) {
        if (!copy.fits(copy.nodes_[n], n, s_.groups[g])) return false;
        copy.put(n, g);
      }
    return true;
  }
  template <class F> NodeId best(F fit, const TaskGroup& g) const {
    NodeId best = kNone;
    int64_t top = 0;
    const bool nothing = g.gpus == 0 && g.per_task == Resources{};
    for (NodeId n = 0; n < t_.nodes(); n++) {
      if (!fit(n)) continue;
      const int64_t score = nothing ? 0 : this->score(n, g);
      if (best == kNone || score > top) best = n, top = score;
    }
    return best;
  }
  int64_t cpus(const TaskGroup& g) const { return t_.limits(kCpu) ? g.per_task[kCpu] : 0; }
  double sum(const Node& x, NodeId n) const {
    NodeLeft left{x.amount[kCpu], t_.kind(n).gpu_type, x.whole(), {}};
    std::vector<int32_t> parts;
    for (const int32_t l : x.left)
      if (l && l < kMilli) parts.push_back(l);
    left.parts = parts;
    double sum = 0, tasks = 0;
    for (const TaskClass& m : classes_) sum += double(m.count) * double(fragmented(left, m)), tasks += double(m.count);
    return tasks ? sum / tasks : 0;
  }
  /// FGD's score of a share on one GPU, or of whole GPUs.
  int64_t fgd(NodeId n, const TaskGroup& g, unsigned gpu) const {
    const double before = sum(nodes_[n], n);
    Node after = nodes_[n];
    after.amount[kCpu] -= cpus(g);
    if (g.gpu_milli()) after.left[gpu] -= int32_t(g.gpu_milli());
    unsigned want = g.gpus;
    for (int32_t& l : after.left)
      if (want && l == kMilli) l = 0, want--;
    const double d = before - sum(after, n);
    return std::abs(d) < 1e-7 ? 50 : int64_t(100 / (1 + std::exp(-d / 1000)));  // a sum of doubles that is nothing may miss it
  }
  unsigned card(NodeId n, const TaskGroup& g) const {
    unsigned best = kNone;
    const std::vector<int32_t>& left = nodes_[n].left;
    for (unsigned i = 0; i < left.size(); i++) {
      if (left[i] < int32_t(g.gpu_milli())) continue;
      if (best == kNone || (rule_ == "fgd" ? fgd(n, g, i) > fgd(n, g, best) : left[i] < left[best])) best = i;
    }
    return best;
  }
  int64_t score(NodeId n, const TaskGroup& g) const {
    const Node& x = nodes_[n];
    const int64_t gpu = g.gpu_milli() ? int64_t(g.gpu_milli()) : g.gpus * kMilli, most = std::max<int64_t>(t_.most_gpus(), 1) * kMilli;
    int64_t most_cpu = 1;
    for (const NodeKind& k : t_.kinds())
      if (k.limits_cpu) most_cpu = std::max(most_cpu, k.capacity[kCpu]);
    const bool limited = t_.kind(n).limits_cpu;
    if (rule_ == "fgd") return fgd(n, g, g.gpu_milli() ? card(n, g) : 0);
    if (rule_ == "best-fit" || rule_ == "dot-product") {
      // Exactly: twice both mosts is the common denominator.
      const Int128 a = rule_ == "best-fit" ? Int128{most_cpu} * most : Int128{most_cpu} * most_cpu * most * most;
      const Int128 c = !limited              ? 0
                       : rule_ == "best-fit" ? Int128{x.amount[kCpu] - cpus(g)} * most
                                             : Int128{x.amount[kCpu]} * cpus(g) * most * most;
      const Int128 d = rule_ == "best-fit" ? Int128{x.milli() - gpu} * most_cpu : Int128{x.milli()} * gpu * most_cpu * most_cpu;
      return int64_t((200 * a - 100 * (c + d)) / (2 * a));
    }
    if (rule_ == "volcano-binpack") return binpack(x, n, g, gpu);
    if (rule_.ends_with("-allocated") || rule_.ends_with("-ratio")) return kubernetes(x, n, g, gpu);
    if (gpu == 0) return 0;
    if (rule_ == "gpu-packing") {
      if (x.whole() == x.left.size()) return std::max<int64_t>(33 - int64_t(x.whole()), x.whole());
      if (!g.gpu_milli()) return std::max<int64_t>(50 - int64_t(g.gpus), 33);
      const int32_t left = x.left[card(n, g)];
      return left == kMilli ? 49 : std::max<int64_t>(100 - left / 10 / 10, 50);
    }
    std::map<uint32_t, bool> sizes;  // gpu-clustering; a share is 0
    for (unsigned i = 0; i < x.left.size(); i++) {
      const GpuId id = t_.first_gpu(n) + i;
      if (c_.holder(id) != kNone) {
        const Shape& s = now_.shape(c_.holder(id));
        const bool shares = std::any_of(s.groups.begin(), s.groups.end(), [](const TaskGroup& o) { return o.gpu_milli() > 0; });
        sizes[s.nodes == Nodes::one && !shares ? s.total_gpus : s.groups[0].gpus] = true;
      }
      if (const SharedGpu* s = c_.shared(id); s && !s->jobs.empty()) sizes[0] = true;
    }
    const int64_t tier = sizes.empty() ? 25 : !sizes.count(g.gpus) ? 0 : sizes.size() == 1 ? 75 : 50;
    return tier + 25 * (most - x.milli()) / most;
  }
  /// Volcano's, with the fraction whole; what a node does not limit is as if it had none.
  int64_t binpack(const Node& x, NodeId n, const TaskGroup& g, int64_t gpu) const {
    const NodeKind& k = t_.kind(n);
    std::vector<volcano::Packed> all{{1, gpu, int64_t{k.gpus} * kMilli - x.milli(), int64_t{k.gpus} * kMilli}};
    if (t_.limits(kCpu))
      all.push_back({1, g.per_task[kCpu], k.limits_cpu ? k.capacity[kCpu] - x.amount[kCpu] : 0, k.limits_cpu ? k.capacity[kCpu] : 0});
    if (t_.limits(kMem))
      all.push_back({1, g.per_task[kMem], k.limits_mem ? k.capacity[kMem] - x.amount[kMem] : 0, k.limits_mem ? k.capacity[kMem] : 0});
    const auto score = volcano::binpack_score(all, 1'000'000'000);
    return int64_t((2 * score.over + score.under) / (2 * score.under));
  }
  int64_t kubernetes(const Node& x, NodeId n, const TaskGroup& g, int64_t gpu) const {
    const NodeKind& k = t_.kind(n);
    std::vector<int64_t> points;
    const auto add = [&](bool counts, int64_t request, int64_t left, int64_t capacity) {
      if (!counts || capacity == 0) return;
      const int64_t after = left - request;
      const bool free = rule_ == "least-allocated";
      const int64_t p = int64_t(std::floor(100.0L * (long double)(free ? after : capacity - after) / (long double)capacity + 1e-12L));
      if (p || !rule_.ends_with("-ratio")) points.push_back(p);
    };
    add(gpu > 0, gpu, x.milli(), int64_t{k.gpus} * kMilli);
    add(k.limits_cpu, g.per_task[kCpu], x.amount[kCpu], k.capacity[kCpu]);
    add(k.limits_mem, g.per_task[kMem], x.amount[kMem], k.capacity[kMem]);
    if (points.empty()) return 0;
    const double mean = double(std::accumulate(points.begin(), points.end(), int64_t{0})) / double(points.size());
    return int64_t(rule_.ends_with("-ratio") ? std::round(mean) : std::floor(mean));
  }
  void put(NodeId n, uint32_t group) {
    const TaskGroup& g = s_.groups[group];
    Node& x = nodes_[n];
    x.tasks++;
    if (g.gpu_milli()) {
      const unsigned gpu = card(n, g);
      x.left[gpu] -= int32_t(g.gpu_milli());
      x.shares.push_back(Piece::part(Share::slice, n, gpu, 0, g.gpu_milli(), 0, uint8_t(group)));
    } else {
      auto& [tasks, gpus] = x.groups[group];
      tasks++;
      unsigned want = g.gpus;
      for (unsigned i = 0; want; i++)
        if (x.left[i] == kMilli) x.left[i] = 0, want--, gpus.push_back(i);
    }
    for (size_t k = 1; k < kMaxKinds; k++) x.amount[k] -= g.per_task[k];
  }
  std::vector<Piece> pieces() const {
    std::vector<Piece> out;
    for (NodeId n = 0; n < t_.nodes(); n++) {
      for (const auto& [group, held] : nodes_[n].groups) {
        std::map<unsigned, uint64_t> words;
        for (const unsigned g : held.second) words[g / 64] |= uint64_t{1} << g % 64;
        if (words.empty()) words[0] = 0;
        bool first = true;
        for (const auto& [word, mask] : words) {
          out.push_back(Piece::whole(n, uint16_t(first ? held.first : 0), mask, uint8_t(word), uint8_t(group)));
          first = false;
        }
      }
      out.insert(out.end(), nodes_[n].shares.begin(), nodes_[n].shares.end());
    }
    std::stable_sort(out.begin(), out.end(), [](const Piece& a, const Piece& b) {
      return std::tuple(a.node, a.group, a.share == Share::slice ? a.gpu() : 0) <
             std::tuple(b.node, b.group, b.share == Share::slice ? b.gpu() : 0);
    });
    return out;
  }
  std::string_view rule_;
  const std::vector<TaskClass>& classes_;
  const View& now_;
  const Cluster& c_;
  const Topology& t_;
  const Shape& s_;
  std::vector<Node> nodes_;
};

class Compare final : public Policy {
 public:
  Compare(const Topology& t, const Workload& w, std::string rule)
      : rule_(std::move(rule)), classes_(task_classes(w)), placer_(make_placer(rule_, PolicyInput{t, w, {}, 1})) {}
  void schedule(const View& now, Plan& plan) override {
    for (JobId j = plan.queue().first(); j != kNone; j = plan.queue().next(j + 1)) {
      const Pieces at = placer_->find(now, plan, j);
      if (now.shape(j).nodes != Nodes::whole) {
        const std::vector<Piece> want = Brute(rule_, classes_, now, plan, j).find();
        found += !want.empty();
        // Unequal tasks that do not fit in their order are searched for; the plan checks what was found.
        const bool searched = want.empty() && now.shape(j).groups.size() > 1;
        if (!searched && !std::equal(at.begin(), at.end(), want.begin(), want.end())) {
          ADD_FAILURE() << rule_ << ", " << now.name(j) << " at " << now.now() << ": found " << to_text(now.topology(), at) << ", expected "
                        << to_text(now.topology(), want);
          differ = true;
          return;
        }
      }
      if (!at.empty()) plan.start(j, at);
    }
  }
  size_t found = 0;
  bool differ = false;

 private:
  std::string rule_;
  std::vector<TaskClass> classes_;
  std::unique_ptr<Placer> placer_;
};

class Scores : public testing::TestWithParam<const char*> {};

TEST_P(Scores, AgreesWithATwinThatLooksAtAllNodes) {
  size_t found = 0;
  for (uint64_t seed = 0; seed < 120; seed++) {
    SCOPED_TRACE(seed);
    Dice dice(seed);
    const Topology t = random_topology(dice, 12, dice.one_in(12));
    const Workload w = random_workload(dice, t, 40, 12, dice.one_in(3) ? 3 : 1);
    Compare policy(t, w, GetParam());
    RunOptions options;
    for (int i = 0; i < 4; i++) {
      ScriptedEvent& e = options.events.emplace_back();
      e.at = dice.below(40), e.value = kNever;
      e.kind = i % 2 ? ScriptedEvent::Kind::undrain : ScriptedEvent::Kind::drain;
      e.node_begin = dice.below(t.nodes()), e.node_end = e.node_begin + 1;
    }
    ScriptedEvent& all = options.events.emplace_back();
    all.at = 60, all.kind = ScriptedEvent::Kind::undrain, all.node_end = t.nodes();
    Simulator s(t, w, policy, options);
    try {
      s.run();
    } catch (const NoProgress&) {  // several groups that fit one by one and never together
    }
    found += policy.found;
    if (policy.differ) return;
  }
  EXPECT_GT(found, 1500u);
}
INSTANTIATE_TEST_SUITE_P(Placers, Scores,
                         testing::Values("fgd", "best-fit", "dot-product", "gpu-packing", "gpu-clustering", "volcano-binpack",
                                         "most-allocated", "least-allocated", "requested-to-capacity-ratio"),
                         [](const auto& info) {
                           std::string s = info.param;
                           std::erase(s, '-');
                           return s;
                         });

/// Places jobs of a list one after the other, and keeps where.
class Fill final : public Policy {
 public:
  Fill(const PolicyInput& in, std::string_view rule) : placer_(make_placer(rule, in)) {}
  void schedule(const View& now, Plan& plan) override {
    for (JobId j = plan.queue().first(); j != kNone; j = plan.queue().next(j + 1)) {
      const Pieces at = placer_->find(now, plan, j);
      where.push_back(to_text(now.topology(), at));
      at.empty() ? plan.drop(j, Reason::policy) : plan.start(j, at);
    }
  }
  std::vector<std::string> where;

 private:
  std::unique_ptr<Placer> placer_;
};

std::vector<std::string> fill(const Topology& t, std::string_view rule, const std::vector<std::pair<int64_t, int64_t>>& cpus_and_milli,
                              uint64_t seed = 1, std::string_view tie = {}, std::string_view weights = {}, std::string_view shape = {},
                              std::string_view required = {}, uint32_t apart = 0) {
  Workload w;
  w.tenants.add(""), w.queues.add(""), w.tags.add(""), w.tags.add("apart");
  for (const auto& [cpus, milli] : cpus_and_milli) {
    Shape s;
    TaskGroup& g = s.groups.emplace_back();
    g.gpus = s.total_gpus = uint32_t(milli / kMilli), g.per_task[kGpu] = milli, g.per_task[kCpu] = cpus * kMilli;
    s.required_level = required, s.apart = apart;
    w.shapes.push_back(s);
    Job& j = w.jobs.emplace_back();
    j.shape = ShapeId(w.shapes.size() - 1), j.submit = Time(w.jobs.size());
    w.truths.emplace_back().work = 1000 * kSecond;
    w.names.add("j" + std::to_string(w.jobs.size()));
  }
  PolicyInput in{t, w, {}, seed};
  if (!tie.empty()) in.parameters.set("tie", Config::text(std::string(tie)));
  if (!weights.empty()) in.parameters.set("resource_weights", Config::text(std::string(weights)));
  if (!shape.empty()) in.parameters.set("utilization_shape", Config::text(std::string(shape)));
  Fill policy(in, rule);
  Simulator s(t, w, policy);
  s.run();
  return policy.where;
}

using Where = std::vector<std::string>;

TEST(ScoringPlacers, TheirRulesOnOneFilling) {
  const Topology t = Topology::parse_line("node:3[cpus=32] gpu:4");
  // Half a GPU opens n0. Another half: packing and best fit lay it on the same GPU. A whole GPU: packing and best fit take the node in use
  // (50 - 1, fewer GPUs left), clustering a node of its own, as no job of one GPU is anywhere.
  EXPECT_EQ(fill(t, "gpu-packing", {{1, 500}, {1, 500}, {1, 1000}}), (Where{"n0/gpu0:500m", "n0/gpu0:500m", "n0/gpu1"}));
  EXPECT_EQ(fill(t, "best-fit", {{1, 500}, {1, 500}, {1, 1000}}), (Where{"n0/gpu0:500m", "n0/gpu0:500m", "n0/gpu1"}));
  EXPECT_EQ(fill(t, "gpu-clustering", {{1, 500}, {1, 500}, {1, 1000}}), (Where{"n0/gpu0:500m", "n0/gpu0:500m", "n1/gpu0"}));
  // Clustering goes back to the jobs of its size: a second whole GPU beside the first.
  EXPECT_EQ(fill(t, "gpu-clustering", {{1, 500}, {1, 1000}, {1, 1000}, {1, 100}}),
            (Where{"n0/gpu0:500m", "n1/gpu0", "n1/gpu1", "n0/gpu0:100m"}));
  // 24 of 32 CPUs of n0 are gone and no GPU: best fit sees 8 CPUs left there, dot product the smaller product.
  EXPECT_EQ(fill(t, "dot-product", {{24, 0}, {4, 1000}}), (Where{"n0", "n0/gpu0"}));
  // Half a GPU and one of 0.7, each on its own GPU. FGD puts 0.3 beside 0.7, which fills that GPU, and not beside the half, where 0.2 would
  // be left for nobody: the tasks here want 0.3 at least.
  EXPECT_EQ(fill(t, "fgd", {{1, 500}, {1, 700}, {1, 300}}).back(), "n0/gpu1:300m");
}

TEST(ScoringPlacers, FullnessAsVolcanoAndKubernetesWeighIt) {
  const Topology t = Topology::parse_line("node:3[cpus=32] gpu:4");
  // n0 holds 24 CPUs of 32. A task of 2 CPUs and a GPU: Volcano gives n0 100 x (26/32 + 1/4) / 2 = 53.1 and an idle node
  // 100 x (2/32 + 1/4) / 2 = 15.6; MostAllocated (81 + 25) / 2 = 53 and (6 + 25) / 2 = 15; LeastAllocated (18 + 75) / 2 = 46 and
  // (93 + 75) / 2 = 84; the ratio with its usual shape 53 and 15.5, rounded to 16.
  const std::vector<std::pair<int64_t, int64_t>> jobs{{24, 0}, {2, 1000}};
  for (const char* full : {"volcano-binpack", "most-allocated", "requested-to-capacity-ratio"})
    EXPECT_EQ(fill(t, full, jobs), (Where{"n0", "n0/gpu0"})) << full;
  EXPECT_EQ(fill(t, "least-allocated", jobs), (Where{"n0", "n1/gpu0"}));
  // A shape that falls: the emptiest scores most, 10 x 10 at 0 per cent.
  EXPECT_EQ(fill(t, "requested-to-capacity-ratio", jobs, 1, {}, {}, "0:10,100:0"), (Where{"n0", "n1/gpu0"}));
  // One that is highest at half full. GPUs alone: a second GPU makes n0 half full, a third more than that, so it opens n1.
  EXPECT_EQ(fill(t, "requested-to-capacity-ratio", {{0, 1000}, {0, 1000}, {0, 1000}}, 1, {}, "gpu:1", "0:0,50:10,100:5"),
            (Where{"n0/gpu0", "n0/gpu1", "n0/gpu2"}));  // 75 per cent: 100 - 50 x 25 / 50 = 75 points, an idle node 50
  EXPECT_EQ(fill(t, "requested-to-capacity-ratio", {{0, 1000}, {0, 1000}, {0, 1000}}, 1, {}, "gpu:1", "0:0,50:10,100:0"),
            (Where{"n0/gpu0", "n0/gpu1", "n0/gpu2"}));  // 50 points here and there: the lowest
  EXPECT_EQ(fill(t, "requested-to-capacity-ratio", {{0, 1000}, {0, 1000}, {0, 1000}}, 1, {}, "gpu:1", "0:0,50:10,60:0"),
            (Where{"n0/gpu0", "n0/gpu1", "n1/gpu0"}));
  // 30 CPUs on n0; 4 CPUs and 3 GPUs on n1, as n0 has only 2 CPUs left. 1 CPU and a GPU: by CPUs n0 (31/32 against 5/32); with GPUs five
  // times the CPUs n1 (5/32 + 5 x 4/4) / 6 = 85.9 against (31/32 + 5 x 1/4) / 6 = 36.9.
  const std::vector<std::pair<int64_t, int64_t>> two{{30, 0}, {4, 3000}, {1, 1000}};
  for (const char* full : {"volcano-binpack", "most-allocated"}) {
    EXPECT_EQ(fill(t, full, two, 1, {}, "cpu:1").back(), "n0/gpu0") << full;
    EXPECT_EQ(fill(t, full, two, 1, {}, "gpu:5,cpu:1").back(), "n1/gpu3") << full;
  }
  for (const char* wrong : {"gpu", "gpu:-1", "gpu:1,", "gpus:1", ":1"})
    EXPECT_THROW(fill(t, "most-allocated", two, 1, {}, wrong), InputError) << wrong;
  for (const char* wrong : {"0:11", "50:1,50:2", "x:1", "101:1"})
    EXPECT_THROW(fill(t, "requested-to-capacity-ratio", two, 1, {}, {}, wrong), InputError) << wrong;
}

TEST(ScoringPlacers, ScoreInsideTheDomainTooAndKeepJobsApart) {
  const Topology t = Topology::parse_line("rack:2 node:2[cpus=32] gpu:4");
  // The rack with fewest free GPUs that are enough, r0 every time; in it the emptier node.
  const std::vector<std::pair<int64_t, int64_t>> jobs(4, {8, 1000});
  EXPECT_EQ(fill(t, "least-allocated", jobs, 1, {}, {}, {}, "rack"), (Where{"n0/gpu0", "n1/gpu0", "n0/gpu1", "n1/gpu1"}));
  EXPECT_EQ(fill(t, "most-allocated", jobs, 1, {}, {}, {}, "rack"), (Where{"n0/gpu0", "n0/gpu1", "n0/gpu2", "n0/gpu3"}));
  EXPECT_EQ(fill(t, "most-allocated", jobs, 1, {}, {}, {}, "node"), (Where{"n0/gpu0", "n0/gpu1", "n0/gpu2", "n0/gpu3"}));
  EXPECT_EQ(fill(t, "least-allocated", jobs, 1, {}, {}, {}, "node"), (Where{"n0/gpu0", "n1/gpu0", "n2/gpu0", "n3/gpu0"}));
  for (const char* full : {"most-allocated", "best-fit", "fgd"})
    EXPECT_EQ(fill(t, full, jobs, 1, {}, {}, {}, "rack", 1), (Where{"n0/gpu0", "n1/gpu0", "n2/gpu0", "n3/gpu0"})) << full;
  // Whichever node of the rack a permutation puts first, the rack is r0.
  for (uint64_t seed = 1; seed < 9; seed++) EXPECT_TRUE(fill(t, "fgd", {{1, 1000}}, seed, "permutation", {}, {}, "rack")[0] < "n2") << seed;
}

TEST(ScoringPlacers, EqualNodesGoByIndexOrByAPermutationOfTheSeed) {
  const Topology t = Topology::parse_line("node:50 gpu:1");
  const std::vector<std::pair<int64_t, int64_t>> jobs(50, {0, 1000});
  const Where by_index = fill(t, "best-fit", jobs);
  for (size_t i = 0; i < 50; i++) EXPECT_EQ(by_index[i], "n" + std::to_string(i) + "/gpu0");
  EXPECT_EQ(fill(t, "best-fit", jobs, 1, "index"), by_index);
  const Where one = fill(t, "best-fit", jobs, 1, "permutation"), two = fill(t, "best-fit", jobs, 2, "permutation");
  EXPECT_EQ(fill(t, "best-fit", jobs, 1, "permutation"), one);
  EXPECT_EQ(fill(t, "fgd", jobs, 1, "permutation"), one) << "the order is the seed's, whatever the rule";
  EXPECT_NE(one, by_index);
  EXPECT_NE(one, two);
  const auto sorted = [](Where w) { return std::sort(w.begin(), w.end()), w; };
  EXPECT_EQ(sorted(one), sorted(by_index));
  try {
    fill(t, "best-fit", jobs, 1, "indx");
    ADD_FAILURE();
  } catch (const InputError& e) { EXPECT_STREQ(e.what(), "tie: want index or permutation, found \"indx\"; did you mean index?"); }
}

TEST(ScoringPlacers, UniformIsEvenOverTheNodesThatFit) {
  const Topology t = Topology::parse_line("node:3 gpu:1");
  size_t second = 0, last = 0;
  for (uint64_t seed = 0; seed < 4000; seed++) {
    const Where w = fill(t, "uniform", {{1, 1000}, {1, 1000}}, seed);
    EXPECT_NE(w[0], w[1]);
    second += w[1] == "n1/gpu0", last += w[0] == "n2/gpu0";
  }
  // Each of two jobs is on each of three nodes a third of the time: 1333 of 4000, and 30 for one standard deviation.
  EXPECT_NEAR(double(second), 4000.0 / 3, 150);
  EXPECT_NEAR(double(last), 4000.0 / 3, 150);
}

}}  // namespace muster
