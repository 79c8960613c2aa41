#include "cli/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "cli/commands.hpp"
#include "cli/inputs.hpp"
#include "muster/config.hpp"
#include "text/numbers.hpp"
#include "muster/fits.hpp"
#include "muster/simulator.hpp"
#include "workload/info.hpp"
#include "workload/message.hpp"
#include "workload/numbers.hpp"

namespace muster::cli {
namespace {

constexpr size_t kLabel = 12;
constexpr size_t kMostSizes = 12;

void line(std::string& out, std::string_view label, std::string_view text) { out += fmt::format("{:<{}}{}\n", label, kLabel, text); }

std::string plural(uint64_t n, std::string_view one) { return with_commas(int64_t(n)) + " " + std::string(one) + (n == 1 ? "" : "s"); }

/// Words with commas between, broken into lines of at most 80 columns.
void words(std::string& out, std::string_view label, const std::vector<std::string>& list) {
  std::string row;
  for (const auto& word : list) {
    if (!row.empty() && kLabel + row.size() + 1 + word.size() > 80) line(out, label, row), row.clear(), label = "";
    row += (row.empty() ? "" : " ") + word;
  }
  if (!row.empty()) line(out, label, row);
}

std::string gpu_hours(Int128 milli_gpu_ticks) { return fmt::format("{:.1f} GPU-hours", double(milli_gpu_ticks) / 3.6e12); }

std::string percent(double part, double all) { return all > 0 ? fmt::format("{:.1f} %", 100 * part / all) : "-"; }

std::string busiest(const std::vector<TraceInfo::Share>& shares, size_t jobs) {
  std::string s = with_commas(int64_t(shares.size()));
  for (size_t i = 0; i < shares.size() && i < 3 && shares.size() > 1; i++)
    s += fmt::format("{}{} {}", i ? ", " : ", most jobs: ", printable(shares[i].name), percent(double(shares[i].jobs), double(jobs)));
  return s;
}

void describe_sizes(std::string& out, const TraceInfo& info, size_t jobs) {
  out += fmt::format("{:<{}}{:>10}{:>12}{:>10}{:>14}\n", "sizes", kLabel, "GPUs", "jobs", "share", "of GPU time");
  const auto row = [&](const std::string& gpus, const TraceInfo::Size& s) {
    out += fmt::format("{:<{}}{:>10}{:>12}{:>10}{:>14}\n", "", kLabel, gpus, with_commas(int64_t(s.jobs)), percent(double(s.jobs), double(jobs)),
                       percent(double(s.gpu_time), double(info.gpu_time)));
  };
  size_t i = 0;
  TraceInfo::Size rest;
  std::string first;
  for (const auto& [milli, size] : info.sizes) {
    const std::string gpus = milli % kMilli ? fmt::format("{:g}", double(milli) / kMilli) : with_commas(milli / kMilli);
    if (++i <= kMostSizes || info.sizes.size() == kMostSizes + 1) {
      row(gpus, size);
    } else {
      if (first.empty()) first = gpus;
      rest.jobs += size.jobs, rest.gpu_time += size.gpu_time;
    }
  }
  if (rest.jobs) row(first + " and more", rest);
}

int info(const Arguments& a, Console& console) {
  if (a.words()[0] != "info") throw InputError("muster trace: want info, found " + in_quotes(a.words()[0]));
  const Input input = load_trace_text(a.words()[1]);
  console.out(describe_trace(read_trace(input.text, input.name, trace_options_from(a)), input.name));
  return kDone;
}

/// What a policy refuses as it comes, and the reason in words where the policy notes one ("refused" {job, why}).
class Refusals final : public Observer {
 public:
  explicit Refusals(const Workload& w) : workload_(w) {}
  void see(std::span<const Record> records) override {
    for (const Record& r : records) {
      if (r.what == What::note && r.kind == "refused") {
        JobId job = kNone;
        std::string why;
        for (const NoteField& f : r.fields) {
          if (f.name == "job") job = JobId(f.number);
          if (f.name == "why") why = f.text;
        }
        why_of_[job] = why;
      } else if (r.what == What::end && r.state == State::rejected) {
        rejected_.emplace_back(r.job, r.reason);
      }
    }
  }
  std::string text(std::string_view policy) const {
    std::string out;
    line(out, "policy", fmt::format("{} refuses {} as they come", policy, plural(rejected_.size(), "job")));
    constexpr size_t kExamples = 5;
    for (size_t i = 0; i < rejected_.size() && i < kExamples; i++) {
      const auto [job, reason] = rejected_[i];
      const auto why = why_of_.find(job);
      out += "  " + std::string(printable(workload_.names[job])) + ": " + (why == why_of_.end() ? std::string(to_text(reason)) : why->second) + "\n";
    }
    return out;
  }

