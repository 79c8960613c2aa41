// muster trace info and muster validate: what a careful person checks before a run.
#include <algorithm>
#include <map>

#include "cli/commands.hpp"
#include "cli/inputs.hpp"
#include "text/numbers.hpp"
#include "topology/draw.hpp"
#include "workload/fits.hpp"

namespace muster::cli {
namespace {

void line(Console& console, std::string_view label, const std::string& text) {
  std::string s(label);
  s.append(s.size() < 12 ? 12 - s.size() : 1, ' ');
  console.out(s + text + "\n");
}

std::string jobs(uint64_t n) { return with_commas(int64_t(n)) + (n == 1 ? " job" : " jobs"); }

/// min, median, 90 %, max of sorted values.
template <class F>
std::string spread(const std::vector<int64_t>& sorted, F text) {
  const auto at = [&](size_t percent) { return text(sorted[(sorted.size() * percent + 99) / 100 - 1]); };
  return "least " + text(sorted.front()) + "   median " + at(50) + "   90 % " + at(90) + "   most " + text(sorted.back());
}

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

void times(const Workload& w, const TraceFacts& f, Console& console) {
  const Duration span = w.jobs.back().submit;
  std::string origin = w.origin_text.empty() ? std::to_string(w.origin / kSecond) + " s" : w.origin_text;
  line(console, "span", format_duration(span) + " from the first submit (" + origin + ") to the last");
  std::vector<int64_t> lengths;
  for (const JobTruth& t : w.truths)
    if (t.work != kNever) lengths.push_back(t.work);
  std::sort(lengths.begin(), lengths.end());
  if (!lengths.empty()) line(console, "durations", spread(lengths, [](int64_t d) { return format_duration(d); }));
  if (f.open_ended) line(console, "", jobs(f.open_ended) + " without a duration");
  if (f.zero_duration) line(console, "", jobs(f.zero_duration) + " of no length");
}

void sizes(const Workload& w, const TraceFacts& f, Console& console) {
  std::map<uint32_t, uint64_t> count;
  std::vector<int64_t> all;
  for (const Job& j : w.jobs) count[w.shapes[j.shape].total_gpus]++, all.push_back(w.shapes[j.shape].total_gpus);
  std::sort(all.begin(), all.end());
  line(console, "GPUs a job", spread(all, [](int64_t n) { return with_commas(n); }));
  std::string text;
  std::vector<std::pair<uint64_t, uint32_t>> common;
  for (const auto& [gpus, n] : count) common.emplace_back(n, gpus);
  std::stable_sort(common.begin(), common.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  for (size_t i = 0; i < std::min<size_t>(common.size(), 5); i++)
    text += (i ? "   " : "") + std::to_string(common[i].second) + ": " + jobs(common[i].first);
  line(console, "", "most common " + text);
  if (f.cpu_only) line(console, "", jobs(f.cpu_only) + " without a GPU");
}

void warn(const TraceResult& t, Console& console) {
  const TraceFacts& f = t.facts;
  for (const std::string& note : t.notes) console.warning(note);
  if (f.unsorted) console.warning(with_commas(int64_t(f.unsorted)) + " rows submit before the row above them; they are sorted");
  if (f.unknown_fates) console.warning(jobs(f.unknown_fates) + " in a state that is not known; taken as done");
  if (f.other_durations) console.warning(jobs(f.other_durations) + " whose duration is not end minus start; the difference is used");
  std::string unitless;
  for (const std::string& c : f.unitless_columns) unitless += (unitless.empty() ? "" : ", ") + c;
  if (!unitless.empty()) console.detail("no unit in the name of " + unitless + ": seconds and GiB are assumed");
  std::vector<int64_t> lengths;
  for (const JobTruth& truth : t.workload.truths)
    if (truth.work != kNever && truth.work > 0) lengths.push_back(truth.work);
  if (lengths.empty()) return;
  std::nth_element(lengths.begin(), lengths.begin() + std::ptrdiff_t(lengths.size() / 2), lengths.end());
  const Duration median = lengths[lengths.size() / 2];
  if (median > 30 * 86'400 * kSecond)
    console.warning("the median duration is " + format_duration(median) + "; is the column in milliseconds (name it duration_ms)?");
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
  if (!w.jobs.empty()) {
    times(w, l.trace.facts, console);
    sizes(w, l.trace.facts, console);
    line(console, "users", with_commas(int64_t(w.tenants.size())) + " users, " + with_commas(int64_t(w.queues.size())) + " queues");
  }
  warn(l.trace, console);
  return kDone;
}

int validate(const Arguments& a, Console& console) {
  Input topology_input;
  const Topology t = load_topology(a.want("--topology"), topology_input);
  Loaded l = load(a.want("--trace"), a);
  Workload& w = l.trace.workload;
  fit_shapes(w, t);
  rows(l.trace, console);
  line(console, "cluster", describe(t));
  warn(l.trace, console);
  std::map<std::string_view, std::vector<JobId>> never;
  std::vector<Reason> of_shape;
  for (const Shape& s : w.shapes) of_shape.push_back(never_fits(s, t));
  for (JobId j = 0; j < w.jobs.size(); j++)
    if (const Reason r = of_shape[w.jobs[j].shape]; r != Reason::none) never[to_text(r)].push_back(j);
  size_t total = 0;
  for (const auto& [_, list] : never) total += list.size();
  line(console, "never fit", jobs(total));
  for (const auto& [reason, list] : never) {
    std::string some;
    for (size_t i = 0; i < std::min<size_t>(list.size(), 5); i++) some += (i ? ", " : "") + std::string(w.names[list[i]]);
    line(console, "", with_commas(int64_t(list.size())) + " for the " + std::string(reason) + ": " + some + (list.size() > 5 ? ", ..." : ""));
  }
  // GPU time asked over GPU time there between the first submit and the last, stretched by one mean gap.
  const double n = double(w.jobs.size());
  const double span = w.jobs.empty() ? 0 : double(w.jobs.back().submit);
  if (t.gpus() == 0 || span == 0) {
    line(console, "load", "not defined: " + std::string(t.gpus() == 0 ? "the cluster has no GPU" : "all jobs are submitted at once"));
    return kDone;
  }
  Int128 asked = 0;
  for (JobId j = 0; j < w.jobs.size(); j++)
    if (w.truths[j].work != kNever) asked += Int128{w.truths[j].work} * w.shapes[w.jobs[j].shape].total_gpus;
  const double load = double(asked) / (double(t.gpus()) * span * n / (n - 1));
  char text[40];
  std::snprintf(text, sizeof text, "%.2f", load);
  line(console, "load", text);
  if (load > 1) console.warning("the offered load is " + std::string(text) + ": more than the cluster can do, so the queue grows without end");
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
            validate};
  for (const Option& o : trace_options()) c.options.push_back(o);
  return c;
}

}  // namespace muster::cli
