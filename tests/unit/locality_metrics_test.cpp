// Locality, sharing anomaly, fragmentation and loss of capacity of hand-written record streams, worked out by hand.
#include <gtest/gtest.h>

#include "metrics/metrics.hpp"
#include "recordings.hpp"

namespace muster {
namespace {

using test::Recorded;

/// What a run of a job looks like in the stream.
void runs(Recorded& r, JobId j, int64_t from_s, int64_t to_s, std::string_view on, int64_t speed = kFullSpeed) {
  const Pieces at = r.on(on);
  Record& start = r.add(from_s, What::start, j, State::running);
  start.waiting = -1, start.held = int64_t{gpus_of(at)} * kMilli, start.pieces = at, start.speed = speed;
  Record& end = r.add(to_s, What::end, j, State::done);
  end.held = -start.held, end.pieces = at;
  end.time = &r.times.emplace_back(TimeParts{.queue_first = from_s * kSecond - r.workload.jobs[j].submit, .work = (to_s - from_s) * kSecond});
}
void comes(Recorded& r, JobId j, Reason reason = Reason::none) {
  const int64_t at = r.workload.jobs[j].submit / kSecond;
  r.add(at, What::submit, j, State::queued).waiting = 1;
  if (reason != Reason::none) r.add(at, What::waits, j, State::queued).reason = reason;
}
Report report_of(Recorded& r) {
  std::stable_sort(r.records.begin(), r.records.end(), [](const Record& a, const Record& b) { return a.at < b.at; });
  Metrics m({"all"});
  r.deliver({&m});
  return m.report();
}
double value(const Report& r, std::string_view name) {
  const Metric* m = r.find(name);
  EXPECT_NE(m, nullptr) << name;
  return m ? m->value : 0;
}

TEST(LocalityMetrics, LevelsJobsAndSlowdown) {
  Recorded r("node:2 switch:2 gpu:2");
  const JobId a = r.job("a", 0, 2, 10), b = r.job("b", 0, 4, 10), c = r.job("c", 0, 1, 10);
  for (const JobId j : {a, b, c}) comes(r, j);
  runs(r, a, 0, 10, "n0/gpu0-1"), runs(r, b, 0, 20, "n1/gpu0-3", kFullSpeed / 2), runs(r, c, 0, 10, "n0/gpu2");
  const Report m = report_of(r);
  EXPECT_DOUBLE_EQ(value(m, "locality_jobs_switch"), 0.5);  // c has one GPU and counts nowhere
  EXPECT_DOUBLE_EQ(value(m, "locality_jobs_node"), 0.5);
  EXPECT_DOUBLE_EQ(value(m, "locality_jobs_cluster"), 0);
  EXPECT_DOUBLE_EQ(value(m, "locality_gpu_time_switch"), 0.2);  // 20 and 80 GPU-seconds
  EXPECT_DOUBLE_EQ(value(m, "locality_gpu_time_node"), 0.8);
  EXPECT_DOUBLE_EQ(value(m, "locality_slowdown_switch"), 1);
  EXPECT_DOUBLE_EQ(value(m, "locality_slowdown_node"), 2);
  EXPECT_DOUBLE_EQ(value(m, "locality_slowdown_mean"), 100.0 / 60);  // 20 and 40 at full speed
  EXPECT_TRUE(std::isnan(value(m, "locality_slowdown_cluster")));
}

TEST(LocalityMetrics, SpeedChangesCountFromWhenTheyCome) {
  Recorded r("node:2 gpu:1");
  const JobId a = r.job("a", 0, 2, 10);
  comes(r, a);
  runs(r, a, 0, 20, "n0/gpu0,n1/gpu0");
  Record& slower = r.add(5, What::speed, a, State::running);
  slower.speed = kFullSpeed / 3 + 1, slower.pieces = r.on("n0/gpu0,n1/gpu0");
  const Report m = report_of(r);
  EXPECT_NEAR(value(m, "locality_slowdown_cluster"), 20.0 / (5 + 5), 1e-5);  // 5 s whole, 15 s a third
}

TEST(LocalityMetrics, Anomaly) {
  Recorded r("node:2 switch:2 gpu:2");
  // a could be under one switch and is across two; b has the least it can have. c waits 5 s for 4 GPUs though 4 are free.
  const JobId a = r.job("a", 0, 2, 10), b = r.job("b", 0, 4, 10), c = r.job("c", 5, 4, 10);
  comes(r, a), comes(r, b), comes(r, c, Reason::fragmented);
  runs(r, a, 0, 10, "n0/gpu1-2"), runs(r, b, 0, 10, "n1/gpu0-3"), runs(r, c, 10, 20, "n0/gpu0-3");
  const Report m = report_of(r);
  EXPECT_DOUBLE_EQ(value(m, "anomaly_wait_gpu_h"), 20.0 / 3600);
  EXPECT_DOUBLE_EQ(value(m, "anomaly_wait_share"), 1);
  EXPECT_DOUBLE_EQ(value(m, "anomaly_jobs_waited"), 1);
  EXPECT_DOUBLE_EQ(value(m, "anomaly_jobs_worse_placed"), 1.0 / 3);
  EXPECT_DOUBLE_EQ(value(m, "anomaly_gpu_time_worse_placed"), 20.0 / 100);
}

TEST(LocalityMetrics, Fragmentation) {
  Recorded r("node:2 gpu:4");
  const JobId a = r.job("a", 0, 3, 10), b = r.job("b", 0, 2, 10);
  comes(r, a), comes(r, b);
  runs(r, a, 0, 10, "n0/gpu0-2"), runs(r, b, 0, 10, "n1/gpu0-1");
  const Report m = report_of(r);
  // 1 and 2 GPUs are free for 10 s. Requests of 3 can use none of them, those of 2 can use 2; both are as popular.
  EXPECT_DOUBLE_EQ(value(m, "fragmentation_topo_node"), (1 + 1.0 / 3) / 2);
  EXPECT_DOUBLE_EQ(value(m, "largest_free_node"), 2);
  // F(3 GPUs) = 1 + 2, F(2 GPUs) = 1 + 0: 2 GPUs of 8, of 3 that are free.
  EXPECT_DOUBLE_EQ(value(m, "fragmentation_fgd"), 2.0 / 8);
  EXPECT_DOUBLE_EQ(value(m, "fragmentation_fgd_ratio"), 2.0 / 3);
  EXPECT_DOUBLE_EQ(value(m, "stranded_gpu"), 1);  // the one on n0 serves neither
  EXPECT_DOUBLE_EQ(value(m, "loss_of_capacity_any"), 0);
}

TEST(LocalityMetrics, FragmentationFollowsWhatComesAndGoes) {
  Recorded r("node:2 gpu:4");
  // 10 s as above with 4-GPU tasks alone (a has a part of each node, b comes at 10), then 10 s of an empty cluster.
  const JobId a = r.job("a", 0, 4, 10), b = r.job("b", 20, 4, 0);
  comes(r, a), comes(r, b);
  runs(r, a, 0, 10, "n0/gpu0-1,n1/gpu0-1"), runs(r, b, 20, 20, "n0/gpu0-3");
  const Report m = report_of(r);
  EXPECT_DOUBLE_EQ(value(m, "fragmentation_topo_node"), 40.0 / 120);  // of 4 x 10 + 8 x 10 free GPU-seconds
  EXPECT_DOUBLE_EQ(value(m, "fragmentation_fgd"), 40.0 / 160);
  EXPECT_DOUBLE_EQ(value(m, "largest_free_node"), 3);
  EXPECT_DOUBLE_EQ(value(m, "stranded_gpu"), 2);
}

TEST(LocalityMetrics, StrandedCpusAndGpus) {
  Recorded r("node:2[cpus=8] gpu:2");
  const JobId a = r.job("a", 0, 1, 10), b = r.job("b", 0, 1, 10), c = r.job("c", 0, 1, 10);
  for (Shape& s : r.workload.shapes) s.groups[0].per_task[kCpu] = 4 * kMilli;
  r.workload.shapes[1].groups[0].per_task[kCpu] = 8 * kMilli;
  for (const JobId j : {a, b, c}) comes(r, j);
  // n0: one GPU with all CPUs: the other GPU is stranded. n1: both GPUs with 4 CPUs each: nothing is left.
  runs(r, b, 0, 10, "n0/gpu0"), runs(r, a, 0, 10, "n1/gpu0"), runs(r, c, 0, 5, "n1/gpu1");
  const Report m = report_of(r);
  EXPECT_DOUBLE_EQ(value(m, "stranded_gpu"), 1);
  EXPECT_DOUBLE_EQ(value(m, "stranded_cpu"), 0);
}

TEST(LocalityMetrics, LossOfCapacity) {
  Recorded r("node:2 gpu:4");
  // From 2 to 10 three GPUs idle while c wants 4: lost if anybody waits, not by what would fit. From 6 on d wants 3, which are there.
  const JobId a = r.job("a", 0, 3, 10), b = r.job("b", 0, 2, 10), c = r.job("c", 2, 4, 10), d = r.job("d", 6, 3, 10);
  comes(r, a), comes(r, b), comes(r, c), comes(r, d);
  runs(r, a, 0, 10, "n0/gpu0-2"), runs(r, b, 0, 10, "n1/gpu0-1"), runs(r, c, 10, 20, "n0/gpu0-3"), runs(r, d, 10, 20, "n1/gpu0-2");
  const Report m = report_of(r);
  EXPECT_DOUBLE_EQ(value(m, "loss_of_capacity_any"), 3.0 * 8 / 160);
  EXPECT_DOUBLE_EQ(value(m, "loss_of_capacity_fit"), 3.0 * 4 / 160);
}

TEST(LocalityMetrics, GpusOutOfOrderAreNotLost) {
  Recorded r("node:2 gpu:4");
  const JobId a = r.job("a", 0, 4, 10), b = r.job("b", 0, 4, 10);
  comes(r, a), comes(r, b);
  r.add(0, What::fault, kNone, State::future).pieces = r.on("n1/gpu0-3");
  runs(r, a, 0, 10, "n0/gpu0-3"), runs(r, b, 10, 20, "n0/gpu0-3");
  const Report m = report_of(r);
  EXPECT_DOUBLE_EQ(value(m, "loss_of_capacity_any"), 0);
  EXPECT_TRUE(std::isnan(value(m, "fragmentation_topo_node")));  // nothing is free
}

TEST(LocalityMetrics, OnlyTheUsualFamiliesUnlessAsked) {
  Recorded r = test::two_jobs();
  Metrics usual;
  r.deliver({&usual});
  EXPECT_EQ(usual.report().find("locality_slowdown_mean"), nullptr);
  Metrics asked;
  r.header.metrics = {"locality"};
  r.deliver({&asked});
  const Report m = asked.report();
  EXPECT_NE(m.find("locality_slowdown_mean"), nullptr);
  EXPECT_EQ(m.find("fragmentation_fgd"), nullptr);
  EXPECT_THROW(parse_families("locality,los"), InputError);
}

}  // namespace
}  // namespace muster
