#include "cases.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "metrics/metrics.hpp"

namespace conformance {

using namespace muster;

void Tally::judged(const std::string& row, const std::string& difference, bool hint) {
  const bool same = difference.empty();
  (hint ? same ? agree_ : differ_ : same ? passed_ : failed_)++;
  if (!same) std::printf("%s  %s: %s\n", hint ? "hint" : "FAIL", row.c_str(), difference.c_str());
}

bool Tally::close() const {
  size_t skipped = 0;
  for (const auto& [kind, rows] : skipped_) {
    std::printf("skip  %s: %zu\n", kind.c_str(), rows);
    skipped += rows;
  }
  if (defects_) std::printf("known defects of the real system: %zu of %zu withstood\n", withstood_, defects_);
  std::printf("hints: %zu agree, %zu differ\n", agree_, differ_);
  std::printf("%zu passed, %zu failed, %zu skipped\n", passed_, failed_, skipped);
  return failed_ == 0 && passed_ + skipped > 0;
}

const JobRow& Outcome::of(const std::string& name) const {
  for (JobId j = 0; j < workload.jobs.size(); j++)
    if (workload.names[j] == name) return rows.rows()[j];
  throw InputError("no job " + name);
}

const PolicyInfo* policy(std::string_view name) {
  for (const PolicyInfo& p : builtin_policies())
    if (p.name == name) return &p;
  return nullptr;
}

namespace {
class Slices final : public Observer {
 public:
  Slices(size_t jobs, std::vector<Slice>& out) : since_(jobs, kNever), out_(out) {}
  void see(std::span<const Record> records) override {
    for (const Record& r : records) {
      if (r.what == What::start) since_[r.job] = r.at;
      if ((r.what != What::preempt && r.what != What::end) || since_[r.job] == kNever) continue;
      if (!out_.empty() && out_.back().job == r.job && out_.back().to == since_[r.job]) out_.back().to = r.at;
      else if (r.at > since_[r.job]) out_.push_back({r.job, since_[r.job], r.at});
      since_[r.job] = kNever;
    }
  }

 private:
  std::vector<Time> since_;
  std::vector<Slice>& out_;
};
}  // namespace

Outcome run(const Topology& t, Workload w, const PolicyInfo& p, const Config& parameters) {
  Outcome o;
  o.workload = std::move(w);
  fit_shapes(o.workload, t);
  Config all = p.preset;
  for (const auto& [name, value] : parameters.fields) all.set(name, value);
  const auto made = p.make({t, o.workload, all, 0});
  RunOptions options;
  options.check = true;
  options.oracle = p.needs_oracle;
  Metrics metrics;
  Slices slices(o.workload.jobs.size(), o.slices);
  Simulator simulator(t, o.workload, *made, std::move(options));
  simulator.observe(metrics);
  simulator.observe(o.rows);
  simulator.observe(slices);
  simulator.run();
  o.report = metrics.report();
  return o;
}

Time ticks(double seconds) { return Time(std::llround(seconds * double(kSecond))); }
double seconds(Time t) { return double(t) / double(kSecond); }

Workload workload(const std::vector<Claim>& jobs) {
  std::vector<Claim> sorted = jobs;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Claim& a, const Claim& b) { return a.submit < b.submit; });
  Workload w;
  w.tenants.add("");
  w.queues.add("");
  if (!sorted.empty()) w.origin = ticks(sorted[0].submit);
  for (const Claim& c : sorted) {
    Shape shape;
    TaskGroup g;
    g.gpus = c.gpus;
    g.per_task[kGpu] = int64_t(c.gpus) * kMilli;
    shape.groups = {g};
    shape.nodes = Nodes::one;
    shape.total_gpus = c.gpus;
    auto at = std::find(w.shapes.begin(), w.shapes.end(), shape);
    if (at == w.shapes.end()) at = w.shapes.insert(at, shape);
    Job job;
    job.submit = ticks(c.submit) - w.origin;
    job.shape = ShapeId(at - w.shapes.begin());
    job.priority = c.priority;
    if (c.estimate) job.estimate = job.time_limit = ticks(*c.estimate);
    JobTruth truth;
    truth.work = ticks(c.run);
    w.jobs.push_back(job);
    w.truths.push_back(truth);
    w.names.add(c.name);
  }
  return w;
}

double number(const Json& j) {
  if (j.is_number()) return j.get<double>();
  const std::string text = j.at("frac").get<std::string>();
  const size_t slash = text.find('/');
  return slash == std::string::npos ? std::stod(text) : std::stod(text.substr(0, slash)) / std::stod(text.substr(slash + 1));
}

std::string compare(const std::string& what, double expected, double found) {
  // Times are whole microseconds, so a mean of n of them may be off by half of one.
  if (std::abs(expected - found) <= 1e-6 * std::max(1.0, std::abs(expected))) return {};
  char text[200];
  std::snprintf(text, sizeof text, "%s: expected %.9g, found %.9g", what.c_str(), expected, found);
  return text;
}

}  // namespace conformance
