// The gate's arithmetic: bounds, directions, what is missing, what is noise.
#include "report/gate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "metrics/metrics.hpp"
#include "muster/simulator.hpp"
#include "workload/trace.hpp"

namespace muster {
namespace {

using testing::HasSubstr;
using Verdict = Row::Verdict;

RunReport report(std::vector<Metric> metrics, uint64_t seed = 1, std::string file = "r.json") {
  return {.file = std::move(file), .complete = true, .seed = seed, .inputs = {}, .report = {std::move(metrics)}};
}

Bound bound(std::string metric, double share, double amount = 0, bool both = false) {
  return {.metric = std::move(metric),
          .share = share,
          .amount = amount,
          .both_directions = both,
          .where = "gate.json: /metrics/x",
          .text = "1 %"};
}

Row judged(double base, double now, Better better, const Bound& b) {
  Gate gate{.bounds = {b}};
  Row row = compare("base", {report({{b.metric, base, "s", better}})}, "new", {report({{b.metric, now, "s", better}})}, &gate).rows.at(0);
  row.bound = nullptr;  // it points into a gate that ends here
  return row;
}

TEST(Gate, BoundsAreHeldInBothDirectionsOfBetter) {
  struct Case {
    double base, now;
    Better better;
    Bound b;
    Verdict want;
  };
  const std::vector<Case> cases = {
      {100, 101, Better::lower, bound("x", 0.01), Verdict::ok},             // at the bound
      {100, 101.001, Better::lower, bound("x", 0.01), Verdict::worse},      // past it
      {100, 50, Better::lower, bound("x", 0.01), Verdict::ok},              // better is never worse ...
      {100, 50, Better::lower, bound("x", 0.01, 0, true), Verdict::moved},  // ... unless both directions are held
      {100, 98, Better::higher, bound("x", 0.01), Verdict::worse},
      {100, 150, Better::higher, bound("x", 0.01), Verdict::ok},
      {100, 150, Better::higher, bound("x", 0.01, 0, true), Verdict::moved},
      {-100, -98, Better::lower, bound("x", 0.01), Verdict::worse},   // shares are of the size of the base
      {100, 104, Better::lower, bound("x", 0.01, 5), Verdict::ok},    // the larger allowance counts: 5 > 1
      {1000, 1009, Better::lower, bound("x", 0.01, 5), Verdict::ok},  // 10 > 5
      {100, 106, Better::lower, bound("x", 0.01, 5), Verdict::worse},
      {0, 0, Better::lower, bound("x", 0.5), Verdict::ok},
      {0, 0.001, Better::lower, bound("x", 0.5), Verdict::worse},  // any share of nothing is nothing
      {0, 2, Better::lower, bound("x", 0, 3), Verdict::ok},
      {100, 100, Better::lower, bound("x", 0), Verdict::ok},
      {100, 100.0000001, Better::lower, bound("x", 0), Verdict::worse},
  };
  for (const Case& c : cases) EXPECT_EQ(judged(c.base, c.now, c.better, c.b).verdict, c.want) << c.base << " -> " << c.now;
}

TEST(Gate, WhatCannotBeJudgedFails) {
  const double null = std::nan("");
  EXPECT_EQ(judged(null, 1, Better::lower, bound("x", 1)).verdict, Verdict::undefined);
  EXPECT_EQ(judged(1, null, Better::lower, bound("x", 1)).verdict, Verdict::undefined);
  EXPECT_EQ(judged(null, null, Better::lower, bound("x", 1)).verdict, Verdict::undefined);
  EXPECT_TRUE(judged(null, null, Better::lower, bound("x", 1)).failed());

  Gate gate{.bounds = {bound("x", 1)}};
  const RunReport with = report({{"x", 1, "s", Better::lower}, {"y", 1, "s", Better::lower}}, 1, "with.json"),
                  without = report({{"y", 1, "s", Better::lower}}, 1, "without.json");
  for (const bool gone : {true, false}) {
    const Comparison c = compare("b", {gone ? with : without}, "n", {gone ? without : with}, &gate);
    EXPECT_EQ(c.failures(), 1u);
    const auto row = std::find_if(c.rows.begin(), c.rows.end(), [](const Row& r) { return r.metric == "x"; });
    EXPECT_EQ(row->verdict, Verdict::missing);
    EXPECT_EQ(row->why, "without.json does not have it");
  }
}

TEST(Gate, NewAndGoneMetricsAreShown) {
  Gate gate{.bounds = {bound("y", 0.01)}};
  const Comparison c = compare("b", {report({{"gone", 3, "s", Better::lower}, {"y", 1, "s", Better::lower}})}, "n",
                               {report({{"y", 1, "s", Better::lower}, {"fresh", 2, "s", Better::lower}})}, &gate);
  ASSERT_EQ(c.rows.size(), 3u);
  EXPECT_EQ(c.rows[0].verdict, Verdict::gone);
  EXPECT_EQ(c.rows[2].verdict, Verdict::fresh);
  EXPECT_EQ(c.failures(), 0u);
  const std::string table = gate_table(c);
  EXPECT_THAT(table, HasSubstr("fresh"));
  EXPECT_THAT(table, HasSubstr("gone"));
}

TEST(Gate, UnknownMetricsAreErrors) {
  Gate gate{.bounds = {bound("jct_maen_s", 0.01)}};
  gate.bounds[0].where = "gate.json: /metrics/jct_maen_s";
  try {
    compare("b", {report({{"jct_mean_s", 1, "s", Better::lower}})}, "n", {report({{"jct_mean_s", 1, "s", Better::lower}})}, &gate);
    FAIL();
  } catch (const InputError& e) {
    EXPECT_STREQ(e.what(), "gate.json: /metrics/jct_maen_s: no report has a metric of this name; did you mean jct_mean_s?");
  }
}

TEST(Gate, AMetricWithoutDirectionWantsOne) {
  EXPECT_THROW(judged(1, 2, Better::none, bound("x", 1)), InputError);
  EXPECT_EQ(judged(100, 102, Better::none, bound("x", 0.01, 0, true)).verdict, Verdict::worse);
  EXPECT_EQ(judged(100, 98, Better::none, bound("x", 0.01, 0, true)).verdict, Verdict::moved);
  Bound b = bound("x", 0.01);
  b.better = Better::higher;
  EXPECT_EQ(judged(100, 98, Better::none, b).verdict, Verdict::worse);
}

std::vector<RunReport> series(const std::vector<double>& values, std::string side) {
  std::vector<RunReport> r;
  for (std::size_t i = 0; i < values.size(); ++i) r.push_back(report({{"x", values[i], "s", Better::lower}}, i, side + std::to_string(i)));
  return r;
}

TEST(Gate, PairsAreMadeBySeedWhateverTheOrder) {
  std::vector<RunReport> base = series({100, 200, 300}, "b"), now = series({101, 201, 301}, "n");
  std::reverse(now.begin(), now.end());
  const Comparison c = compare("b", base, "n", now, nullptr);
  EXPECT_DOUBLE_EQ(c.rows.at(0).low, 1);  // every paired difference is 1; unpaired they would reach from -199 to 201
  EXPECT_DOUBLE_EQ(c.rows.at(0).high, 1);

  now.pop_back();
  EXPECT_THROW(compare("b", base, "n", now, nullptr), InputError);  // seed 0 lost its partner
  now.push_back(now[0]);
  EXPECT_THROW(compare("b", base, "n", now, nullptr), InputError);  // seed 2 twice
}

TEST(Gate, TheIntervalOfTwoSeedsIsKnown) {
  // Differences 1 and 3: the mean of two draws is 1, 2, 2 or 3, a quarter each, so 95 % reach from 1 to 3 and 40 % lie at 2.
  Gate wide{.bounds = {bound("x", 0, 0.5)}}, narrow = wide;
  narrow.confidence = 0.4;
  const Row w = compare("b", series({10, 10}, "b"), "n", series({11, 13}, "n"), &wide).rows.at(0);
  EXPECT_DOUBLE_EQ(w.low, 1);
  EXPECT_DOUBLE_EQ(w.high, 3);
  EXPECT_EQ(w.verdict, Verdict::worse);
  const Row n = compare("b", series({10, 10}, "b"), "n", series({11, 13}, "n"), &narrow).rows.at(0);
  EXPECT_DOUBLE_EQ(n.low, 2);
  EXPECT_DOUBLE_EQ(n.high, 2);
  Gate loose{.bounds = {bound("x", 0, 1.5)}};  // the mean, 2, is past it, the interval is not
  const Comparison c = compare("b", series({10, 10}, "b"), "n", series({11, 13}, "n"), &loose);
  EXPECT_EQ(c.rows.at(0).verdict, Verdict::unsure);
  EXPECT_EQ(c.failures(), 0u);
  EXPECT_THAT(gate_table(c), HasSubstr("unsure"));
}

TEST(Gate, FewerSeedsThanAskedAreRefused) {
  Gate gate{.bounds = {bound("x", 1)}, .least_seeds = 3};
  EXPECT_THROW(compare("b", series({1, 2}, "b"), "n", series({1, 2}, "n"), &gate), InputError);
  EXPECT_NO_THROW(compare("b", series({1, 2, 3}, "b"), "n", series({1, 2, 3}, "n"), &gate));
}

/// The highest priority first. Among equals the one that came first or, with the tie rule swapped, the one that came last.
class ByPriority : public Policy {
 public:
  explicit ByPriority(bool swapped) : swapped_(swapped) {}
  void schedule(const View& now, Plan& plan) override {
    const Cluster& cluster = plan.cluster();
    while (cluster.free_now_gpus() > 0) {
      JobId best = kNone;
      for (JobId j = plan.queue().first(); j != kNone; j = plan.queue().next(j + 1))
        if (best == kNone || now.priority(j) > now.priority(best) || (swapped_ && now.priority(j) == now.priority(best))) best = j;
      if (best == kNone) return;
      NodeId n = 0;
      while (cluster.free_now_count(n) == 0) n++;
      const uint64_t free = cluster.free_now(n);
      const Piece piece = Piece::whole(n, 1, free & -free);
      plan.start(best, {&piece, 1});
    }
  }

