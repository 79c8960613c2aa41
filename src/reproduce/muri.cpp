// Muri (SIGCOMM 2022): the published numbers of three of the policies it is compared with.
#include "model/muri.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "files/read.hpp"
#include "metrics/job_rows.hpp"
#include "muster/simulator.hpp"
#include "reproduce/study.hpp"
#include "reproduce/table.hpp"
#include "text/json_config.hpp"
#include "text/numbers.hpp"

namespace muster {

namespace {

constexpr double kTolerance = 1e-6;
struct Run {
  std::string_view published, order;
};
constexpr Run kRuns[] = {{"SRTF", "srtf"}, {"SRSF", "srsf"}, {"Tiresias_L", "tiresias"}};
constexpr std::array<std::string_view, 3> kMetrics = {"avg_jct_s", "makespan_s", "p99_jct_s"};

struct Trace {
  Workload workload;
  std::vector<Duration> overheads;  // by job
};

/// Times are milliseconds in the file, and an iteration takes 1.5 % longer than there stated. `counted`: GPUs anywhere will do, since the
/// published run of Tiresias counts GPUs and places nobody; else one node, or for more than a node has wholly free nodes.
Trace read_trace(const std::string& path, bool counted, const Topology& t) {
  static constexpr std::array<std::string_view, 6> kColumns = {"job_id",     "num_gpu",    "submit_time",
                                                               "iterations", "model_name", "iteration_time"};
  Table table(path, kColumns);
  struct Row {
    Time submit;
    Duration work, overhead;
    uint32_t gpus;
    std::string id;
  };
  std::vector<Row> rows;
  while (table.next()) {
    Row& r = rows.emplace_back();
    r.id = table.word(0);
    r.gpus = uint32_t(table.number(1, t.gpus()));
    r.submit = table.number(2, int64_t{1} << 40) * 1000;
    r.work = table.number(3, int64_t{1} << 30) * table.number(5, 1 << 20) * 1015;
    try {
      r.overhead = muri_overhead(table.word(4), r.gpus);
    } catch (const InputError& e) { throw InputError(table.where() + e.what()); }
  }
  if (rows.empty()) throw InputError(path + ": no job");
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.submit < b.submit; });
  Trace out;
  Workload& w = out.workload;
  w.tenants.add(""), w.queues.add("");
  for (const Row& r : rows) {
    Shape shape;
    TaskGroup& g = shape.groups.emplace_back();
    g.gpus = counted ? 1 : r.gpus;
    g.per_task[kGpu] = g.gpus * kMilli;
    if (counted) g.min_tasks = g.max_tasks = r.gpus;
    shape.nodes = counted ? Nodes::any : Nodes::one;
    shape.total_gpus = r.gpus;
    const auto known = std::find(w.shapes.begin(), w.shapes.end(), shape);
    Job& job = w.jobs.emplace_back();
    job.submit = job.earliest_start = r.submit - rows[0].submit;
    job.shape = ShapeId(known - w.shapes.begin());
    if (known == w.shapes.end()) w.shapes.push_back(shape);
    w.truths.emplace_back().work = r.work;
    w.names.add(r.id);
    out.overheads.push_back(r.overhead);
  }
  fit_shapes(w, t);
  return out;
}

const PolicyInfo& muri_policy() {
  for (const PolicyInfo& info : builtin_policies())
    if (info.name == "muri") return info;
  throw InputError("no policy is called muri");
}

