#include "report/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "muster/config.hpp"
#include "text/numbers.hpp"

namespace muster {
namespace {

constexpr size_t kWidth = 80;

std::string count(double v) {  // 12,431
  std::string digits = fmt::format("{:.0f}", v);
  for (size_t i = digits.size(); i > 3;) digits.insert(i -= 3, ",");
  return digits;
}

std::string plural(double n, std::string_view one) { return fmt::format("{} {}{}", count(n), one, n == 1 ? "" : "s"); }

std::string time_text(double seconds) {
  if (!std::isfinite(seconds)) return "-";
  return format_duration(Duration(std::llround(seconds * double(kSecond))));
}

std::string share(double v) { return std::isfinite(v) ? fmt::format("{:.1f} %", 100 * v) : "-"; }

/// A label and words after it; words that pass the width go to the next line, under the first.
void line(std::string& out, std::string_view label, const std::vector<std::string>& words) {
  std::string row = fmt::format("{:<10}", label);
  bool first = true;
  for (const std::string& w : words) {
    if (w.empty()) continue;
    if (!first && row.size() + 3 + w.size() > kWidth) out += row + "\n", row.assign(10, ' '), first = true;
    if (!first) row += "   ";
    row += w;
    first = false;
  }
  while (!row.empty() && row.back() == ' ') row.pop_back();
  out += row + "\n";
}

std::string cut(std::string_view s, size_t n) { return s.size() <= n ? std::string(s) : "..." + std::string(s.substr(s.size() - n + 3)); }

/// Why jobs waited, as parts of the GPU-time waited: the largest first, as many as one line holds, none below half a per cent.
std::vector<std::string> waiting(const Report& r) {
  constexpr std::string_view kPrefix = "gpu_wait_";
  constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"unstated", "no reason stated"},   {"no_gpus", "no free GPUs"},    {"resource", "other resource"}, {"apart", "anti-affinity"},
      {"behind_head", "behind the head"}, {"not_yet", "not yet allowed"}, {"search", "search limit"}};
  const Metric* all = r.find("gpu_wait");
  std::vector<std::pair<double, std::string_view>> parts;
  for (const Metric& m : r.metrics)
    if (all && m.name.starts_with(kPrefix) && m.value >= 0.005 * all->value && m.value > 0)
      parts.emplace_back(m.value / all->value, std::string_view(m.name).substr(kPrefix.size()));
  std::stable_sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> words;
  size_t width = 10;
  for (const auto& [part, name] : parts) {
    const auto* known = std::find_if(std::begin(kWords), std::end(kWords), [&name = name](const auto& w) { return w.first == name; });
    std::string word = fmt::format("{:.0f} % {}", 100 * part, known == std::end(kWords) ? name : known->second);
    width += word.size() + (words.empty() ? 0 : 3);
    if (width > kWidth) break;
    words.push_back(std::move(word));
  }
  return words;
}

}  // namespace