 private:
  const Workload& workload_;
  std::map<JobId, std::string> why_of_;
  std::vector<std::pair<JobId, Reason>> rejected_;
};

/// The policy sees all jobs, each over as soon as it starts.
std::string describe_refusals(const Topology& t, Workload w, const ChosenPolicy& policy) {
  for (JobTruth& truth : w.truths) truth.work = 0;
  for (Job& job : w.jobs) job.earliest_start = 0;
  const auto made = policy.info->make({t, w, policy.given, 0});
  RunOptions options;
  options.oracle = policy.info->needs_oracle;
  Refusals refusals(w);
  Simulator s(t, w, *made, std::move(options));
  s.observe(refusals);
  s.run();
  return refusals.text(policy.name);
}

int validate_run(const Arguments& a, Console& console) {
  Input cluster;
  const Topology t = load_topology(a.want("--topology"), cluster);
  const Input input = load_trace_text(a.want("--trace"));
  TraceResult trace = read_trace(input.text, input.name, trace_options_from(a));
  fit_shapes(trace.workload, t);
  std::vector<std::string> warnings;
  console.out(describe_trace(trace, input.name) + describe_fit(trace.workload, t, warnings));
  if (a.has("--policy")) console.out(describe_refusals(t, trace.workload, choose_policy(a.get("--policy"), a.all("--set"))));
  for (const auto& w : warnings) console.warning(w);
  return kDone;
}

}  // namespace

std::string describe_trace(const TraceResult& trace, std::string_view name) {
  const Workload& w = trace.workload;
  const TraceFacts& facts = trace.facts;
  const TraceInfo info = trace_info(trace);
  const size_t n = w.jobs.size();
  uint64_t left = 0;
  for (const auto& l : trace.left_out) left += l.count;
  std::string out;
  line(out, "trace", fmt::format("{}   {}, {} used, {} left out", printable(name), plural(trace.rows, "row"), with_commas(int64_t(n)), with_commas(int64_t(left))));
  for (const auto& l : trace.left_out) {
    line(out, "left out", plural(l.count, "row") + " " + std::string(l.phrase));
    for (const auto& example : l.examples) out += "  " + example + "\n";
  }
  std::vector<std::string> columns, unused;
  for (const auto& [native, column] : facts.columns) columns.push_back(native == column ? native : native + "=" + printable(column));
  for (const auto& column : facts.unused_columns) unused.push_back(printable(column));
  words(out, "columns", columns);
  words(out, "not used", unused);
  if (n == 0) {
    line(out, "jobs", "none");
    return out;
  }
  if (facts.dates)
    line(out, "span", fmt::format("{}, from {} to {}", format_duration(info.span), format_date(w.origin), format_date(w.origin + info.span)));
  else
    line(out, "span", fmt::format("{}, the first submit at {:.10g} s", format_duration(info.span), double(w.origin) / 1e6));
  describe_sizes(out, info, n);
  line(out, "durations", fmt::format("shortest {}, p50 {}, p90 {}, p99 {}, longest {}", format_duration(info.shortest), format_duration(info.p50),
                                     format_duration(info.p90), format_duration(info.p99), format_duration(info.longest)));
  line(out, "GPU time", gpu_hours(info.gpu_time) +
                            (info.span > 0 ? fmt::format(", {:.1f} GPUs on average over the span", double(info.gpu_time) / 1000 / double(info.span)) : ""));
  line(out, "users", busiest(info.tenants, n));
  line(out, "queues", busiest(info.queues, n));

  std::vector<std::string> facts_of_note;
  const auto fact = [&](uint64_t count, const std::string& text) {
    if (count) line(out, facts_of_note.empty() ? "jobs" : "", plural(count, "job") + " " + text), facts_of_note.push_back(text);
  };
  fact(info.gangs, "of several tasks");
  fact(info.elastic, "that can run with fewer tasks");
  fact(facts.cpu_only, "without a GPU");
  fact(facts.zero_duration, "of 0 s");
  fact(facts.open_ended, "without an end");
  fact(facts.unsorted, "submitted before the row above (sorted now)");
  fact(info.equal_jobs, "that equal another in all but the id");
  if (info.estimates) fact(info.estimates, fmt::format("with an estimate, {} of them less than the truth", info.too_short_estimates));
  if (info.limits) fact(info.limits, fmt::format("with a time limit, {} of them less than they run", info.too_short_limits));
  if (info.deadlines) fact(info.deadlines, fmt::format("with a deadline, {} of them too early even without waiting", info.impossible_deadlines));
  std::vector<std::string> doubts;
  const auto counts = [&](const std::string& column) {  // a date needs no unit
    return !facts.dates || std::none_of(facts.columns.begin(), facts.columns.end(), [&](const auto& c) {
      return c.second == column && (c.first == "submit" || c.first == "start_time" || c.first == "end_time" || c.first == "deadline" ||
                                    c.first == "earliest_start");
    });
  };
  for (const auto& c : facts.unitless_columns)
    if (counts(c)) doubts.push_back(printable(c));
  words(out, "no unit", doubts);
  for (const auto& note : trace.notes) line(out, "note", note);
  for (const auto& s : info.suspicions) line(out, "check", s);
  return out;
}

std::string describe_fit(const Workload& w, const Topology& t, std::vector<std::string>& warnings) {
  const Validation v = validate(w, t);
  std::string out;
  line(out, "cluster", fmt::format("{}, {}", plural(t.nodes(), "node"), plural(t.gpus(), "GPU")));
  line(out, "load", std::isnan(v.load) ? t.gpus() ? "not defined: all jobs are submitted at once" : "not defined: the cluster has no GPU" : fmt::format("{:.4f}", v.load));
  if (v.load > 1) warnings.push_back(fmt::format("the offered load is {:.4f}: above 1 the queue grows as long as jobs arrive", v.load));
  for (const auto& m : v.misfits) {
    const std::string_view what = [&] {
      switch (m.reason) {
        case Reason::cluster_size: return "more than the cluster has";
        case Reason::node_size: return "more for one task than any node has";
        case Reason::type: return "a GPU type or memory that too few nodes have";
        case Reason::driver: return "a driver or CUDA version that too few nodes have";
        case Reason::label: return "labels that too few nodes have";
        case Reason::level: return "a level whose domains are too small, or that the cluster does not have";
        default: return "GPUs aligned in NUMA domains, as too few nodes have them";
      }
    }();
    line(out, "never fits", fmt::format("{} want{} {} (the first is {})", plural(m.jobs, "job"), m.jobs == 1 ? "s" : "", what, printable(w.names[m.first])));
  }
  if (v.misfits.empty()) line(out, "never fits", "none: each job could run on the empty cluster");
  return out;
}

Command trace_command() {
  auto options = trace_options();
  return {"trace",
          "show what is in a trace, and what to check in it first",
          "info TRACE [options]",
          "  muster trace info jobs.csv\n"
          "  muster trace info jobs.csv.gz --map submit=arrival --map gpus=num_gpu\n"
          "  muster trace info campus\n",
          std::move(options),
          2,
          2,
          info};
}

Command validate_command() {
  std::vector<Option> options{{"--topology", "X", "a file, \"rack:4 node:8 gpu:8\" or a shipped name"},
                              {"--trace", "FILE", "jobs as CSV or JSONL, also .gz and .zst; - is standard input"},
                              {"--policy", "X", "also: what this policy refuses as it comes, and why"},
                              {"--set", "NAME=VALUE", "a parameter of the policy", true}};
  for (const Option& o : trace_options()) options.push_back(o);
  return {"validate",
          "check a trace against a topology before a run",
          "--topology X --trace FILE [options]",
          "  muster validate --topology dgx-a100-16 --trace jobs.csv\n",
          std::move(options),
          0,
          0,
          validate_run};
}

}  // namespace muster::cli
