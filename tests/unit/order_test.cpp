// Orders and estimates, piece by piece: what tenants have used, errors of estimates.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "muster/simulator.hpp"
#include "parts/estimate.hpp"
#include "parts/usage.hpp"

namespace muster { namespace {

/// Starts every job where it is told to, at once, and lets somebody look in every pass.
class Looker final : public Policy {
 public:
  std::function<void(const View&, Plan&)> look;
  void schedule(const View& now, Plan& plan) override {
    for (JobId j = plan.queue().first(); j != kNone; j = plan.queue().next(j + 1)) {
      const Piece p = Piece::whole(j, 1, now.shape(j).total_gpus == 64 ? ~uint64_t{0} : (uint64_t{1} << now.shape(j).total_gpus) - 1);
      plan.start(j, {&p, 1});
    }
    look(now, plan);
  }
};

Workload jobs(std::initializer_list<std::pair<Duration, uint32_t>> rows) {
  Workload w;
  w.tenants.add("alice"), w.queues.add("");
  for (const auto& [work, gpus] : rows) {
    Job& j = w.jobs.emplace_back();
    j.shape = ShapeId(w.shapes.size());
    w.truths.emplace_back().work = work;
    w.names.add("");
    Shape& s = w.shapes.emplace_back();
    s.nodes = Nodes::one, s.total_gpus = gpus;
    TaskGroup& g = s.groups.emplace_back();
    g.gpus = gpus, g.per_task[kGpu] = gpus * kMilli;
  }
  return w;
}

TEST(Usage, EachMomentIsWeighedByItsOwnAge) {
  constexpr Duration kHour = 3600 * kSecond;
  const Topology t = Topology::parse_line("node:2 gpu:8");
  const Workload w = jobs({{kHour, 8}, {3 * kHour, 8}});
  Usage usage(2, 1, kHour);
  std::vector<double> gpu_hours;
  Looker policy;
  policy.look = [&](const View& now, Plan& plan) {
    usage.follow(now);
    if (now.now() == 2 * kHour) usage.charge(now, 1);
    gpu_hours.push_back(double(usage.of(0, now.now())) / kMilli / double(kHour));
    if (now.now() == kHour) plan.wake_at(2 * kHour);
  };
  Simulator s(t, w, policy);
  s.run();
  // After an hour 8 GPUs weigh 8 x (1 - 1/2) / ln 2. After two: that by half, and two hours of the other job, 8 x (1 - 1/4) / ln 2.
  ASSERT_GE(gpu_hours.size(), 3u);
  EXPECT_DOUBLE_EQ(gpu_hours[0], 0);
  EXPECT_NEAR(gpu_hours[1], 8 * 0.5 / std::log(2), 1e-8);
  EXPECT_NEAR(gpu_hours[2], 8 * 0.25 / std::log(2) + 8 * 0.75 / std::log(2), 1e-8);
}

std::vector<Duration> believed(std::string_view estimate, std::initializer_list<std::pair<std::string_view, std::string_view>> parameters,
                               uint64_t seed) {
  Workload w;
  w.tenants.add(""), w.queues.add("");
  w.shapes = jobs({{1, 1}}).shapes;
  for (size_t i = 0; i < 4000; i++) w.jobs.emplace_back(), w.truths.emplace_back().work = 1'000'000, w.names.add("");
  const Topology t = Topology::parse_line("node:1 gpu:1");
  PolicyInput in{t, w, {}, seed};
  for (const auto& [name, value] : parameters) in.parameters.set(name, Config::text(std::string(value)));
  const auto e = make_estimate(estimate, in);
  std::vector<Duration> out;
  struct Asker final : Policy {
    std::function<void(const View&, Plan&)> ask;
    void schedule(const View& now, Plan& plan) override { ask(now, plan); }
  } asker;
  asker.ask = [&](const View& now, Plan& plan) {
    for (JobId j = JobId(now.jobs()); j-- > 0;) out.push_back(e->of(now, j)), plan.drop(j, Reason::policy);
  };
  RunOptions options;
  options.oracle = true;
  Simulator s(t, w, asker, std::move(options));
  s.run();
  return out;
}

TEST(Estimates, ScaledByAFactor) {
  for (const Duration d : believed("scaled", {{"factor", "0.25"}}, 1)) ASSERT_EQ(d, 250'000);
}

TEST(Estimates, NoisyOnesAreLogNormalAndSeeded) {
  const std::vector<Duration> a = believed("noisy", {{"sigma", "0.5"}}, 1);
  EXPECT_EQ(a, believed("noisy", {{"sigma", "0.5"}}, 1));
  EXPECT_NE(a, believed("noisy", {{"sigma", "0.5"}}, 2));
  double sum = 0, squares = 0;
  for (const Duration d : a) {
    const double x = std::log(double(d) / 1e6);
    sum += x, squares += x * x;
  }
  const double n = double(a.size()), mean = sum / n;
  EXPECT_NEAR(mean, 0, 4 * 0.5 / std::sqrt(n));
  EXPECT_NEAR(std::sqrt(squares / n - mean * mean), 0.5, 4 * 0.5 / std::sqrt(2 * n));
}

}}  // namespace muster
