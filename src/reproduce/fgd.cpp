// FGD (Weng et al., USENIX ATC 2023): allocation and fragmentation of six policies while the pods of a production cluster arrive.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "muster/fragmentation.hpp"
#include "muster/random.hpp"
#include "muster/simulator.hpp"
#include "reproduce/study.hpp"
#include "reproduce/table.hpp"
#include "text/json_config.hpp"
#include "topology/import/import.hpp"

namespace muster {

namespace {

constexpr double kTolerance = 0.5;  // percentage points
constexpr uint64_t kSeeds = 10;     // of the publication
constexpr int kArrived = 130;       // per cent of the cluster's GPUs that are asked for in the end

struct Rival {
  std::string_view published, place;
  bool ties;  // chosen by score: of equal nodes the first in a random permutation, which the published numbers depend on
};
constexpr Rival kRivals[] = {{"Random", "uniform", false},           {"DotProd", "dot-product", true}, {"GpuClustering", "gpu-clustering", true},
                             {"GpuPacking", "gpu-packing", true},    {"BestFit", "best-fit", true},    {"FGD", "fgd", true}};

/// A number that the publication has means of: allocated or fragmented GPUs, in per cent of all, when so many per cent have arrived.
struct Metric {
  std::string name;
  bool allocation = true;
  int arrived = 0;
};

struct Pods {
  std::vector<Shape> shapes;
  std::vector<ShapeId> list;  // in the order of the file
  int64_t milli = 0;          // GPUs that all of them ask for
};

Pods read_pods(const std::string& path) {
  static constexpr std::array<std::string_view, 5> kColumns = {"cpu_milli", "memory_mib", "num_gpu", "gpu_milli", "gpu_spec?"};
  Table table(path, kColumns);
  Pods pods;
  while (table.next()) {
    Shape shape;
    TaskGroup& g = shape.groups.emplace_back();
    g.per_task[kCpu] = table.number(0, int64_t{1} << 40);
    g.per_task[kMem] = table.number(1, int64_t{1} << 40);
    const auto gpus = uint32_t(table.number(2, 1 << 16));
    const int64_t milli = table.number(3, kMilli);
    if (gpus > 1 ? milli != kMilli : (gpus == 1) != (milli > 0)) throw InputError(table.where() + "gpu_milli does not go with num_gpu");
    if (milli == kMilli) g.gpus = shape.total_gpus = gpus;
    g.per_task[kGpu] = gpus * milli;
    for (std::string_view types = table.word(4); !types.empty();) {
      const size_t end = std::min(types.find('|'), types.size());
      g.gpu_types.emplace_back(types.substr(0, end));
      types.remove_prefix(std::min(end + 1, types.size()));
    }
    const auto known = std::find(pods.shapes.begin(), pods.shapes.end(), shape);
    pods.list.push_back(ShapeId(known - pods.shapes.begin()));
    pods.milli += shape.total_milli();
    if (known == pods.shapes.end()) pods.shapes.push_back(std::move(shape));
  }
  if (pods.list.empty()) throw InputError(path + ": no pod");
  return pods;
}

Workload workload_of(const Pods& pods, std::span<const ShapeId> order) {
  Workload w;
  w.shapes = pods.shapes;
  w.tenants.add(""), w.queues.add("");
  w.jobs.resize(order.size());
  w.truths.resize(order.size());
  for (size_t i = 0; i < order.size(); i++) {
    w.jobs[i].submit = w.jobs[i].earliest_start = Time(i) * kSecond;
    w.jobs[i].shape = order[i];
    w.truths[i].work = kNever;
    w.names.add(std::to_string(i));
  }
  return w;
}

/// The pods of one run: all in random order, then random ones again until they ask for 130 % of the GPUs, or random ones left out until they
/// ask for no more.
Workload arrivals(const Pods& pods, const Topology& t, uint64_t seed) {
  Random random(seed, "fgd-pods");
  std::vector<ShapeId> order = pods.list;
  for (size_t i = order.size(); i > 1; i--) std::swap(order[i - 1], order[random.below(i)]);
  const int64_t want = int64_t{t.gpus()} * kMilli * kArrived / 100;
  int64_t milli = pods.milli;
  while (milli > want) {
    const auto at = order.begin() + ptrdiff_t(random.below(order.size()));
    milli -= pods.shapes[*at].total_milli();
    order.erase(at);
  }
  while (pods.milli < want) {
    const ShapeId s = pods.list[random.below(pods.list.size())];
    const int64_t of_each = std::min<int64_t>(pods.shapes[s].total_milli(), kMilli);  // theirs stops by what a pod asks of each GPU
    if (milli + of_each > want) break;
    milli += pods.shapes[s].total_milli();
    order.push_back(s);
  }
  return workload_of(pods, order);
}

/// Follows one run: after each arrival what has arrived, what is allocated, how much of the rest is fragmented.
class Watch final : public Observer {
 public:
  Watch(const Topology& t, Fragmentation& f) : t_(t), f_(f), nodes_(t.nodes()) {
    for (NodeId n = 0; n < t.nodes(); n++) {
      nodes_[n].cpu = t.kind(n).capacity[kCpu];
      nodes_[n].left.assign(t.gpus_of(n), int32_t(kMilli));
      nodes_[n].type = f.type(t.kind(n).gpu_type);
      nodes_[n].fragmented = fragmented(n);
      fragmented_ += nodes_[n].fragmented;
    }
  }
  void begin(const Header& h) override { workload_ = h.workload; }
  void see(std::span<const Record> records) override {
    for (const Record& r : records) {
      if (r.what == What::submit) {
        if (arrived_any_) point();
        arrived_any_ = true;
        arrived_ += shape(r.job).total_milli();
      }
      held_ += r.what == What::start ? r.held : 0;
      if (r.what == What::start)
        for (const Piece& p : r.pieces) hold(r.job, p);
    }
  }
  void finish(Time) override { point(); }
  /// Mean over the arrivals that round to `arrived` per cent, of per cent of all GPUs; over those one off when there are none.
  double at(int arrived, bool allocation) const {
    double sum = 0;
    int64_t count = 0;
    for (int off = 0; off <= 1 && count == 0; off++)
      for (int i = std::max(arrived - off, 0); i <= arrived + off && i < int(points_.size()); i++)
        sum += allocation ? double(points_[size_t(i)].held) : points_[size_t(i)].fragmented, count += points_[size_t(i)].count;
    return count ? 100 * sum / double(count) / (double(kMilli) * t_.gpus()) : std::nan("");
  }

