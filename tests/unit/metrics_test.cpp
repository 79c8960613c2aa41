// Metrics of hand-written record streams against numbers worked out by hand.
#include <gtest/gtest.h>

#include "metrics/metrics.hpp"
#include "metrics/quantiles.hpp"
#include "recordings.hpp"

namespace muster {
namespace {

using test::kGpuSecond;
using test::Recorded;

Report report_of(Recorded r) {
  Metrics m;
  r.deliver({&m});
  return m.report();
}

struct Expected {
  const char* name;
  double value;
};

void expect(const Report& r, std::initializer_list<Expected> all) {
  for (const Expected& e : all) {
    const Metric* m = r.find(e.name);
    ASSERT_NE(m, nullptr) << e.name;
    if (std::isnan(e.value)) {
      EXPECT_TRUE(std::isnan(m->value)) << e.name << " is " << m->value;
    } else {
      EXPECT_DOUBLE_EQ(m->value, e.value) << e.name;
    }
  }
}

const double kNull = std::numeric_limits<double>::quiet_NaN();

TEST(Metrics, TwoJobsOnTwoGpus) {
  expect(report_of(test::two_jobs()),
         {{"jobs_submitted", 2}, {"jobs_done", 2}, {"jobs_rejected", 0}, {"jobs_cpu_only", 0}, {"preemptions", 0},
          {"jct_mean_s", 19}, {"jct_p50_s", 10}, {"jct_p90_s", 28}, {"jct_p99_s", 28}, {"jct_max_s", 28},
          {"queue_mean_s", 4}, {"queue_p50_s", 0}, {"queue_max_s", 8}, {"wait_first_mean_s", 4}, {"run_mean_s", 15}, {"restart_mean_s", 0},
          {"slowdown_mean", 1.2}, {"slowdown_p50", 1}, {"slowdown_max", 1.4},  // (1 + 28 / 20) / 2
          {"makespan_s", 30}, {"throughput_jobs_per_hour", 240},
          {"gpu_utilization", 40.0 / 60}, {"gpu_allocation", 40.0 / 60}, {"gpu_useful", 40.0 / 60},
          {"gpu_idle_nobody_waiting", 20.0 / 60}, {"gpu_idle_jobs_waiting", 0}, {"gpu_idle_too_few", 0},
          {"offered_load", 5}});  // (2 x 10 + 1 x 20) / (2 GPUs x 2 s x 2 / 1)
}

TEST(Metrics, PreemptionSplitsTime) {
  expect(report_of(test::preempted()),
         {{"jobs_submitted", 3}, {"jobs_done", 2}, {"jobs_rejected", 1}, {"jobs_cpu_only", 1}, {"preemptions", 1},
          {"jct_mean_s", 9.5}, {"queue_mean_s", 1}, {"wait_first_mean_s", 0}, {"run_mean_s", 6.5}, {"restart_mean_s", 2}, {"restart_max_s", 4},
          {"slowdown_mean", 1.3}, {"slowdown_max", 1.6},  // 16 / 10; the short job is bounded to 1
          {"makespan_s", 16}, {"gpu_utilization", 22.0 / 32}, {"gpu_useful", 20.0 / 32}, {"gpu_allocation", 28.0 / 32},
          {"gpu_idle_nobody_waiting", 0}, {"gpu_idle_jobs_waiting", 4.0 / 32}, {"gpu_idle_fragmented", 4.0 / 32}, {"gpu_idle_other", 0}});
}

TEST(Metrics, NothingRan) {
  Recorded r("node:1 gpu:2");
  const JobId a = r.job("a", 0, 3, 10);
  r.add(0, What::submit, a, State::queued);
  Record& end = r.add(0, What::end, a, State::rejected);
  end.reason = Reason::cluster_size, end.time = &r.times.emplace_back();
  expect(report_of(std::move(r)), {{"jobs_rejected", 1}, {"jct_mean_s", kNull}, {"jct_p50_s", kNull}, {"slowdown_mean", kNull}, {"makespan_s", kNull},
                                   {"throughput_jobs_per_hour", kNull}, {"gpu_utilization", kNull}, {"offered_load", kNull}});
}

TEST(Metrics, NoJobs) { expect(report_of(Recorded("node:1 gpu:2")), {{"jobs_submitted", 0}, {"jct_mean_s", kNull}, {"gpu_allocation", kNull}}); }

TEST(Metrics, ClusterWithoutGpus) {
  Recorded r("node:2");
  const JobId a = r.job("a", 0, 0, 5);
  r.add(0, What::submit, a, State::queued).waiting = 1;
  Record& start = r.add(0, What::start, a, State::running);
  start.waiting = -1, start.pieces = r.on("n1");
  r.add(5, What::end, a, State::done).time = &r.times.emplace_back(TimeParts{.work = 5 * kSecond});
  expect(report_of(std::move(r)),
         {{"jobs_cpu_only", 1}, {"makespan_s", 5}, {"gpu_utilization", kNull}, {"gpu_allocation", kNull}, {"gpu_useful", kNull}, {"offered_load", kNull}});
}

TEST(Metrics, CapacityFollowsChangesAndTheWindowIsTheMakespan) {
  // 2 GPUs from 0 to 4, 1 GPU from 4 to 10: 14 GPU-seconds installed. Installing 100 more at 20, after all is over, changes nothing.
  Recorded r("node:1 gpu:2");
  const JobId a = r.job("a", 0, 1, 10);
  r.add(0, What::submit, a, State::queued).waiting = 1;
  Record& start = r.add(0, What::start, a, State::running);
  start.waiting = -1, start.held = kMilli, start.pieces = r.on("n0/gpu0");
  r.add(4, What::capacity, kNone, State::future).capacity = -kMilli;
  Record& end = r.add(10, What::end, a, State::done);
  end.held = -kMilli, end.computed = 10 * kGpuSecond, end.time = &r.times.emplace_back(TimeParts{.work = 10 * kSecond});
  r.add(20, What::capacity, kNone, State::future).capacity = 100 * kMilli;
  expect(report_of(std::move(r)), {{"makespan_s", 10}, {"gpu_utilization", 10.0 / 14}, {"gpu_allocation", 10.0 / 14}, {"gpu_idle_nobody_waiting", 4.0 / 14}});
}

TEST(Metrics, TimesAfterADayOf100000GpusStayExact) {
  // 100,000 GPUs x 30 days in milli-GPU x microseconds is 2.6e20, beyond 64 bits.
  Recorded r("node:12500 gpu:8");
  const int64_t days30 = 30 * 86'400;
  const JobId a = r.job("a", 0, 100'000, days30);
  r.add(0, What::submit, a, State::queued).waiting = 1;
  Record& start = r.add(0, What::start, a, State::running);
  start.waiting = -1, start.held = 100'000 * kMilli;
  Record& end = r.add(days30, What::end, a, State::done);
  end.held = -100'000 * kMilli, end.computed = kGpuSecond * 50'000 * days30, end.time = &r.times.emplace_back(TimeParts{.work = days30 * kSecond});
  expect(report_of(std::move(r)), {{"gpu_utilization", 0.5}, {"gpu_allocation", 1}});
}

TEST(Metrics, NearestRank) {
  // Of 1 .. 200 and 50 zeros: rank ceil(p n / 100) of 250 values.
  Ticks t;
  for (int i = 200; i > 0; i--) t.add(i * kSecond);
  for (int i = 0; i < 50; i++) t.add(0);
  Report r;
  t.report(r, "x", Better::lower);
  expect(r, {{"x_mean_s", 80.4}, {"x_p50_s", 75}, {"x_p90_s", 175}, {"x_p99_s", 198}, {"x_max_s", 200}});
}

TEST(Metrics, EveryNameIsUniqueAndAFamilyAlwaysReportsTheSame) {
  const Report a = report_of(test::two_jobs()), b = report_of(Recorded("node:1 gpu:2"));
  ASSERT_EQ(a.metrics.size(), b.metrics.size());
  for (size_t i = 0; i < a.metrics.size(); i++) {
    EXPECT_EQ(a.metrics[i].name, b.metrics[i].name);
    EXPECT_EQ(a.find(a.metrics[i].name), &a.metrics[i]) << "named twice: " << a.metrics[i].name;
  }
}

}  // namespace
}  // namespace muster