 private:
  bool swapped_;
};

/// A busy day of one-GPU jobs of three priorities on 8 GPUs, replayed.
RunReport replay(uint64_t workload_seed, bool swapped, uint64_t pair) {
  std::mt19937_64 random(workload_seed);
  const auto exponential = [&](double m) { return -m * std::log(1 - double(random() >> 11) * 0x1p-53); };
  std::string trace = "id,submit_s,gpus,duration_s,priority\n";
  double submit = 0;
  for (int i = 0; i < 800; i++) {
    submit += exponential(100);
    trace += std::to_string(i) + "," + std::to_string(int(submit)) + ",1," + std::to_string(int(exponential(760))) + "," +
             std::to_string(random() % 3) + "\n";
  }
  const Topology topology = Topology::parse_line("node:2 gpu:4");
  TraceResult read = read_trace(trace, "trace.csv");
  fit_shapes(read.workload, topology);
  ByPriority policy(swapped);
  Metrics metrics;
  Simulator simulator(topology, read.workload, policy);
  simulator.observe(metrics);
  simulator.run();
  return {.file = "r.json", .complete = true, .seed = pair, .inputs = {}, .report = metrics.report()};
}

std::vector<RunReport> replays(uint64_t first, bool swapped, uint64_t n = 20) {
  std::vector<RunReport> r;
  for (uint64_t i = 0; i < n; ++i) r.push_back(replay(first + i, swapped, i));
  return r;
}

const Row& row(const Comparison& c, std::string_view metric) {
  return *std::find_if(c.rows.begin(), c.rows.end(), [&](const Row& r) { return r.metric == metric; });
}

TEST(Gate, ASwappedTieRuleIsCaughtOverTwentySeeds) {
  Gate gate{.bounds = {bound("queue_mean_s", 0.05), bound("queue_p99_s", 0.05)}};
  const std::vector<RunReport> base = replays(1, false);
  const Comparison c = compare("base", base, "swapped", replays(1, true), &gate);
  EXPECT_FALSE(row(c, "queue_mean_s").failed()) << gate_table(c);             // the mean hardly knows
  EXPECT_EQ(row(c, "queue_p99_s").verdict, Verdict::worse) << gate_table(c);  // the last in line does
  EXPECT_EQ(c.failures(), 1u);
  EXPECT_EQ(compare("base", base, "same", replays(1, false), &gate).failures(), 0u);
}

TEST(Gate, NoiseBetweenSeedsIsNotFlagged) {
  // The same policy over other workloads: any two differ by far more than the bound, and all of it is noise.
  Gate gate{.bounds = {bound("queue_mean_s", 0.01), bound("queue_p99_s", 0.01)}};
  int flagged = 0, single = 0;
  for (uint64_t round = 0; round < 6; ++round) {
    const std::vector<RunReport> base = replays(1000 + 40 * round, false), now = replays(1020 + 40 * round, false);
    flagged += int(compare("base", base, "new", now, &gate).failures());
    single += int(compare("base", {base[0]}, "new", {now[0]}, &gate).failures());
  }
  EXPECT_LE(flagged, 1);  // of 12; one in forty is what 95 % promise
  EXPECT_GE(single, 3);   // one seed alone cannot tell
}

TEST(Gate, TheTableIsThatOfTheScreens) {
  Gate gate{.bounds = {bound("jct_mean_s", 0.01), bound("queue_p99_s", 0.02), bound("gpu_utilization", 0.005)}};
  gate.bounds[1].text = "2 %", gate.bounds[2].text = "0.5 %";
  const Comparison c = compare("base.json",
                               {report({{"jct_mean_s", 11520.3, "s", Better::lower},
                                        {"queue_p99_s", 39900, "s", Better::lower},
                                        {"gpu_utilization", 0.7820, "1", Better::higher}})},
                               "new.json",
                               {report({{"jct_mean_s", 11871.9, "s", Better::lower},
                                        {"queue_p99_s", 39120, "s", Better::lower},
                                        {"gpu_utilization", 0.7822, "1", Better::higher},
                                        {"fragmentation", 0.061, "1", Better::lower}})},
                               &gate);
  EXPECT_EQ(gate_table(c),
            "metric              base      new   change   bound\n"
            "jct_mean_s       11520.3  11871.9  +3.05 %    +1 %  worse\n"
            "queue_p99_s        39900    39120  -1.95 %    +2 %  ok\n"
            "gpu_utilization   0.7820   0.7822  +0.03 %  -0.5 %  ok\n"
            "fragmentation          -   0.0610      new       -  not gated\n"
            "1 of 3 gated metrics out of bounds\n");
}

TEST(Gate, ANameIsOneLineOfTheTable) {
  const Comparison c = compare("base", {report({{"x\x1b[2J\n::error::y", 1, "s", Better::lower}})}, "new",
                               {report({{"x\x1b[2J\n::error::y", 2, "s", Better::lower}})}, nullptr);
  EXPECT_EQ(gate_table(c),
            "metric                  base  new     change\n"
            "x\\x1b[2J\\x0a::error::y     1    2  +100.00 %\n");
}

TEST(Gate, AnEnormousChangeFitsItsColumn) {
  const Comparison c = compare("base", {report({{"x", 3, "s", Better::lower}})}, "new", {report({{"x", 3e300, "s", Better::lower}})}, nullptr);
  EXPECT_EQ(gate_table(c),
            "metric  base         new         change\n"
            "x          3  3.000e+300  +1.000e+302 %\n");
}

TEST(Gate, JunitAndAnnotationsEscape) {
  Gate gate{.bounds = {bound("a<b>&\"c", 0.01)}};
  std::vector<Comparison> all{
      compare("b", {report({{"a<b>&\"c", 1, "s", Better::lower}})}, "n", {report({{"a<b>&\"c", 2, "s", Better::lower}})}, &gate)};
  const std::string junit = gate_junit(all);
  EXPECT_THAT(junit, HasSubstr("tests=\"1\" failures=\"1\""));
  EXPECT_THAT(junit, HasSubstr("name=\"a&lt;b&gt;&amp;&quot;c\""));
  EXPECT_THAT(gate_annotations(all[0]),
              testing::StartsWith("::error title=muster%3A a<b>&\"c out of bounds::a<b>&\"c: 1 -> 2 (+100.00 %25)"));
}

TEST(Gate, FirstDifferenceCountsLines) {
  EXPECT_FALSE(first_difference("a\nb\n", "a\nb\n"));
  EXPECT_FALSE(first_difference("", ""));
  struct Case {
    const char *a, *b;
    std::size_t line;
    std::optional<std::string> left, right;
  };
  const std::vector<Case> cases = {
      {"a\nb\nc\n", "a\nx\nc\n", 2, "b\n", "x\n"}, {"a\nb\n", "a\n", 2, "b\n", std::nullopt}, {"a\nb\n", "a\nb", 2, "b\n", "b"},
      {"", "a\n", 1, std::nullopt, "a\n"},         {"ab\n", "ac\n", 1, "ab\n", "ac\n"},       {"ab\nc", "ab\nd", 2, "c", "d"},
  };
  for (const Case& c : cases) {
    const std::optional<Parting> p = first_difference(c.a, c.b);
    ASSERT_TRUE(p);
    EXPECT_EQ(p->line, c.line);
    EXPECT_EQ(p->a, c.left);
    EXPECT_EQ(p->b, c.right);
  }
}

std::string refusal(const std::function<void()>& f) {
  try {
    f();
  } catch (const InputError& e) { return e.what(); }
  return "accepted";
}

TEST(Gate, ReadsAGateFile) {
  const Gate g = read_gate(R"({
    // bounds of the nightly run
    "$schema": "gate.schema.json",
    "metrics": {
      "jct_mean_s": {"max_worse": "1 %"},
      "queue_p99_s": {"max_worse": "2.5%", "max_worse_abs": 30},
      "preemptions": {"max_worse_abs": 0, "both_directions": true, "better": "lower"}
    },
    "seeds": {"least": 5, "confidence": "99 %", "resamples": 500, "seed": 7}
  })",
                           "gate.json");
  ASSERT_EQ(g.bounds.size(), 3u);
  EXPECT_DOUBLE_EQ(g.bounds[0].share, 0.01);
  EXPECT_EQ(g.bounds[0].amount, 0);
  EXPECT_EQ(g.bounds[0].text, "1 %");
  EXPECT_DOUBLE_EQ(g.bounds[1].share, 0.025);
  EXPECT_EQ(g.bounds[1].amount, 30);
  EXPECT_EQ(g.bounds[1].text, "2.5 %, 30");
  EXPECT_EQ(g.bounds[2].share, 0);
  EXPECT_TRUE(g.bounds[2].both_directions);
  EXPECT_EQ(g.bounds[2].better, Better::lower);
  EXPECT_EQ(g.least_seeds, 5u);
  EXPECT_DOUBLE_EQ(g.confidence, 0.99);
  EXPECT_EQ(g.resamples, 500u);
  EXPECT_EQ(g.seed, 7u);
}

