#include "workload/info.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

#include "muster/config.hpp"
#include "muster/fits.hpp"
#include "workload/message.hpp"

namespace muster {
namespace {

/// Nearest rank: the least value that at least `percent` of all do not exceed.
Duration rank(const std::vector<Duration>& sorted, size_t percent) {
  return sorted.empty() ? 0 : sorted[std::max<size_t>((sorted.size() * percent + 99) / 100, 1) - 1];
}

std::vector<TraceInfo::Share> shares(const Names& names, const std::vector<uint64_t>& counts) {
  std::vector<TraceInfo::Share> out;
  for (uint32_t i = 0; i < names.size(); i++)
    if (counts[i]) out.push_back({std::string(names[i]), counts[i]});
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.jobs != b.jobs ? a.jobs > b.jobs : a.name < b.name; });
  return out;
}

/// Jobs that equal another in all but the id. Equal ones have equal submits, which lie together.
uint64_t count_equal(const Workload& w) {
  const auto key = [&](JobId j) {
    const Job& job = w.jobs[j];
    return std::tuple(job.shape, w.truths[j].work, job.tenant, job.queue, job.priority, job.estimate, job.time_limit, job.deadline);
  };
  uint64_t equal = 0;
  std::vector<JobId> run;
  for (JobId a = 0, b = 0; a < w.jobs.size(); a = b) {
    for (b = a; b < w.jobs.size() && w.jobs[b].submit == w.jobs[a].submit;) b++;
    if (b - a < 2) continue;
    run.clear();
    for (JobId j = a; j < b; j++) run.push_back(j);
    std::sort(run.begin(), run.end(), [&](JobId x, JobId y) { return key(x) < key(y); });
    for (size_t i = 1; i < run.size(); i++) equal += key(run[i]) == key(run[i - 1]);
  }
  return equal;
}

void suspect(const TraceResult& trace, TraceInfo& info) {
  constexpr Duration kDay = 86'400 * kSecond;
  const size_t n = trace.workload.jobs.size();
  if (n < 20) return;  // too few to tell
  const auto& unitless = trace.facts.unitless_columns;
  const auto column = [&](std::string_view native) -> std::string {
    for (const auto& [name, c] : trace.facts.columns)
      if (name == native && std::find(unitless.begin(), unitless.end(), c) != unitless.end()) return c;
    return {};
  };
  if (const auto c = column("duration"); !c.empty()) {
    if (info.p50 > 3 * kDay)
      info.suspicions.push_back("column " + printable(c) + " is read as seconds, and half of the jobs run more than " +
                                format_duration(info.p50) + ": are they milliseconds? (--map duration_ms=" + printable(c) + ")");
    else if (info.longest > 0 && info.longest < 600 * kSecond)
      info.suspicions.push_back("column " + printable(c) + " is read as seconds, and no job runs longer than " + format_duration(info.longest) +
                                ": are they minutes or hours? (--map duration_min=" + printable(c) + ")");
  }
  if (const auto c = column("submit"); !c.empty() && !trace.facts.dates) {
    if (info.span > 20 * 365 * kDay)
      info.suspicions.push_back("column " + printable(c) + " is read as seconds, and the trace spans " + format_duration(info.span) +
                                ": are they milliseconds? (--map submit_ms=" + printable(c) + ")");
    else if (info.p50 > 0 && info.span < info.p50 && n >= 1000)
      info.suspicions.push_back("all jobs are submitted within " + format_duration(info.span) + ", less than half of them run: is column " +
                                printable(c) + " in seconds?");
  }
  bool percent = info.sizes.size() > 1;
  for (const auto& [milli, size] : info.sizes) percent = percent && milli % (25 * kMilli) == 0;
  if (percent) info.suspicions.push_back("every number of GPUs is a multiple of 25: are they percent of a GPU?");
}

}  // namespace

TraceInfo trace_info(const TraceResult& trace) {
  const Workload& w = trace.workload;
  TraceInfo info;
  if (w.jobs.empty()) return info;
  info.span = w.jobs.back().submit;
  std::vector<uint64_t> tenants(w.tenants.size()), queues(w.queues.size());
  std::vector<Duration> durations;
  durations.reserve(w.jobs.size());
  for (JobId j = 0; j < w.jobs.size(); j++) {
    const Job& job = w.jobs[j];
    const Duration work = w.truths[j].work;
    const Shape& s = w.shapes[job.shape];
    auto& size = info.sizes[s.total_milli()];
    size.jobs++;
    if (work != kNever) {
      size.gpu_time += Int128{s.total_milli()} * work;
      durations.push_back(work);
      info.too_short_estimates += job.estimate < work;
      info.too_short_limits += job.time_limit < work;
      info.impossible_deadlines += job.deadline != kNever && job.deadline < job.submit + work;
    }
    info.estimates += job.estimate != kNever;
    info.limits += job.time_limit != kNever;
    info.deadlines += job.deadline != kNever;
    info.gangs += s.groups.size() > 1 || s.groups[0].max_tasks > 1;
    info.elastic += !s.fixed;
    tenants[job.tenant]++, queues[job.queue]++;
  }
  for (const auto& [_, size] : info.sizes) info.gpu_time += size.gpu_time;
  std::sort(durations.begin(), durations.end());
  if (!durations.empty()) info.shortest = durations.front(), info.longest = durations.back();
  info.p50 = rank(durations, 50), info.p90 = rank(durations, 90), info.p99 = rank(durations, 99);
  info.tenants = shares(w.tenants, tenants), info.queues = shares(w.queues, queues);
  info.equal_jobs = count_equal(w);
  suspect(trace, info);
  return info;
}

Validation validate(const Workload& w, const Topology& t) {
  Validation v;
  v.load = std::numeric_limits<double>::quiet_NaN();
  Int128 asked = 0;
  std::vector<Reason> why(w.shapes.size());
  for (ShapeId s = 0; s < w.shapes.size(); s++) why[s] = never_fits(w.shapes[s], t);
  for (const Reason r : {Reason::cluster_size, Reason::node_size, Reason::type, Reason::driver, Reason::label, Reason::level, Reason::numa}) v.misfits.push_back({r, 0, kNone});
  for (JobId j = 0; j < w.jobs.size(); j++) {
    const ShapeId s = w.jobs[j].shape;
    if (w.truths[j].work != kNever) asked += Int128{w.shapes[s].total_milli()} * w.truths[j].work;
    for (auto& m : v.misfits)
      if (m.reason == why[s] && m.jobs++ == 0) m.first = j;
  }
  std::erase_if(v.misfits, [](const auto& m) { return m.jobs == 0; });
  const double n = double(w.jobs.size());
  const double span = w.jobs.empty() ? 0 : double(w.jobs.back().submit);
  if (span > 0 && t.gpus() > 0) v.load = double(asked) * (n - 1) / (double(kMilli) * double(t.gpus()) * span * n);
  return v;
}

}  // namespace muster
