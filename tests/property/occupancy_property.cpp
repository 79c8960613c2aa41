// What records say of the cluster against the cluster itself; fragmentation over time against a sum over every stretch without change.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <deque>
#include <map>
#include <set>

#include "metrics/metrics.hpp"
#include "metrics/occupancy.hpp"
#include "muster/fits.hpp"
#include "random_plans.hpp"

namespace muster {
namespace {

uint64_t cases() {
  const char* n = std::getenv("MUSTER_CASES");
  return n ? std::strtoull(n, nullptr, 10) : 2'000;
}

/// A whole run, kept.
class Kept final : public Observer {
 public:
  void begin(const Header& h) override { header = h; }
  void see(std::span<const Record> batch) override {
    for (Record r : batch) {
      r.pieces = pieces_.emplace_back(r.pieces.begin(), r.pieces.end());
      if (r.time) r.time = &times_.emplace_back(*r.time);
      r.fields = {};
      records.push_back(r);
    }
  }
  void finish(Time at) override { end = at; }
  void tell(Observer& o) const {
    o.begin(header);
    o.see(records);
    o.finish(end);
  }
  Header header;
  std::vector<Record> records;
  Time end = 0;

 private:
  std::deque<std::vector<Piece>> pieces_;
  std::deque<TimeParts> times_;
};

/// What the cluster has free when a pass begins at an instant in which nothing has moved yet.
class Spy final : public Policy {
 public:
  struct Sight {
    Time at;
    std::vector<uint64_t> free;
    std::vector<int64_t> amounts;
  };
  std::vector<Sight> sights;
  void schedule(const View& now, Plan& plan) override {
    const bool fresh = now.now() != seen_;
    seen_ = now.now();
    for (const Event& e : now.events())
      if (e.what != What::wake && e.what != What::submit) return;
    if (!fresh) return;
    Sight& s = sights.emplace_back();
    s.at = now.now();
    const Cluster& c = plan.cluster();
    for (NodeId n = 0; n < now.topology().nodes(); n++) {
      for (unsigned w = 0; w < c.words(n); w++) s.free.push_back(c.free_now(n, w));
      for (const size_t k : {kCpu, kMem}) s.amounts.push_back(c.usable(n) ? std::max<int64_t>(0, c.free_amount(n, k)) : 0);
    }
  }

 private:
  Time seen_ = -1;
};

/// Records do not say whether a fault of all GPUs of a node is one of the node.
void no_whole_gpu_faults(RandomWorld& r) {
  std::erase_if(r.options.events, [&](const ScriptedEvent& e) {
    const bool gpus = e.node_begin == e.node_end && e.gpu_begin < e.gpu_end;
    return gpus && e.gpu_end - e.gpu_begin == r.topology.gpus_of(r.topology.node_of(e.gpu_begin));
  });
}

TEST(Occupancy, RecordsSayWhatIsFree) {
  uint64_t compared = 0;
  for (uint64_t seed = 0; seed < cases(); seed++) {
    Dice dice(seed);
    RandomWorld r = random_world(dice, 1 + uint32_t(seed % 60));
    no_whole_gpu_faults(r);
    r.options.check = false;
    RandomPolicy policy(seed + 1);
    Spy spy;
    Kept kept;
    Simulator s(r.topology, r.workload, policy, r.options);
    policy.run = &s;
    s.before_pass(&spy);
    s.observe(kept);
    try {
      s.run();
    } catch (const NoProgress&) {}
    Occupancy now;
    now.begin(kept.header);
    std::set<std::pair<NodeId, unsigned>> cut;  // words with a GPU of a fixed geometry, which is not whole though nobody holds it
    size_t next = 0;
    for (const Spy::Sight& sight : spy.sights) {
      const auto before = [&](const Record& x) { return x.at < sight.at || (next == 0 && x.what == What::capacity); };  // nodes not there yet
      for (; next < kept.records.size() && before(kept.records[next]); next++) {
        now.see(kept.records[next]);
        if (kept.records[next].what == What::reshape)
          for (const Piece& p : kept.records[next].pieces) cut.emplace(p.node, p.word);
      }
      size_t i = 0;
      for (NodeId n = 0; n < r.topology.nodes(); n++) {
        for (unsigned w = 0; w < now.words(n); w++, i++)
          ASSERT_TRUE(cut.contains({n, w}) || now.free(n, w) == sight.free[i]) << "seed " << seed << ", " << r.topology.node_name(n) << " at " << sight.at;
        for (const size_t k : {kCpu, kMem}) {
          const bool limited = k == kCpu ? r.topology.kind(n).limits_cpu : r.topology.kind(n).limits_mem;
          ASSERT_TRUE(!limited || !now.usable(n) || !r.topology.gpus_of(n) || now.free_amount(n, k) == sight.amounts[2 * n + (k - kCpu)])
              << "seed " << seed << ", " << r.topology.node_name(n) << " at " << sight.at << ": kind " << k << ", " << now.free_amount(n, k) << " against "
              << sight.amounts[2 * n + (k - kCpu)];
        }
        compared++;
      }
    }
  }
  EXPECT_GT(compared, cases());
}

/// Every measure from its definition, for one state.
struct Slow {
  std::map<std::string, double> sums;