TEST(Gate, RefusesBadGateFiles) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"[]", "g.json: want an object with \"metrics\""},
      {"{}", "g.json: want \"metrics\": which metrics are gated, and what they may lose"},
      {R"({"metrics": {}})", "g.json: /metrics: want at least one metric; a gate without one passes everything"},
      {R"({"metrics": []})", "g.json: /metrics: want an object of metric names"},
      {R"({"metrisc": {}})", "g.json: /metrisc: unknown key \"metrisc\"; did you mean metrics?"},
      {R"({"metrics": {"x": {}}})",
       "g.json: /metrics/x: want \"max_worse\" (\"1 %\"), \"max_worse_abs\" (a number in the metric's unit), or both"},
      {R"({"metrics": {"x": 3}})", "g.json: /metrics/x: want an object with \"max_worse\" or \"max_worse_abs\""},
      {R"({"metrics": {"x": {"max_wores": "1 %"}}})", "g.json: /metrics/x/max_wores: unknown key \"max_wores\"; did you mean max_worse?"},
      {R"({"metrics": {"x": {"max_worse": 1}}})", "g.json: /metrics/x/max_worse: want a percentage as text, such as \"1 %\", found 1"},
      {R"({"metrics": {"x": {"max_worse": "1"}}})",
       "g.json: /metrics/x/max_worse: want a percentage as text, such as \"1 %\", found \"1\""},
      {R"({"metrics": {"x": {"max_worse": "nan %"}}})",
       "g.json: /metrics/x/max_worse: want a percentage as text, such as \"1 %\", found \"nan %\""},
      {R"({"metrics": {"x": {"max_worse": "-1 %"}}})", "g.json: /metrics/x/max_worse: want 0 % to 1000000 %, found \"-1 %\""},
      {R"({"metrics": {"x": {"max_worse_abs": "1 s"}}})", "g.json: /metrics/x/max_worse_abs: want a number from 0, in the metric's unit"},
      {R"({"metrics": {"x": {"max_worse_abs": -1}}})", "g.json: /metrics/x/max_worse_abs: want a number from 0, in the metric's unit"},
      {R"({"metrics": {"x": {"max_worse": "1 %", "better": "up"}}})",
       "g.json: /metrics/x/better: want \"lower\", \"higher\" or \"none\", found \"up\""},
      {R"({"metrics": {"x": {"max_worse": "1 %"}}, "seeds": {"confidence": "20 %"}})",
       "g.json: /seeds/confidence: want 50 % to 99.9 %, found \"20 %\""},
      {R"({"metrics": {"x": {"max_worse": "1 %"}}, "seeds": {"least": 0}})",
       "g.json: /seeds/least: want a whole number from 1 to 1,000,000, found 0"},
      {R"({"metrics": {"x": {"max_worse": "1 %"}, "x": {"max_worse": "2 %"}}})", "g.json: /metrics: key \"x\" is given twice"},
  };
  for (const auto& entry : cases) EXPECT_EQ(refusal([&entry] { read_gate(entry.first, "g.json"); }), entry.second);
}

