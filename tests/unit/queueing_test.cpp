// Queueing theory, the truth that needs no data: M/M/c against Erlang C, M/G/1 under SRPT against Schrage and Miller.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "muster/random.hpp"
#include "muster/simulator.hpp"

namespace muster { namespace {

constexpr double kMean = 1e6;  // ticks of service on average

/// Poisson arrivals that keep `servers` GPUs busy for a share `load` of the time. Ticks are short beside a service, so that rounding to them
/// is nothing.
Workload poisson(size_t jobs, uint32_t servers, double load, uint64_t seed, const std::function<double(Random&)>& service) {
  Random arrivals(seed, "arrivals"), services(seed, "services");
  Workload w;
  w.tenants.add(""), w.queues.add("");
  Shape& s = w.shapes.emplace_back();
  TaskGroup& g = s.groups.emplace_back();
  g.gpus = 1, g.per_task[kGpu] = kMilli;
  s.nodes = Nodes::one, s.total_gpus = 1;
  double at = 0;
  for (size_t i = 0; i < jobs; i++, at += arrivals.exponential() * kMean / (load * servers)) {
    Job& j = w.jobs.emplace_back();
    j.submit = j.earliest_start = Time(at);
    w.truths.emplace_back().work = Duration(std::llround(service(services) * kMean));
    w.names.add("");
  }
  return w;
}

double exponential(Random& r) { return r.exponential(); }

/// Waits (T_queue) or times in the system by job, in order of submit, over the mean service.
class Times final : public Observer {
 public:
  Times(size_t jobs, bool wait) : of(jobs), wait_(wait) {}
  void see(std::span<const Record> records) override {
    for (const Record& r : records)
      if (r.what == What::end) of[r.job] = double(wait_ ? r.time->queue() : r.time->total()) / kMean;
  }
  std::vector<double> of;

 private:
  bool wait_;
};

std::vector<double> run(const Workload& w, uint32_t servers, std::string_view policy, bool wait) {
  const Topology t = Topology::parse_line("node:1 gpu:" + std::to_string(servers));
  for (const PolicyInfo& p : builtin_policies()) {
    if (p.name != policy) continue;
    const auto made = p.make({t, w, p.preset, 0});
    RunOptions options;
    options.oracle = p.needs_oracle;
    Simulator s(t, w, *made, std::move(options));
    Times times(w.jobs.size(), wait);
    s.observe(times);
    s.run();
    return times.of;
  }
  throw std::logic_error("no such policy");
}

struct Estimate {
  double mean, error;
};
/// Mean and standard error by the means of 20 batches; the first tenth, in which the system fills, is left out.
Estimate batches(const std::vector<double>& x) {
  constexpr size_t kBatches = 20;
  const size_t cut = x.size() / 10, size = (x.size() - cut) / kBatches;
  double mean = 0, squares = 0;
  std::vector<double> of;
  for (size_t b = 0; b < kBatches; b++) {
    double sum = 0;
    for (size_t i = 0; i < size; i++) sum += x[cut + b * size + i];
    of.push_back(sum / double(size));
    mean += of.back() / kBatches;
  }
  for (const double m : of) squares += (m - mean) * (m - mean);
  return {mean, std::sqrt(squares / (kBatches - 1) / kBatches)};
}

/// Mean wait in M/M/c over the mean service, by Erlang's C formula.
double erlang_c_wait(uint32_t c, double load) {
  const double a = load * c;
  double blocked = 1;  // Erlang B, by its recursion
  for (uint32_t k = 1; k <= c; k++) blocked = a * blocked / (k + a * blocked);
  const double waits = blocked / (1 - load * (1 - blocked));
  return waits / (c * (1 - load));
}

/// Mean time in M/G/1 under shortest remaining processing time over the mean service (Schrage and Miller, Operations Research 14, 1966), for
/// service with density f and mean 1; sums of small steps up to `most`.
double srpt(double load, const std::function<double(double)>& f, double most) {
  constexpr size_t kSteps = 2'000'000;
  const double h = most / kSteps;
  double less = 0, first = 0, second = 0, resident = 0, mean = 0;  // integrals from 0 to x: f, t f, t^2 f, 1 / (1 - rho(t))
  for (size_t i = 0; i < kSteps; i++) {
    const double x = (double(i) + 0.5) * h, p = f(x) * h;
    less += p / 2, first += x * p / 2, second += x * x * p / 2;
    const double rho = load * first;
    resident += h / (1 - rho) / 2;
    mean += p * (load * (second + x * x * (1 - less)) / (2 * (1 - rho) * (1 - rho)) + resident);
    less += p / 2, first += x * p / 2, second += x * x * p / 2, resident += h / (1 - load * first) / 2;
  }
  return mean;
}

struct Point {
  uint32_t servers;
  double load;
  size_t jobs;
};
class MMc : public testing::TestWithParam<Point> {};

TEST_P(MMc, WaitsAsErlangSays) {
  const Point p = GetParam();
  const Estimate e = batches(run(poisson(p.jobs, p.servers, p.load, 2, exponential), p.servers, "fifo", true));
  const double theory = erlang_c_wait(p.servers, p.load);
  EXPECT_NEAR(e.mean, theory, 3 * e.error) << "standard error " << e.error;
  EXPECT_LT(e.error, 0.25 * theory);  // an error so large that everything agrees would say nothing
}
INSTANTIATE_TEST_SUITE_P(Loads, MMc,
                         testing::Values(Point{1, 0.5, 200'000}, Point{1, 0.9, 400'000}, Point{8, 0.5, 200'000}, Point{8, 0.7, 200'000},
                                         Point{8, 0.8, 200'000}, Point{8, 0.9, 300'000}, Point{8, 0.95, 500'000}, Point{8, 0.99, 1'500'000},
                                         Point{64, 0.95, 400'000}));

TEST(MG1, ShortestRemainingTimeTakesAsLongAsSchrageAndMillerSay) {
  const auto check = [](double load, const std::function<double(Random&)>& service, const std::function<double(double)>& f, double most) {
    const Estimate e = batches(run(poisson(300'000, 1, load, 7, service), 1, "srtf", false));
    const double theory = srpt(load, f, most);
    EXPECT_NEAR(e.mean, theory, 3 * e.error) << "load " << load << ", standard error " << e.error;
    EXPECT_LT(e.error, 0.1 * theory);
  };
  for (const double load : {0.5, 0.8, 0.9}) {
    check(load, exponential, [](double x) { return std::exp(-x); }, 50);
    check(load, [](Random& r) { return 2 * r.unit(); }, [](double x) { return x < 2 ? 0.5 : 0.0; }, 2);
  }
}

TEST(Theory, FormulasAtKnownPoints) {
  EXPECT_NEAR(erlang_c_wait(1, 0.5), 1.0, 1e-12);         // M/M/1: rho / (1 - rho)
  EXPECT_NEAR(erlang_c_wait(2, 0.75), 0.75 * 0.75 / (1 - 0.75 * 0.75), 1e-12);  // M/M/2: rho^2 / (1 - rho^2)
  EXPECT_NEAR(srpt(1e-9, [](double x) { return std::exp(-x); }, 50), 1.0, 1e-6);  // nobody in the way
}

}}  // namespace muster
