#include <chrono>
#include <deque>

#include "cli/commands.hpp"
#include "cli/inputs.hpp"
#include "cli/model.hpp"
#include "files/write.hpp"
#include "metrics/job_rows.hpp"
#include "metrics/metrics.hpp"
#include "report/jobs_csv.hpp"
#include "report/records.hpp"
#include "report/report_json.hpp"
#include "report/summary.hpp"

namespace muster::cli {
namespace {

/// Ends the run at the next instant after a signal.
class StopOnSignal : public Observer {
 public:
  void see(std::span<const Record>) override {
    if (interrupted()) throw Interrupted{};
  }
};

/// Everything of one run. Lives until the process ends: its million small parts need no taking apart.
struct Session {
  Input topology_input, trace, events;
  std::unique_ptr<Topology> topology;
  TraceResult read;
  ChosenPolicy policy;
  std::unique_ptr<Model> model;
  RunOptions options;
  Header header;
};

int run(const Arguments& a, Console& console) {
  const auto began = std::chrono::steady_clock::now();
  Session& s = *new Session;
  const std::string_view topology_name = a.want("--topology"), trace_name = a.want("--trace");
  const std::string out(a.get("--out"));
  if (a.has("--records") && out.empty()) throw InputError("--records wants --out DIR, the folder to write records.jsonl to");
  if (a.has("--out") && out.empty()) throw InputError("option --out: want the name of a folder");
  s.policy = choose_policy(a.get("--policy", "fifo"), a.all("--set"));
  s.topology = std::make_unique<Topology>(load_topology(topology_name, s.topology_input));
  s.trace = load_trace_text(trace_name);
  s.read = read_trace(s.trace.text, s.trace.name, trace_options_from(a));
  tell_dropped_rows(s.read, console);
  Workload& workload = s.read.workload;
  fit_shapes(workload, *s.topology);

  Header& h = s.header;
  h.inputs = {{"trace", s.trace.provenance()}, {"topology", s.topology_input.provenance()}};
  std::string().swap(s.trace.text);  // tens of bytes a job that nobody reads again
  if (a.has("--events")) {
    s.options.events = load_events(a.get("--events"), *s.topology, workload, s.events);
    h.inputs.emplace_back("events", s.events.provenance());
  }
  if (a.has("--model")) {
    const ChosenModel chosen = choose_model(a.get("--model"));
    std::vector<std::string> notes;
    s.model = chosen.make(*s.topology, workload, notes);
    for (const std::string& note : notes) console.warning(note);
    s.options.model = s.model.get();
    if (s.model) h.metrics.emplace_back("locality");  // what the model did
    h.inputs.emplace_back("model", chosen.provenance());
  }
  std::string how;  // the other options that change a result, so that the run can be repeated
  for (const Option& o : trace_options())
    for (const std::string& value : o.value.empty() ? std::span<const std::string>() : a.all(o.long_name()))
      how += (how.empty() ? "" : " ") + std::string(o.long_name()) + " " + value;
  for (const Option& o : trace_options())
    if (o.value.empty() && a.has(o.long_name())) how += (how.empty() ? "" : " ") + std::string(o.long_name());
  if (a.has("--metrics")) {
    for (std::string& name : metrics_from(a))
      if (name != "locality" || !s.model) h.metrics.push_back(std::move(name));
    how += (how.empty() ? "" : " ") + std::string("--metrics ") + std::string(a.get("--metrics"));
  }
  if (!how.empty()) h.inputs.emplace_back("options", how);
  h.policy = s.policy.name;
  h.parameters = s.policy.all();
  h.seed = a.number("--seed", 0, 0, std::numeric_limits<int64_t>::max());
  h.rows = s.read.rows;
  for (const LeftOut& reason : s.read.left_out) h.dropped_rows.emplace_back(reason.reason, reason.count);
  if (a.has("--until")) {
    try {
      s.options.until = parse_duration(a.get("--until"));
    } catch (const InputError& e) { throw InputError(std::string("option --until: ") + e.what()); }
  }
  h.until = s.options.until;
  s.options.check = a.has("--check");
  s.options.oracle = s.policy.info->needs_oracle;
  s.options.header = h;
  h.topology = s.topology.get();
  h.workload = &workload;

  Policy& policy = *s.policy.info->make({*s.topology, workload, s.policy.given, h.seed}).release();
  Simulator& simulator = *new Simulator(*s.topology, workload, policy, std::move(s.options));
  Metrics& metrics = *new Metrics;
  StopOnSignal stop;
  JobRows& rows = *new JobRows;
  std::deque<OutFile> files;
  const auto file = [&](const char* name) -> OutFile& { return files.emplace_back(out + "/" + name); };
  std::unique_ptr<RecordWriter> records;
  simulator.observe(stop);
  simulator.observe(metrics);
  if (!out.empty()) simulator.observe(rows);
  if (a.has("--records")) {
    records = std::make_unique<RecordWriter>(file("records.jsonl"));
    simulator.observe(*records);
  }
  simulator.run();

  const Report report = metrics.report();
  const std::string json = a.has("--json") || !out.empty() ? report_json(report, h) : "";
  if (!out.empty()) {
    OutFile& table = file("jobs.csv");
    jobs_csv(rows, h, [&](std::string_view text) { table.write(text); });
    file("report.json").write(json);
  }
  if (interrupted()) throw Interrupted{};
  for (OutFile& f : files) f.commit();
  if (a.has("--json")) console.out(json);
  else if (!console.quiet || out.empty()) console.out(summary(report, h, trace_name, topology_name));
  console.flush();
  if (!out.empty()) {
    char seconds[40];
    std::snprintf(seconds, sizeof seconds, "%.2f s", std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
    std::string written;
    for (auto f = files.rbegin(); f != files.rend(); ++f) written += (written.empty() ? "" : ", ") + f->path();
    console.note(std::string(seconds) + "; wrote " + written);
  }
  if (const Metric* settled = report.find("stationary"); settled && settled->value == 0)
    console.warning("the run is not stationary: completion times drift, or more than half of it is warm-up; its means depend on where the trace ends");
  const Metric* unfinished = report.find("jobs_unfinished");
  return unfinished && unfinished->value > 0 ? kFailed : kDone;
}

}  // namespace

Command run_command() {
  Command c{"run",
            "replay a trace on a topology under a policy",
            "--topology X --trace FILE [--policy P] [options]",
            "  muster run --topology dgx-a100-16 --trace campus --policy fifo\n"
            "  muster run --topology \"node:32 gpu:8\" --trace jobs.csv --policy sjf --set blocked=skip\n"
            "  muster run --topology cluster.json --trace jobs.csv.zst --map gpus=num_gpu --out out\n",
            {{"--topology", "X", "a file, \"rack:4 node:8 gpu:8\" or a shipped name"},
             {"--trace", "FILE", "jobs as CSV or JSONL, also .gz and .zst; - is standard input"},
             {"--policy", "P", "name, .json or .so (`muster policies` lists them); default fifo"},
             {"--set", "NAME=VALUE", "a parameter of the policy", true}},
            0,
            0,
            run};
  for (const Option& o : trace_options()) c.options.push_back(o);
  for (const Option& o :
       {Option{"--model", "M", "how fast a job runs where it is (`muster models` lists them)"},
        Option{"--events", "FILE", "nodes down and up, drains, quotas, cancels"},
        Option{"--until", "T", "cut the run T after the first submit (90s, 2h, 1-00:00:00)"},
        Option{"--metrics", "NAMES", "more families of metrics: locality,anomaly,... or all"},
        Option{"--seed", "N", "of everything random; default 0"}, Option{"--check", "", "verify every invariant after each pass (slow)"},
        Option{"--out", "DIR", "write report.json and jobs.csv there"},
        Option{"--records", "", "and records.jsonl, every single thing that happened"},
        Option{"--json", "", "print report.json instead of the summary"}})
    c.options.push_back(o);
  return c;
}

}  // namespace muster::cli
