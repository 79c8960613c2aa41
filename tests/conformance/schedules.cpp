// single_server and parallel_schedule: starts, ends and means of small schedules.
#include <regex>
#include <set>

#include "cases.hpp"

namespace conformance {

using namespace muster;

namespace {

/// Appends to a list of differences.
void add(std::string& all, const std::string& one) {
  if (!one.empty()) all += (all.empty() ? "" : "; ") + one;
}

double mean(const Outcome& o, const std::vector<Claim>& jobs, double (*value)(const JobRow&), const std::set<std::string>& without) {
  double sum = 0;
  size_t n = 0;
  for (const Claim& c : jobs)
    if (!without.count(c.name)) sum += value(o.of(c.name)), n++;
  return n ? sum / double(n) : 0;
}

/// [[job, from, to], ...], consecutive slices of one job being one.
std::string compare_gantt(const Json& want, const Outcome& o) {
  const double origin = seconds(o.workload.origin);
  std::string difference;
  size_t i = 0;
  for (const Json& slice : want) {
    if (number(slice.at(1)) == number(slice.at(2))) continue;
    if (i >= o.slices.size()) return "gantt: " + std::to_string(o.slices.size()) + " slices, expected more";
    const Slice& s = o.slices[i++];
    const std::string at = "slice " + std::to_string(i);
    if (o.workload.names[s.job] != slice.at(0).get<std::string>())
      return at + ": expected " + slice.at(0).get<std::string>() + ", found " + std::string(o.workload.names[s.job]);
    add(difference, compare(at + " from", number(slice.at(1)), origin + seconds(s.from)));
    add(difference, compare(at + " to", number(slice.at(2)), origin + seconds(s.to)));
  }
  if (i < o.slices.size()) add(difference, "gantt: " + std::to_string(o.slices.size() - i) + " slices too many");
  return difference;
}

double turnaround(const JobRow& r) { return seconds(r.end - r.submit); }
double waited(const JobRow& r) { return seconds(r.start - r.submit); }

}  // namespace

void single_server(const Json& c, Tally& tally) {
  const std::string id = c.at("id").get<std::string>();
  static const std::map<std::string, std::string> names = {{"FCFS", "fifo"}, {"SJF", "sjf"}, {"PRIO", "priority"}, {"SRTF", "srtf"}, {"RR", "rr"}};
  const Topology one = Topology::parse_line("node:1 gpu:1");
  for (const auto& [algorithm, expected] : c.at("expected").items()) {
    const std::string base = algorithm.substr(0, algorithm.find('@'));
    const auto name = names.find(base);
    const PolicyInfo* p = name == names.end() ? nullptr : policy(name->second);
    if (!p || !expected.contains("per_job")) {
      tally.skipped("single_server " + base);
      continue;
    }
    std::vector<Claim> jobs;
    for (const Json& j : c.at("input").at("jobs")) {
      Claim claim;
      claim.name = j.at("id").get<std::string>();
      claim.submit = number(j.at("arrive"));
      claim.run = number(j.at("burst"));
      // Here the smaller number goes first, there the bigger.
      if (j.contains("prio") && !j["prio"].is_null()) claim.priority = -j["prio"].get<int32_t>();
      jobs.push_back(claim);
    }
    Config parameters;
    if (base.size() < algorithm.size()) {  // RR@q; who goes first when a slice ends as a job comes is told in words
      parameters.set("quantum", Config::text(algorithm.substr(base.size() + 1)));
      const std::string rule = c.value("tie_rule", "");
      const bool first = std::regex_search(rule, std::regex("expir[^,;]* ahead of [^,;]*arriv"));
      parameters.set("expired", Config::text(first ? "first" : "last"));
    }
    const Outcome o = run(one, workload(jobs), *p, parameters);
    const double origin = seconds(o.workload.origin);
    std::string difference;
    for (const auto& [job, want] : expected.at("per_job").items()) {
      const JobRow& row = o.of(job);
      if (want.contains("start")) add(difference, compare(job + " start", number(want["start"]), origin + seconds(row.start)));
      if (want.contains("finish")) add(difference, compare(job + " finish", number(want["finish"]), origin + seconds(row.end)));
      if (want.contains("turnaround")) add(difference, compare(job + " turnaround", number(want["turnaround"]), turnaround(row)));
      if (want.contains("wait")) add(difference, compare(job + " wait", number(want["wait"]), seconds(row.time.queue())));
    }
    if (expected.contains("avg_turnaround"))
      add(difference, compare("avg_turnaround", number(expected["avg_turnaround"]), mean(o, jobs, turnaround, {})));
    if (expected.contains("avg_wait"))
      add(difference,
          compare("avg_wait", number(expected["avg_wait"]), mean(o, jobs, [](const JobRow& r) { return seconds(r.time.queue()); }, {})));
    if (expected.contains("gantt")) add(difference, compare_gantt(expected["gantt"], o));
    tally.judged(id + " " + algorithm, difference);
  }
}

void parallel_schedule(const Json& c, Tally& tally) {
  const std::string id = c.at("id").get<std::string>();
  const Json& input = c.at("input");
  if (!input.contains("gpus") || !input.contains("jobs")) {
    tally.skipped("parallel_schedule on named nodes");
    return;
  }
  static const std::map<std::string, std::string> names = {
      {"FIFO", "fifo"}, {"FIRSTFIT", "fifo-skip"}, {"EASY", "easy"}, {"CONS", "conservative"}};
  const Topology node = Topology::parse_line("node:1 gpu:" + std::to_string(input.at("gpus").get<uint32_t>()));
  for (const auto& item : c.at("expected").items()) {
    const std::string& algorithm = item.key();
    const Json& expected = item.value();
    const auto name = names.find(algorithm);
    const PolicyInfo* p = name == names.end() ? nullptr : policy(name->second);
    if (!p) {
      tally.skipped("parallel_schedule " + algorithm);
      continue;
    }
    std::vector<Claim> jobs;
    for (const Json& j : input.at("jobs")) {
      Claim claim;
      claim.name = j.at("id").get<std::string>();
      claim.submit = number(j.at("submit"));
      claim.run = number(j.at("run"));
      claim.gpus = j.at("size").get<uint32_t>();
      if (j.contains("est") && !j["est"].is_null()) claim.estimate = number(j["est"]);
      jobs.push_back(claim);
    }
    const Outcome o = run(node, workload(jobs), *p);
    const double origin = seconds(o.workload.origin);
    std::string difference;
    std::set<std::string> rejected;
    if (expected.contains("rejected"))
      for (const Json& job : expected["rejected"]) {
        rejected.insert(job.get<std::string>());
        if (o.of(job.get<std::string>()).state != State::rejected) add(difference, job.get<std::string>() + " is not rejected");
      }
    if (expected.contains("start"))
      for (const auto& [job, at] : expected["start"].items())
        add(difference, compare(job + " start", number(at), origin + seconds(o.of(job).start)));
    if (expected.contains("finish"))
      for (const auto& [job, at] : expected["finish"].items())
        add(difference, compare(job + " finish", number(at), origin + seconds(o.of(job).end)));
    if (expected.contains("avg_wait")) add(difference, compare("avg_wait", number(expected["avg_wait"]), mean(o, jobs, waited, rejected)));
    if (expected.contains("avg_jct")) add(difference, compare("avg_jct", number(expected["avg_jct"]), mean(o, jobs, turnaround, rejected)));
    const auto metric = [&](const char* key, const char* ours) {
      if (!expected.contains(key)) return;
      const Metric* m = o.report.find(ours);
      add(difference, m ? compare(key, number(expected[key]), m->value) : std::string("no metric ") + ours);
    };
    metric("makespan", "makespan_s");
    metric("util", "gpu_utilization");
    tally.judged(id + " " + algorithm, difference);
  }
}

}  // namespace conformance