std::string summary(const Report& r, const Header& h, std::string_view trace, std::string_view topology) {
  const auto value = [&](std::string_view name) {
    const Metric* m = r.find(name);
    return m ? m->value : std::numeric_limits<double>::quiet_NaN();
  };
  std::string out;

  uint64_t dropped = 0;
  std::string reasons;
  for (const auto& [reason, n] : h.dropped_rows) {
    dropped += n;
    reasons += fmt::format("{}{} {}", reasons.empty() ? "" : ", ", count(double(n)), reason);
  }
  const std::string jobs = plural(value("jobs_submitted"), "job");
  const size_t names = std::max<size_t>(14, std::min<size_t>(30, std::max(trace.size(), topology.size())));
  line(out, "trace",
       {fmt::format("{:<{}}", cut(one_line(trace), names), names), dropped ? jobs + ";" : jobs,
        dropped ? plural(double(dropped), "row") + " dropped: " : "", dropped ? reasons : ""});

  const Topology& t = *h.topology;
  std::string levels;
  for (size_t l = 0; l < t.levels().size(); l++) {
    const size_t parents = l ? t.domains(l - 1).size() : 1, here = t.domains(l).size();
    levels += fmt::format("{}{}{}", levels.empty() ? "" : " > ", t.levels()[l],
                          parents && here % parents == 0 ? fmt::format(" {}", here / parents) : "");
  }
  if (t.gpus() > 0) {
    const size_t lowest = t.domains(t.levels().size() - 1).size();
    levels += t.gpus() % lowest == 0 ? fmt::format(" > gpu {}", t.gpus() / lowest) : " > gpu";
  }
  line(out, "cluster",
       {fmt::format("{:<{}}", cut(one_line(topology), names), names),
        fmt::format("{}, {}: ", plural(t.nodes(), "node"), plural(t.gpus(), "GPU")) + levels});

  std::string parameters;
  for (const auto& [name, v] : h.parameters)
    if (!v.empty())  // a table that would fill the screen is in the report
      parameters += fmt::format("{}{} {}", parameters.empty() ? "" : ", ", name, v.size() > 60 && (v[0] == '{' || v[0] == '[') ? v[0] == '{' ? "{...}" : "[...]" : v);
  line(out, "policy", {fmt::format("{:<{}}", cut(h.policy, names), names), parameters});

  for (const auto& [role, name] : h.inputs)
    if (role == "model") line(out, "model", {one_line(std::string_view(name).substr(0, name.rfind(" sha256:")))});

  const double load = value("offered_load"), rejected = value("jobs_rejected");
  line(out, "load",
       {fmt::format("{:<{}}", std::isfinite(load) ? fmt::format("{:.2f}", load) : "-", names),
        rejected > 0 ? plural(rejected, "job") + " can never fit" : ""});

  out += fmt::format("\n{:<20}{:>10}{:>10}{:>10}{:>10}{:>10}\n", "", "mean", "p50", "p90", "p99", "max");
  const auto times = [&](std::string_view label, const std::string& name) {
    out += fmt::format("{:<20}", label);
    for (const char* which : {"_mean_s", "_p50_s", "_p90_s", "_p99_s", "_max_s"})
      out += fmt::format("{:>10}", time_text(value(name + which)));
    out += "\n";
  };
  times("completion time", "jct"), times("  waiting", "queue"), times("  running", "run"), times("  restarting", "restart");
  out += "\n";

  const auto ended = [&](const char* name, const char* text, bool always) {
    const double n = value(name);
    return always || n > 0 ? count(n) + " " + text : std::string();
  };
  line(out, "jobs",
       {ended("jobs_done", "done", true), ended("jobs_rejected", "rejected", true), ended("jobs_failed", "failed", true),
        ended("jobs_timed_out", "timed out", false), ended("jobs_cancelled", "cancelled", false), ended("jobs_dropped", "dropped", false),
        ended("jobs_unfinished", "unfinished", true), value("preemptions") > 0 ? plural(value("preemptions"), "preemption") : ""});
  if (t.gpus() > 0 && std::isfinite(value("gpu_allocation"))) {
    const double waiting = value("gpu_idle_jobs_waiting");
    line(out, "GPU time",
         {share(value("gpu_allocation")) + " used", share(value("gpu_idle_nobody_waiting")) + " idle, nobody waiting",
          share(waiting) + " idle while jobs waited"});
    if (waiting > 0) {
      std::vector<std::string> parts;
      for (const auto& [name, text] : {std::pair{"gpu_idle_too_few", "fewer free than the head wants"},
                                       {"gpu_idle_fragmented", "fragmented"},
                                       {"gpu_idle_behind_head", "behind the head"},
                                       {"gpu_idle_quota", "quota"},
                                       {"gpu_idle_other", "other"}})
        if (value(name) > 0) parts.push_back(share(value(name)) + " " + text);
      parts.front().insert(0, "of the last: ");
      line(out, "", parts);
    }
  }
  if (const std::vector<std::string> waits = waiting(r); !waits.empty()) line(out, "waiting", waits);
  if (const double slower = value("locality_slowdown_mean"); std::isfinite(slower)) {
    std::vector<std::string> words{fmt::format("{:.2f} times as long", slower)};
    constexpr std::string_view kShare = "locality_gpu_time_";
    for (const Metric& m : r.metrics)
      if (m.name.starts_with(kShare) && m.value >= 0.0005) words.push_back(share(m.value) + " in one " + m.name.substr(kShare.size()));
    line(out, "distance", words);
  }
  const double rate = value("throughput_jobs_per_hour");
  line(out, "makespan",
       {fmt::format("{:<{}}", time_text(value("makespan_s")), names), std::isfinite(rate) ? fmt::format("{:.1f} jobs/h", rate) : ""});
  return out;
}

}  // namespace muster
