// muster trace info and muster validate: what a careful person checks before a run.
#include <algorithm>
#include <cmath>

#include "cli/commands.hpp"
#include "cli/inputs.hpp"
#include "text/numbers.hpp"
#include "topology/draw.hpp"
#include "workload/info.hpp"

namespace muster::cli {
namespace {

void line(Console& console, std::string_view label, const std::string& text) {
  std::string s(label);
  s.append(s.size() < 12 ? 12 - s.size() : 1, ' ');
  console.out(s + text + "\n");
}

std::string jobs(uint64_t n) { return with_commas(int64_t(n)) + (n == 1 ? " job" : " jobs"); }

void rows(const TraceResult& t, Console& console) {
  uint64_t left_out = 0;
  for (const LeftOut& r : t.left_out) left_out += r.count;
  line(console, "rows", with_commas(int64_t(t.rows)) + ": " + with_commas(int64_t(t.workload.jobs.size())) + " used, " +
                            with_commas(int64_t(left_out)) + " left out");
  for (const LeftOut& r : t.left_out) {
    line(console, "", with_commas(int64_t(r.count)) + " " + std::string(r.phrase));
    for (const std::string& example : r.examples) line(console, "", "  " + example);
  }
}

void columns(const TraceFacts& f, Console& console) {
  std::string used, unused;
  for (const auto& [field, column] : f.columns) used += (used.empty() ? "" : ", ") + field + (field == column ? "" : " = " + column);
  for (const std::string& c : f.unused_columns) unused += (unused.empty() ? "" : ", ") + c;
  line(console, "columns", used);
  if (!unused.empty()) line(console, "", "not used: " + unused);
}

std::string gpu_hours(Int128 gpu_time) {
  return with_commas(int64_t(gpu_time / (Int128{3600} * kSecond))) + " GPU h";
}

void body(const TraceResult& t, const TraceInfo& info, Console& console) {
  const Workload& w = t.workload;
  const std::string origin = w.origin_text.empty() ? std::to_string(w.origin / kSecond) + " s" : w.origin_text;
  line(console, "span", format_duration(info.span) + " from the first submit (" + origin + ") to the last");
  line(console, "duration", "least " + format_duration(info.shortest) + "   median " + format_duration(info.p50) + "   p90 " +
                                format_duration(info.p90) + "   p99 " + format_duration(info.p99) + "   most " + format_duration(info.longest));
  const auto some = [&](uint64_t n, const char* what) {
    if (n) line(console, "", jobs(n) + " " + what);
  };
  some(t.facts.open_ended, "without a duration");
  some(t.facts.zero_duration, "of no length");
  line(console, "GPU time", gpu_hours(info.gpu_time) + " asked");
  size_t shown = 0;
  for (const auto& [gpus, size] : info.sizes) {
    if (shown++ == 12) {
      line(console, "", std::to_string(info.sizes.size() - 12) + " more sizes, up to " + with_commas(info.sizes.rbegin()->first) + " GPUs");
      break;
    }
    line(console, "", std::to_string(gpus) + (gpus == 1 ? " GPU:  " : " GPUs: ") + jobs(size.jobs) + ", " + gpu_hours(size.gpu_time));
  }
  const auto most = [&](const char* label, const std::vector<TraceInfo::Share>& list) {
    std::string text = with_commas(int64_t(list.size()));
    for (size_t i = 0; i < std::min<size_t>(list.size(), 3); i++)
      if (!list[i].name.empty()) text += (i ? ", " : "; most jobs: ") + list[i].name + " " + with_commas(int64_t(list[i].jobs));
    line(console, label, text);
  };
  most("users", info.tenants);
  most("queues", info.queues);
  some(info.gangs, "of more than one task");
  some(info.elastic, "may run with fewer tasks than they ask");
  some(info.estimates, "with an estimate");
  some(info.too_short_estimates, "run longer than their estimate");
  some(info.limits, "with a time limit");
  some(info.too_short_limits, "run longer than their limit");
  some(info.deadlines, "with a deadline");
  some(info.impossible_deadlines, "cannot meet their deadline");
}

void warn(const TraceResult& t, const TraceInfo& info, Console& console) {
  const TraceFacts& f = t.facts;
  for (const std::string& note : t.notes) console.warning(note);
  if (f.unsorted) console.warning(with_commas(int64_t(f.unsorted)) + " rows submit before the row above them; they are sorted");
  if (info.equal_jobs) console.warning(jobs(info.equal_jobs) + " say the same as another one");
  if (f.unknown_fates) console.warning(jobs(f.unknown_fates) + " in a state that is not known; taken as done");
  if (f.other_durations) console.warning(jobs(f.other_durations) + " whose duration is not end minus start; the difference is used");
  for (const std::string& s : info.suspicions) console.warning(s);
}

struct Loaded {
  Input input;
  TraceResult trace;
};

Loaded load(std::string_view name, const Arguments& a) {
  Loaded l;
  l.input = load_trace_text(name);
  l.trace = read_trace(l.input.text, l.input.name, trace_options_from(a));
  return l;
}

int info(const Arguments& a, Console& console) {
  if (a.words()[0] != "info") throw InputError("muster trace knows info, not " + in_quotes(a.words()[0]) + " (muster trace info FILE)");
  if (a.words().size() < 2) throw InputError("usage: muster trace info FILE");
  const Loaded l = load(a.words()[1], a);
  const Workload& w = l.trace.workload;
  rows(l.trace, console);
  columns(l.trace.facts, console);
  const TraceInfo found = trace_info(l.trace);
  if (!w.jobs.empty()) body(l.trace, found, console);
  warn(l.trace, found, console);
  return kDone;
}

int check(const Arguments& a, Console& console) {
  Input topology_input;
  const Topology t = load_topology(a.want("--topology"), topology_input);
  Loaded l = load(a.want("--trace"), a);
  Workload& w = l.trace.workload;
  fit_shapes(w, t);
  rows(l.trace, console);
  line(console, "cluster", describe(t));
  warn(l.trace, trace_info(l.trace), console);
  const Validation v = validate(w, t);
  uint64_t total = 0;
  for (const Validation::Misfit& m : v.misfits) total += m.jobs;
  line(console, "never fit", jobs(total));
  for (const Validation::Misfit& m : v.misfits)
    line(console, "", with_commas(int64_t(m.jobs)) + " for the " + std::string(to_text(m.reason)) + ", as " + std::string(w.names[m.first]));
  if (std::isnan(v.load)) {
    line(console, "load", t.gpus() == 0 ? "not defined: the cluster has no GPU" : "not defined: all jobs are submitted at once");
    return kDone;
  }
  char text[40];
  std::snprintf(text, sizeof text, "%.2f", v.load);
  line(console, "load", text);
  if (v.load > 1) console.warning("the offered load is " + std::string(text) + ": more than the cluster can do, so the queue grows");
  return kDone;
}

}  // namespace

Command trace_command() {
  return {"trace",
          "say what is in a trace",
          "info FILE [--map FIELD=COLUMN ...]",
          "  muster trace info jobs.csv\n"
          "  muster trace info jobs.csv --map gpus=num_gpu --map submit=queued_at\n",
          trace_options(),
          1,
          2,
          info};
}

Command validate_command() {
  Command c{"validate",
            "check a trace against a topology before a run",
            "--topology X --trace FILE [options]",
            "  muster validate --topology dgx-a100-16 --trace jobs.csv\n",
            {{"--topology", "X", "a file, \"rack:4 node:8 gpu:8\" or a shipped name"},
             {"--trace", "FILE", "jobs as CSV or JSONL, also .gz and .zst; - is standard input"}},
            0,
            0,
            check};
  for (const Option& o : trace_options()) c.options.push_back(o);
  return c;
}

}  // namespace muster::cli
