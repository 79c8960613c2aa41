// Families about fairness, deadlines, bounds and stationarity: two users on two GPUs, worked out by hand.
#include <gtest/gtest.h>

#include "metrics/metrics.hpp"
#include "recordings.hpp"

namespace muster {
namespace {

using test::Recorded;

/// test::two_jobs by two users: ann's a on both GPUs from 0 to 10; bob's b waits from 2 to 10 and runs on one GPU until 30.
Report report_of(std::initializer_list<std::string> families) {
  Recorded r = test::two_jobs();
  r.workload.tenants.add("bob");
  r.workload.jobs[1].tenant = 1;
  r.workload.jobs[0].deadline = 10 * kSecond, r.workload.jobs[1].deadline = 25 * kSecond;
  Metrics m{std::vector<std::string>(families)};
  r.deliver({&m});
  return m.report();
}

double value(const Report& r, const char* name) {
  const Metric* m = r.find(name);
  EXPECT_NE(m, nullptr) << name;
  return m ? m->value : -1;
}

TEST(FairMetrics, JainOfServiceAndSlowdown) {
  const Report r = report_of({"fairness"});
  EXPECT_DOUBLE_EQ(value(r, "jain_service"), 1);  // 20 GPU-seconds each
  EXPECT_DOUBLE_EQ(value(r, "jain_slowdown"), 2.4 * 2.4 / (2 * (1 + 1.4 * 1.4)));
}

TEST(FairMetrics, SpreadWhileTheyCompete) {
  const Report r = report_of({"spread"});  // from 2 to 10 ann holds all, bob nothing; alone nobody has a spread
  EXPECT_DOUBLE_EQ(value(r, "dominant_share_spread_mean"), 1);
  EXPECT_DOUBLE_EQ(value(r, "dominant_share_spread_max"), 1);
}

TEST(FairMetrics, FinishTimeFairness) {
  // a: 1.8 users on average, so 2 x 1.8 / 2 times slower alone: 10 / 18. b: 36 / 28 users leave it a GPU of its own: 28 / 20.
  const Report r = report_of({"rho"});
  EXPECT_DOUBLE_EQ(value(r, "finish_time_fairness_mean"), (10.0 / 18 + 1.4) / 2);
  EXPECT_DOUBLE_EQ(value(r, "finish_time_fairness_p99"), 1.4);
  EXPECT_DOUBLE_EQ(value(r, "finish_time_fairness_max"), 1.4);
  EXPECT_DOUBLE_EQ(value(r, "finish_time_fairness_above_1"), 0.5);
}

TEST(FairMetrics, EqualSplitAndEnvy) {
  // A part is one GPU. bob wanted it for 28 s and had it for 20; ann wanted it for 10 s and had twice that. bob waits while ann holds more.
  const Report r = report_of({"equal-split"});
  EXPECT_DOUBLE_EQ(value(r, "sharing_incentive_violations"), 0.5);
  EXPECT_DOUBLE_EQ(value(r, "sharing_incentive_worst"), 1 - 20.0 / 28);
  EXPECT_DOUBLE_EQ(value(r, "envy"), 1);
}

TEST(FairMetrics, DeadlinesMetAndMissed) {
  const Report r = report_of({"sla"});
  EXPECT_EQ(value(r, "sla_jobs"), 2);
  EXPECT_DOUBLE_EQ(value(r, "sla_attainment"), 0.5);
  EXPECT_DOUBLE_EQ(value(r, "lateness_mean_s"), 2.5);
  EXPECT_DOUBLE_EQ(value(r, "lateness_max_s"), 5);
}

TEST(FairMetrics, WaitsBySizeAndUser) {
  const Report r = report_of({"wait-classes"});
  EXPECT_EQ(value(r, "wait_longest_s"), 8);
  EXPECT_EQ(value(r, "jobs_starved"), 0);
  EXPECT_EQ(value(r, "queue_gpus_1_mean_s"), 8);
  EXPECT_EQ(value(r, "queue_gpus_2_7_mean_s"), 0);
  EXPECT_TRUE(std::isnan(value(r, "queue_gpus_8_mean_s")));
  EXPECT_EQ(value(r, "queue_user_mean_s"), 4);
  EXPECT_EQ(value(r, "queue_user_max_s"), 8);
}

TEST(FairMetrics, NothingBeatsTheBounds) {
  // Area: 40 GPU-seconds / 2 = 20 s; b alone cannot end before 2 + 20. SRPT on one fast server: 10 and 18, mean 14; the mean work is 15.
  const Report r = report_of({"bounds"});
  EXPECT_DOUBLE_EQ(value(r, "makespan_bound_s"), 22);
  EXPECT_DOUBLE_EQ(value(r, "makespan_over_bound"), 30.0 / 22);
  EXPECT_DOUBLE_EQ(value(r, "jct_bound_mean_s"), 15);
  EXPECT_DOUBLE_EQ(value(r, "jct_over_bound"), 19.0 / 15);
}

TEST(FairMetrics, SrptIsTheBoundWhenJobsQueue) {
  // One GPU: 10 s at 0, 2 s at 1. SRPT: the short one from 1 to 3, the long one ends at 12: (12 + 2) / 2, more than the mean work of 6.
  Recorded r("node:1 gpu:1");
  const JobId a = r.job("a", 0, 1, 10), b = r.job("b", 1, 1, 2);
  r.add(0, What::submit, a, State::queued);
  r.add(1, What::submit, b, State::queued);
  r.add(10, What::end, a, State::done).time = &r.times.emplace_back(TimeParts{.work = 10 * kSecond});
  r.add(12, What::end, b, State::done).time = &r.times.emplace_back(TimeParts{.queue_first = 9 * kSecond, .work = 2 * kSecond});
  Metrics m({"bounds"});
  r.deliver({&m});
  const Report report = m.report();
  EXPECT_DOUBLE_EQ(value(report, "jct_bound_mean_s"), 7);
  EXPECT_DOUBLE_EQ(value(report, "jct_over_bound"), 10.5 / 7);
}

/// Jobs of these completion times, one a second, on a machine large enough.
Report settled(const std::vector<int64_t>& seconds) {
  Recorded r("node:1 gpu:2");
  std::vector<std::pair<int64_t, JobId>> ends;
  for (size_t i = 0; i < seconds.size(); i++) {
    const JobId j = r.job("j", int64_t(i), 1, 1);
    r.add(int64_t(i), What::submit, j, State::queued);
    ends.push_back({int64_t(i) + seconds[i], j});
  }
  for (const auto& [at, j] : ends)
    r.add(100'000, What::end, j, State::done).time = &r.times.emplace_back(TimeParts{.work = seconds[j] * kSecond});
  Metrics m({"stationarity"});
  r.deliver({&m});
  return m.report();
}

TEST(FairMetrics, ASettledRunIsStationaryAndADriftingOneIsNot) {
  std::vector<int64_t> even, rising, warm;
  for (int64_t i = 0; i < 400; i++) {
    even.push_back(10 + i % 4), rising.push_back(10 + i), warm.push_back(i < 40 ? 500 : 10 + i % 4);
  }
  const Report a = settled(even), b = settled(rising), c = settled(warm);
  EXPECT_EQ(value(a, "stationary"), 1);
  EXPECT_EQ(value(a, "warm_up_jobs"), 0);
  EXPECT_DOUBLE_EQ(value(a, "jct_steady_mean_s"), 11.5);
  EXPECT_NEAR(value(a, "jct_steady_half_width_s"), 0, 1e-9);  // every batch of 20 has the same mean
  EXPECT_EQ(value(b, "stationary"), 0);
  EXPECT_EQ(value(c, "stationary"), 1);
  EXPECT_EQ(value(c, "warm_up_jobs"), 40);
  EXPECT_DOUBLE_EQ(value(c, "jct_steady_mean_s"), 11.5);
  EXPECT_TRUE(std::isnan(value(settled({1, 2, 3}), "stationary")));
}

}  // namespace
}  // namespace muster