/// Runs one trace under one order. The three metrics; p99 is the published one, element floor(0.99 n) of the sorted times.
std::array<double, 3> run(const Topology& t, Trace trace, std::string_view order, std::string& csv) {
  PolicyInput in{t, trace.workload, {}, 0};
  in.parameters.set("order", Config::text(std::string(order)));
  const std::unique_ptr<Policy> policy = muri_policy().make(in);
  MuriModel model(std::move(trace.overheads));
  RunOptions options;
  options.model = &model;
  options.oracle = true;
  Simulator simulator(t, trace.workload, *policy, std::move(options));
  JobRows rows;
  simulator.observe(rows);
  simulator.run();
  std::vector<Duration> jct;
  Int128 sum = 0;
  Time last = 0;
  csv = "job_id,submit_us,end_us\n";
  for (JobId j = 0; j < trace.workload.jobs.size(); j++) {
    const JobRow& r = rows.rows()[j];
    jct.push_back(r.end - r.submit);
    sum += jct.back();
    last = std::max(last, r.end);
    csv += std::string(trace.workload.names[j]) + "," + std::to_string(r.submit) + "," + std::to_string(r.end) + "\n";
  }
  std::sort(jct.begin(), jct.end());
  const auto seconds = [](double ticks) { return ticks / double(kSecond); };
  return {seconds(double(sum) / double(jct.size())), seconds(double(last)), seconds(double(jct[jct.size() * 99 / 100]))};
}

double as_number(const Config& c) {
  double x = 0;
  const auto end = c.value.data() + c.value.size();
  if (c.kind != Config::Kind::number || std::from_chars(c.value.data(), end, x).ptr != end || x <= 0)
    throw InputError(c.where + ": want a number above 0");
  return x;
}

StudyResult reproduce(const StudyInput& in) {
  static constexpr std::array<std::string_view, 3> kCluster = {"num_switch", "num_node_p_switch", "num_gpu_p_node"};
  Table cluster(in.data + "/n8g8.csv", kCluster);
  if (!cluster.next()) throw InputError(in.data + "/n8g8.csv: no cluster");
  const auto count = [&](size_t column) { return std::to_string(cluster.number(column, 1000)); };
  const Topology t = Topology::parse_line("switch:" + count(0) + " node:" + count(1) + " gpu:" + count(2));
  const std::string path = in.data + "/expected.json";
  const Config published = parse_json_config(read_file(path), path);
  const auto want = [](const Config& c, std::string_view name) -> const Config& {
    const Config* f = c.find(name);
    if (!f) throw InputError(c.where + ": no \"" + std::string(name) + "\"");
    return *f;
  };
  StudyResult out;
  out.holds = true;
  out.text = "Muri (SIGCOMM 2022), simulator: " + std::to_string(t.nodes()) + " nodes, " + std::to_string(t.gpus()) +
             " GPUs; seconds\n\n"
             "trace      policy      metric               ours           published   relative\n";
  const Config& results = want(published, "results");
  for (const auto& [trace, first] : want(want(results, kRuns[0].published), kMetrics[0]).fields)
    for (const Run& r : kRuns) {
      std::string csv;
      const auto ours = run(t, read_trace(in.data + "/" + trace + ".csv", r.order == "tiresias", t), r.order, csv);
      out.files.push_back({trace + "-" + std::string(r.order) + ".csv", csv});
      for (size_t m = 0; m < kMetrics.size(); m++) {
        const double theirs = as_number(want(want(want(results, r.published), kMetrics[m]), trace)), off = ours[m] / theirs - 1;
        out.holds &= std::abs(off) <= kTolerance;
        char line[160];
        std::snprintf(line, sizeof line, "%-10.30s %-11.30s %-11.30s %18.6f %19.6f %10.1e%s\n", trace.c_str(),
                      std::string(r.published).c_str(), std::string(kMetrics[m]).c_str(), ours[m], theirs, off,
                      std::abs(off) <= kTolerance ? "" : "  OFF");
        out.text += line;
      }
    }
  out.text += out.holds ? "\nall within 1e-6 of what was published\n" : "\nnot all within 1e-6 of what was published\n";
  return out;
}

}  // namespace

Study muri_study() { return {"muri", "SRTF, SRSF and Tiresias-L as the Muri paper has them", "papers/muri", reproduce}; }

}  // namespace muster