 private:
  struct Node {
    int64_t cpu = 0, fragmented = 0;  // fragmented: times tasks
    std::vector<int32_t> left;
    uint32_t type = 0;
  };
  struct Point {
    int64_t held = 0, count = 0;
    double fragmented = 0;
  };
  const Shape& shape(JobId j) const { return workload_->shapes[workload_->jobs[j].shape]; }
  int64_t fragmented(NodeId n) {
    NodeLeft left{nodes_[n].cpu, {}, 0, {}};
    parts_.clear();
    for (const int32_t m : nodes_[n].left) m == kMilli ? void(left.whole++) : m ? parts_.push_back(m) : void();
    left.parts = parts_;
    return f_.sum(left, nodes_[n].type);
  }
  void hold(JobId j, const Piece& p) {
    Node& n = nodes_[p.node];
    n.cpu -= shape(j).groups[p.group].per_task[kCpu] * p.tasks;
    if (p.share == Share::slice) n.left[p.gpu()] -= int32_t(p.size());
    for (uint64_t m = p.share == Share::whole ? p.what : 0; m; m &= m - 1) n.left[p.word * 64u + unsigned(std::countr_zero(m))] = 0;
    fragmented_ -= n.fragmented;
    fragmented_ += n.fragmented = fragmented(p.node);
  }
  void point() {
    const auto at = size_t(std::nearbyint(100 * double(arrived_) / (double(kMilli) * t_.gpus())));
    if (at >= points_.size()) points_.resize(at + 1);
    points_[at].held += held_, points_[at].count++;
    points_[at].fragmented += double(fragmented_) / double(f_.tasks());
  }
  const Topology& t_;
  Fragmentation& f_;
  const Workload* workload_ = nullptr;
  std::vector<Node> nodes_;
  std::vector<int32_t> parts_;
  std::vector<Point> points_;
  bool arrived_any_ = false;
  int64_t arrived_ = 0, held_ = 0;
  int64_t fragmented_ = 0;
};

void run(const Topology& t, const Workload& w, const Rival& rival, uint64_t seed, Watch& watch) {
  PolicyInput in{t, w, {}, seed};
  in.parameters.set("place", Config::text(std::string(rival.place)));
  in.parameters.set("blocked", Config::text("drop"));
  if (rival.ties) in.parameters.set("tie", Config::text("permutation"));
  const auto policies = builtin_policies();
  const auto list = std::find_if(policies.begin(), policies.end(), [](const PolicyInfo& p) { return p.name == "list"; });
  const std::unique_ptr<Policy> policy = list->make(in);
  RunOptions options;
  options.until = Time(w.jobs.size()) * kSecond;  // nobody leaves
  Simulator simulator(t, w, *policy, std::move(options));
  simulator.observe(watch);
  simulator.run();
}

double number(const Config& c) {
  double v = 0;
  const auto [end, error] = std::from_chars(c.value.data(), c.value.data() + c.value.size(), v);
  if (error != std::errc{} || end != c.value.data() + c.value.size() || !std::isfinite(v)) throw InputError(c.where + ": want a number");
  return v;
}

const Config& field(const Config& c, std::string_view name) {
  const Config* f = c.find(name);
  if (!f) throw InputError(c.where + ": no " + std::string(name));
  return *f;
}

Metric metric_called(const std::string& name, const std::string& where) {
  for (const bool allocation : {true, false}) {
    const std::string_view stem = allocation ? "allocation_pct_at_arrived_" : "fragmentation_pct_at_arrived_";
    if (!name.starts_with(stem)) continue;
    if (const auto at = whole_number(std::string_view(name).substr(stem.size())); at && *at >= 0 && *at <= kArrived) return {name, allocation, int(*at)};
  }
  throw InputError(where + ": " + in_quotes(name) + " is no metric: want allocation_pct_at_arrived_N or fragmentation_pct_at_arrived_N, N up to 130");
}

struct Moments {
  double mean = 0, sd = 0;
};
Moments moments(std::span<const double> v) {
  Moments m;
  for (const double x : v) m.mean += x / double(v.size());
  for (const double x : v) m.sd += (x - m.mean) * (x - m.mean);
  m.sd = v.size() > 1 ? std::sqrt(m.sd / double(v.size() - 1)) : 0;
  return m;
}

template <class... Args> std::string format(const char* how, Args... args) {
  std::array<char, 200> text{};
  std::snprintf(text.data(), text.size(), how, args...);
  return text.data();
}

StudyResult study(const StudyInput& in) {
  const std::string nodes_file = in.data + "/openb_node_list_gpu_node.csv", expected_file = in.data + "/expected.json";
  const std::string nodes = read_file(nodes_file);
  const ImportSource source{nodes_file, nodes};
  const Topology t = Topology::build(import_topology({&source, 1}).spec);
  const Config expected = parse_json_config(read_file(expected_file), expected_file);
  const uint64_t seeds = in.seeds ? in.seeds : kSeeds;

  StudyResult out;
  std::string per_seed = "workload,policy,seed,metric,value\n", curves = "workload,policy,seed,arrived_pct,allocation_pct,fragmentation_pct\n";
  std::string summary = "workload,policy,metric,ours_mean,ours_sd,published_mean,published_sd,difference\n";
  size_t cells = 0, good = 0;
  for (const auto& [workload, policies] : field(expected, "workloads").fields) {
    const Pods pods = read_pods(in.data + "/openb_pod_list_" + workload + ".csv");
    Fragmentation fragmentation(task_classes(workload_of(pods, pods.list)));
    out.text += workload + ": " + with_commas(int64_t(pods.list.size())) + " pods, " + std::to_string(fragmentation.classes().size()) +
                " classes of tasks; in per cent of " + with_commas(t.gpus()) + " GPUs, mean of " + std::to_string(seeds) + (seeds == 1 ? " seed" : " seeds") +
                " and of " + std::to_string(kSeeds) + " published\n";
    out.text += format("  %-14s%-15s%-8s%10s%11s%11s\n", "policy", "", "arrived", "ours", "published", "difference");
    std::vector<Workload> runs;
    for (uint64_t seed = 1; seed <= seeds; seed++) runs.push_back(arrivals(pods, t, seed));
    for (const auto& [name, published] : policies.fields) {
      const auto* rival = std::find_if(std::begin(kRivals), std::end(kRivals), [&name = name](const Rival& r) { return r.published == name; });
      if (rival == std::end(kRivals)) throw InputError(published.where + ": " + in_quotes(name) + " is none of the six policies");
      std::vector<Watch> watches;
      for (uint64_t seed = 1; seed <= seeds; seed++) {
        Watch& watch = watches.emplace_back(t, fragmentation);
        run(t, runs[seed - 1], *rival, seed, watch);
        for (int a = 0; a <= kArrived; a++)
          curves += format("%s,%s,%llu,%d,%.4f,%.4f\n", workload.c_str(), name.c_str(), static_cast<unsigned long long>(seed), a, watch.at(a, true), watch.at(a, false));
      }
      bool first = true;
      for (const auto& [metric_name, numbers] : published.fields) {
        const Metric metric = metric_called(metric_name, published.where);
        std::vector<double> values;
        for (uint64_t seed = 1; seed <= seeds; seed++) {
          values.push_back(watches[seed - 1].at(metric.arrived, metric.allocation));
          per_seed += format("%s,%s,%llu,%s,%.4f\n", workload.c_str(), name.c_str(), static_cast<unsigned long long>(seed), metric.name.c_str(), values.back());
        }
        const Moments ours = moments(values);
        const Moments theirs{number(field(numbers, "mean")), number(field(numbers, "sd"))};
        const double difference = ours.mean - theirs.mean;
        // With fewer seeds than published, the means of both may stray by what the seeds do.
        const double stray = seeds < kSeeds ? 3 * theirs.sd * std::sqrt(1 / double(kSeeds) + 1 / double(seeds)) : 0;
        const bool within = std::abs(difference) <= kTolerance + stray;
        cells++, good += within;
        out.text += format("  %-14s%-15s%5d %% %9.2f%11.2f%+11.2f%s\n", first ? name.c_str() : "", metric.allocation ? "allocation" : "fragmentation",
                           metric.arrived, ours.mean, theirs.mean, difference, within ? "" : "  too far");
        summary += format("%s,%s,%s,%.4f,%.4f,%.4f,%.4f,%.4f\n", workload.c_str(), name.c_str(), metric.name.c_str(), ours.mean, ours.sd, theirs.mean, theirs.sd, difference);
        first = false;
      }
    }
    out.text += "\n";
  }
  out.holds = cells > 0 && good == cells;
  out.text += std::to_string(good) + " of " + std::to_string(cells) + " means within " + format("%.1f", kTolerance) + " points of the published ones" +
              (seeds < kSeeds ? " and what " + std::to_string(seeds) + " seeds may stray" : "") + (out.holds ? ": holds\n" : ": does not hold\n");
  out.files = {{"seeds.csv", std::move(per_seed)}, {"curves.csv", std::move(curves)}, {"summary.csv", std::move(summary)}};
  return out;
}

}  // namespace

Study fgd_study() { return {"fgd", "FGD and five rivals: GPUs allocated and fragmented while pods arrive (USENIX ATC 2023)", "papers/fgd", study}; }

}  // namespace muster