  void stretch(const Occupancy& now, const Topology& t, const std::vector<std::pair<Shape, double>>& tasks, double popularity, double dt) {
    std::vector<double> left;  // milli-GPUs by node
    double all_left = 0, all_free = 0, fgd = 0;
    for (NodeId n = 0; n < t.nodes(); n++) {
      double sum = 0;
      for (unsigned g = 0; g < t.gpus_of(n); g++) sum += double(now.left(n, g));
      left.push_back(sum), all_left += sum, all_free += now.free_count(n);
    }
    double stranded = 0;
    for (NodeId n = 0; n < t.nodes(); n++) {
      bool used = tasks.empty();
      for (const auto& [shape, count] : tasks) {
        const TaskGroup& g = shape.groups[0];
        bool runs = never_fits(shape, t, n, n + 1) == Reason::none && now.usable(n);
        for (size_t k = 1; k < kMaxKinds; k++) runs &= g.per_task[k] <= now.free_amount(n, k);
        runs &= g.gpus <= now.free_count(n);
        double useful = 0, room = 0;  // what is on GPUs that hold the task, or its share
        const int64_t part = g.gpus ? 1000 : g.gpu_milli();
        for (unsigned gpu = 0; part && gpu < t.gpus_of(n); gpu++)
          if (now.left(n, gpu) >= part) useful += double(now.left(n, gpu)), room++;
        runs &= part == 0 || room > 0;
        fgd += count / popularity * (runs && part ? left[n] - useful : left[n]);
        used |= runs && part > 0;
      }
      if (!used) stranded += left[n] / 1000;
    }
    if (popularity > 0) sums["fgd"] += fgd * dt;
    sums["left"] += all_left * dt, sums["free"] += all_free * dt, sums["stranded"] += stranded * dt;
    for (size_t l = 0; l < t.levels().size(); l++) {
      double most = 0, largest = 0;
      std::map<double, int> cells;
      for (const Domain& d : t.domains(l)) {
        double free = 0;
        for (GpuId g = d.gpu_begin; g < d.gpu_end; g++) {
          const NodeId n = t.node_of(g);
          const unsigned local = g - t.first_gpu(n);
          free += double(now.free(n, local / 64) >> (local % 64) & 1);
        }
        most = std::max(most, free), cells[free]++, largest = std::max(largest, double(d.gpu_end - d.gpu_begin));
      }
      sums["most" + t.levels()[l]] += most * dt;
      for (uint32_t g = 1; g <= t.gpus(); g++)
        for (const auto& [free, count] : cells)
          sums["usable" + t.levels()[l] + std::to_string(g)] += count * dt * (g > largest ? (free == largest ? free : 0) : std::floor(free / g) * g);
    }
  }
};

TEST(Fragmentation, AgainstEveryStretchWithoutChange) {
  uint64_t compared = 0;
  for (uint64_t seed = 0; seed < cases() / 4; seed++) {
    Dice dice(seed);
    RandomWorld r = random_world(dice, 1 + uint32_t(seed % 30));
    no_whole_gpu_faults(r);
    r.options.check = false;
    RandomPolicy policy(seed + 1);
    Kept kept;
    Simulator s(r.topology, r.workload, policy, r.options);
    policy.run = &s;
    s.observe(kept);
    try {
      s.run();
    } catch (const NoProgress&) { continue; }
    Metrics metrics({"fragmentation"});
    kept.tell(metrics);
    const Report report = metrics.report();

    const Topology& t = r.topology;
    Occupancy now;
    now.begin(kept.header);
    Slow slow;
    std::vector<std::pair<Shape, double>> tasks;
    std::map<uint32_t, double> sizes;
    double popularity = 0;
    for (size_t i = 0; i < kept.records.size(); i++) {
      const Record& x = kept.records[i];
      now.see(x);
      if (x.what == What::submit) {
        const Shape& shape = r.workload.shapes[r.workload.jobs[x.job].shape];
        if (shape.total_gpus && shape.total_gpus <= t.gpus()) sizes[shape.total_gpus]++;
        for (TaskGroup g : shape.groups) {
          const double n = shape.nodes == Nodes::whole ? 1 : g.max_tasks;
          if (shape.nodes == Nodes::whole) g.gpus = std::min(shape.total_gpus, t.most_gpus()), g.per_task[kGpu] = int64_t{g.gpus} * kMilli;
          g.min_tasks = g.max_tasks = 1;
          Shape one;
          one.groups = {g}, one.nodes = Nodes::one, one.total_gpus = g.gpus;
          tasks.emplace_back(one, n);
          popularity += n;
        }
      }
      const Time next = i + 1 < kept.records.size() ? kept.records[i + 1].at : kept.end;
      if (next > x.at) slow.stretch(now, t, tasks, popularity, double(next - x.at));
    }
    const auto same = [&](const std::string& name, double want) {
      const double found = report.find(name)->value;
      if (std::isnan(want) || std::isinf(want)) return;
      ASSERT_NEAR(found, want, 1e-9 * std::max(1.0, std::abs(want))) << name << ", seed " << seed;
      compared++;
    };
    const double window = double(kept.end);
    if (window == 0 || t.gpus() == 0) continue;
    same("fragmentation_fgd", slow.sums["fgd"] / (window * t.gpus() * 1000));
    same("fragmentation_fgd_ratio", slow.sums["fgd"] / slow.sums["left"]);
    if (!sizes.empty()) same("stranded_gpu", slow.sums["stranded"] / window);
    for (const std::string& level : t.levels()) {
      same("largest_free_" + level, slow.sums["most" + level] / window);
      double topo = 0, jobs = 0;
      for (const auto& [g, n] : sizes) jobs += n;
      for (const auto& [g, n] : sizes) topo += n / jobs * (1 - slow.sums["usable" + level + std::to_string(g)] / slow.sums["free"]);
      if (jobs > 0) same("fragmentation_topo_" + level, topo);
    }
  }
  EXPECT_GT(compared, cases() / 2);
}

}  // namespace
}  // namespace muster