std::string report_text(const std::string& metrics, const std::string& complete = "true") {
  return R"({"schema": "muster-report-1", "provenance": {"seed": 18446744073709551615, "inputs": [{"role": "trace", "name": "t.csv", "sha256": "ab"}]},
    "metrics": {)" +
         metrics + R"(}, "complete": )" + complete + "}";
}

TEST(Gate, ReadsAReport) {
  const RunReport r = read_run_report(report_text(R"("x": {"value": 1.5, "unit": "s", "better": "lower"},
                                                     "y": {"value": null, "unit": "1", "better": "none"})"),
                                      "r.json");
  EXPECT_EQ(r.seed, UINT64_MAX);
  ASSERT_EQ(r.inputs.size(), 1u);
  EXPECT_EQ(r.inputs[0].digest, "ab");
  ASSERT_EQ(r.report.metrics.size(), 2u);
  EXPECT_EQ(r.report.metrics[0].value, 1.5);
  EXPECT_EQ(r.report.metrics[0].better, Better::lower);
  EXPECT_TRUE(std::isnan(r.report.metrics[1].value));
}

TEST(Gate, RefusesWhatIsNoWholeReport) {
  const std::vector<std::pair<std::string, const char*>> cases = {
      {"{}", "r.json: is no report.json: it has no \"schema\""},
      {"3", "r.json: is no report.json: it has no \"schema\""},
      {R"({"schema": "muster-report-9"})", "r.json: /schema: want \"muster-report-1\", found \"muster-report-9\""},
      {report_text("", "false"), "r.json: is of a run that was cut short (\"complete\" is not true); such numbers are not compared"},
      {R"({"schema": "muster-report-1"})",
       "r.json: is of a run that was cut short (\"complete\" is not true); such numbers are not compared"},
      {report_text(R"("x": {"unit": "s", "better": "lower"})"), "r.json: /metrics/x: want a \"value\", a number or null"},
      {report_text(R"("x": {"value": "1", "unit": "s", "better": "lower"})"), "r.json: /metrics/x/value: want a number or null"},
      {report_text(R"("x": {"value": 1, "better": "lower"})"), "r.json: /metrics/x: want a \"unit\" and a \"better\""},
      {R"({"schema": "muster-report-1", "complete": true, "provenance": {"seed": -1}, "metrics": {}})",
       "r.json: /provenance/seed: want a \"seed\", a whole number from 0"},
  };
  for (const auto& entry : cases) EXPECT_EQ(refusal([&entry] { read_run_report(entry.first, "r.json"); }), entry.second);
  EXPECT_NE(refusal([] { read_run_report(report_text("").substr(0, 60), "r.json"); }), "accepted");
}

}  // namespace
}  // namespace muster
