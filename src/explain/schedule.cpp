// muster explain schedule and backfill: one list of jobs under several policies.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "explain/drf.hpp"
#include "text/numbers.hpp"

namespace muster {
namespace {

[[noreturn]] void refuse(const std::string& where, const std::string& what) {
  throw InputError((where.empty() ? "" : where + ": ") + what);
}

struct Schedule {
  uint32_t gpus = 1;
  Workload workload;
  Time origin = 0;
};

/// The first of several names that a row has.
const Config* any(const Config& row, std::initializer_list<const char*> names) {
  for (const char* n : names)
    if (const Config* c = row.find(n); c && c->given() && c->value != "null") return c;
  return nullptr;
}

Duration seconds(const Config& c) {
  const Fraction f = exact(c) * kSecond;
  if (f.den() != 1) refuse(c.where, "want seconds with at most six digits after the point, found " + in_quotes(c.value));
  return Duration(f.num());
}

uint32_t whole(const Config& c, uint32_t least, uint32_t most) {
  const Fraction f = exact(c);
  if (f.den() != 1 || f < Fraction(int64_t{least}) || Fraction(int64_t{most}) < f)
    refuse(c.where, fmt::format("want a whole number from {} to {}, found {}", least, most, in_quotes(c.value)));
  return uint32_t(f.num());
}

Schedule read(const Exercise& e) {
  constexpr uint32_t kMostGpus = 4096;
  Schedule s;
  const Config* gpus = any(e.input, {"gpus", "capacity"});
  std::vector<const Config*> rows;
  const Config* jobs = any(e.input, {"jobs", "rows"});
  if (!jobs || jobs->fields.empty())
    refuse(e.file, "want \"gpus\": 8 and \"jobs\": [{\"id\": \"a\", \"submit\": 0, \"size\": 2, \"run\": 10}, ...]");
  for (const auto& [none, row] : jobs->fields) {
    if (row.kind != Config::Kind::object) refuse(row.where, "want an object: a job");
    const Config* id = any(row, {"id", "job", "job_id", "name"});
    if (id && (id->value == "capacity" || id->value == "cluster") && !any(row, {"run", "burst", "duration"}))
      gpus = any(row, {"size", "gpus"});
    else rows.push_back(&row);
  }
  if (gpus) s.gpus = whole(*gpus, 1, kMostGpus);
  struct Claim {
    std::string id;
    Time submit;
    Duration run, estimate;
    uint32_t gpus;
    int32_t priority;
  };
  std::vector<Claim> claims;
  for (const Config* row : rows) {
    static constexpr std::array<std::string_view, 17> kKnown = {"id",       "job",  "job_id",   "name", "submit",  "arrive",
                                                                "submit_s", "size", "gpus",     "run",  "burst",   "run_s",
                                                                "duration", "est",  "estimate", "prio", "priority"};
    row->only(kKnown);
    const Config* id = any(*row, {"id", "job", "job_id", "name"});
    const Config* run = any(*row, {"run", "burst", "run_s", "duration"});
    if (!run) refuse(row->where, "want how long the job runs (run)");
    const Config* submit = any(*row, {"submit", "arrive", "submit_s"});
    const Config* size = any(*row, {"size", "gpus"});
    const Config* estimate = any(*row, {"est", "estimate"});
    const Config* priority = any(*row, {"prio", "priority"});
    claims.push_back({id ? id->value : "j" + std::to_string(claims.size() + 1), submit ? seconds(*submit) : 0, seconds(*run),
                      estimate ? seconds(*estimate) : kNever, size ? whole(*size, 0, 1'000'000) : 1,
                      priority ? -int32_t(whole(*priority, 0, 1'000'000)) : 0});
  }
  if (claims.empty()) refuse(e.file, "no jobs");
  if (claims.size() > 1000) refuse(e.file, "more than 1,000 jobs are no exercise; `muster run` takes them");
  std::stable_sort(claims.begin(), claims.end(), [](const Claim& a, const Claim& b) { return a.submit < b.submit; });
  s.origin = claims[0].submit;
  Workload& w = s.workload;
  w.origin = s.origin;
  w.tenants.add("");
  w.queues.add("");
  for (const Claim& c : claims) {
    Shape shape;
    TaskGroup g;
    g.gpus = c.gpus;
    g.per_task[kGpu] = int64_t{c.gpus} * kMilli;
    shape.groups = {g};
    shape.nodes = Nodes::one;
    shape.total_gpus = c.gpus;
    auto at = std::find(w.shapes.begin(), w.shapes.end(), shape);
    if (at == w.shapes.end()) at = w.shapes.insert(at, shape);
    Job job;
    job.submit = c.submit - s.origin;
    job.shape = ShapeId(at - w.shapes.begin());
    job.priority = c.priority;
    job.estimate = c.estimate == kNever ? c.run : c.estimate;  // without one it is exact
    if (c.estimate != kNever) job.time_limit = c.estimate;
    JobTruth truth;
    truth.work = c.run;
    w.jobs.push_back(job);
    w.truths.push_back(truth);
    w.names.add(c.id);
  }
  return s;
}

std::string time_text(const Schedule& s, Time t) { return shown(Fraction(t + s.origin, kSecond)); }
std::string span_text(Duration d) { return shown(Fraction(d, kSecond)); }

/// When a job held its GPUs.
std::vector<Bars::Stretch> runs_of(const ExerciseRun& r, JobId j) {
  std::vector<Bars::Stretch> out;
  bool on = false;
  for (const ExerciseRun::Seen& seen : r.seen) {
    if (seen.job != j) continue;
    const bool now = seen.state == State::running || seen.state == State::starting || seen.state == State::draining;
    if (now && !on) out.push_back({seen.at, seen.at, {}});
    if (on && !now) out.back().to = seen.at;
    on = now;
  }
  if (on) out.back().to = r.end;
  return out;
}

/// Why it waited, one reason after the other, each with the time it began to hold.
std::string why(const Schedule& s, const ExerciseRun& r, JobId j) {
  std::string out;
  Reason last = Reason::none;
  for (size_t i = 0; i < r.seen.size(); i++) {
    const ExerciseRun::Seen& seen = r.seen[i];
    if (seen.job != j || seen.state != State::queued || seen.reason == Reason::none || seen.reason == last) continue;
    last = seen.reason;
    out += (out.empty() ? "" : "; ") + time_text(s, seen.at) + ": " + std::string(to_text(seen.reason));
  }
  return out;
}

void one_policy(Document& d, const Schedule& s, const ExerciseRun& r, std::string_view policy) {
  const auto& rows = r.rows.rows();
  d.say("", std::string(policy));
  Bars bars;
  TableBlock t;
  t.columns = {{"job", false, false}, {"GPUs", true, false}, {"submit", true, false}, {"start", true, false},
               {"end", true, false},  {"wait", true, false}, {"because", false, true}};
  for (const JobRow& row : rows) bars.end = std::max(bars.end, row.end == kNever ? 0 : row.end);
  bars.end_text = time_text(s, bars.end);
  std::vector<JobId> order(rows.size());
  for (JobId j = 0; j < rows.size(); j++) order[j] = j;
  std::stable_sort(order.begin(), order.end(), [&](JobId a, JobId b) { return rows[a].start < rows[b].start; });
  for (const JobId j : order) {
    const JobRow& row = rows[j];
    const std::string name(s.workload.names[j]);
    if (row.start == kNever) {
      t.rows.push_back({name, std::to_string(s.workload.shapes[s.workload.jobs[j].shape].total_gpus), time_text(s, row.submit), "-", "-",
                        "-", std::string(to_text(row.state)) + ": " + std::string(to_text(row.reason))});
      continue;
    }
    bars.rows.push_back({name, runs_of(r, j), {}});
    t.rows.push_back({name, std::to_string(s.workload.shapes[s.workload.jobs[j].shape].total_gpus), time_text(s, row.submit),
                      time_text(s, row.start), time_text(s, row.end), span_text(row.time.queue()), why(s, r, j)});
  }
  d.add(std::move(t));
  d.add(std::move(bars));
}

Document schedules(const Exercise& e, std::initializer_list<std::string_view> usual) {
  const Schedule s = read(e);
  std::vector<std::string> names;
  if (const Config* p = e.input.find("policies")) {
    for (const auto& [none, n] : p->fields) names.emplace_back(n.value);
    for (size_t at = 0; p->fields.empty() && at <= p->value.size();) {
      const size_t comma = std::min(p->value.find(',', at), p->value.size());
      names.push_back(p->value.substr(at, comma - at));
      at = comma + 1;
    }
    for (const std::string& n : names) {
      std::vector<std::string_view> known;
      for (const PolicyInfo& i : builtin_policies()) known.push_back(i.name);
      if (std::find(known.begin(), known.end(), n) != known.end()) continue;
      const std::string near = nearest_name(n, known);
      refuse(p->where, "no policy is called " + n + (near.empty() ? "" : "; did you mean " + near + "?"));
    }
  } else {
    for (const std::string_view n : usual)
      for (const PolicyInfo& i : builtin_policies())
        if (i.name == n) names.emplace_back(n);
  }
  const Topology t = Topology::parse_line("node:1 gpu:" + std::to_string(s.gpus));
  Document d;
  d.title =
      fmt::format("{} job{} on {} GPU{}", s.workload.jobs.size(), s.workload.jobs.size() == 1 ? "" : "s", s.gpus, s.gpus == 1 ? "" : "s");
  TableBlock sum;
  sum.columns = {{"policy", false, false},         {"mean wait", true, false}, {"longest wait", true, false},
                 {"mean completion", true, false}, {"makespan", true, false},  {"GPU time used", true, false}};
  for (const std::string& name : names) {
    Workload w = s.workload;
    const ExerciseRun r = run_exercise(e, name, t, w, name, {});
    one_policy(d, s, r, name);
    const auto value = [&](const char* metric, double times = 1) {
      const Metric* m = r.report.find(metric);
      return m && std::isfinite(m->value) ? fmt::format("{:.6g}", m->value * times) : std::string("-");
    };
    const std::string used = value("gpu_utilization", 100);
    sum.rows.push_back(
        {name, value("queue_mean_s"), value("queue_max_s"), value("jct_mean_s"), value("makespan_s"), used == "-" ? used : used + " %"});
  }
  d.say("", "side by side");
  d.add(std::move(sum));
  return d;
}

}  // namespace

Document explain_schedule(const Exercise& e) { return schedules(e, {"fifo", "sjf", "srtf"}); }
Document explain_backfill(const Exercise& e) { return schedules(e, {"fifo", "fifo-skip", "easy", "conservative"}); }

}  // namespace muster
