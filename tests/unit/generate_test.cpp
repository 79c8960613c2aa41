// Made-up traces, and the random numbers below them.
#include "workload/generate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>

#include "muster/random.hpp"
#include "muster/topology.hpp"
#include "text/json_config.hpp"
#include "workload/info.hpp"

namespace muster {
namespace {

std::string make(const std::string& json, std::optional<uint64_t> jobs = {}, std::optional<uint64_t> seed = {}) {
  return generate_trace(parse_json_config(json, "spec.json"), jobs, seed);
}

std::string file(const std::string& name) {
  std::ifstream in(std::string(MUSTER_SOURCE) + "/" + name);
  std::stringstream s;
  s << in.rdbuf();
  return s.str();
}

TEST(Random, LogAndExpAreThoseOfTheLibraryToOneInATrillion) {
  for (double x = 1e-300; x < 1e300; x *= 3.7) EXPECT_NEAR(portable_log(x), std::log(x), 1e-12 * std::max(1.0, std::abs(std::log(x)))) << x;
  for (double x = 0.5; x < 2; x += 0.001) EXPECT_NEAR(portable_log(x), std::log(x), 1e-14) << x;
  for (double x = -690; x < 690; x += 0.37) EXPECT_NEAR(portable_exp(x) / std::exp(x), 1, 1e-12) << x;
  EXPECT_EQ(portable_log(1), 0);
  EXPECT_EQ(portable_exp(0), 1);
}

TEST(Random, Xoshiro) {
  // The published algorithm (Blackman and Vigna), written out once more, from the same seeds.
  uint64_t s[4], x = 42 ^ 0xaf63dc4c8601ec8cU;  // FNV-1a of "a" is af63dc4c8601ec8c
  for (auto& v : s) {
    uint64_t z = (x += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    v = z ^ (z >> 31);
  }
  const auto rotl = [](uint64_t v, int k) { return (v << k) | (v >> (64 - k)); };
  Random r(42, "a");
  for (int i = 0; i < 100; i++) {
    const uint64_t want = rotl(s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotl(s[3], 45);
    EXPECT_EQ(r.next(), want);
  }
  EXPECT_NE(Random(42, "a").next(), Random(42, "b").next());
  EXPECT_NE(Random(42, "a").next(), Random(43, "a").next());
}

TEST(Random, Moments) {
  // Means of 100,000 draws; the bounds are six standard errors.
  Random r(1, "test");
  double unit = 0, exponential = 0, normal = 0, square = 0;
  std::map<uint64_t, int> counts;
  constexpr int n = 100'000;
  for (int i = 0; i < n; i++) {
    unit += r.unit(), exponential += r.exponential(), counts[r.below(6)]++;
    const double z = r.normal();
    normal += z, square += z * z;
  }
  EXPECT_NEAR(unit / n, 0.5, 6 * std::sqrt(1.0 / 12 / n));
  EXPECT_NEAR(exponential / n, 1, 6 / std::sqrt(double(n)));
  EXPECT_NEAR(normal / n, 0, 6 / std::sqrt(double(n)));
  EXPECT_NEAR(square / n, 1, 6 * std::sqrt(2.0 / n));
  EXPECT_EQ(counts.size(), 6U);
  for (const auto& [_, c] : counts) EXPECT_NEAR(c, n / 6.0, 6 * std::sqrt(n * 5.0 / 36));
}

TEST(Generate, ShippedTracesComeFromTheirSpecifications) {
  for (const std::string name : {"campus", "small"}) EXPECT_EQ(make(file("traces/" + name + ".json")), file("traces/" + name + ".csv")) << name;
}

TEST(Generate, CampusIsWhatItsTableSays) {
  auto t = read_trace(file("traces/campus.csv"), "campus.csv");
  EXPECT_EQ(t.workload.jobs.size(), 2000U);
  EXPECT_TRUE(t.left_out.empty());
  EXPECT_TRUE(t.notes.empty());
  const auto v = validate(t.workload, Topology::parse_line("node:16 gpu:8"));
  EXPECT_NEAR(v.load, 0.85, 1e-5);
  EXPECT_EQ(trace_info(t).too_short_estimates, 0U);
}

constexpr const char* kFull = R"({
  "jobs": 5000, "seed": 3, "arrivals": {"per_hour": 60, "hours": [0,0,0,0,0,0,0,0,1,1,1,1,1,1,1,1,1,1,0,0,0,0,0,0], "weekdays": [1,1,1,1,1,0,0]},
  "sizes": {"0": 1, "1": 5, "8": 4}, "gangs": {"share": 0.2, "tasks": {"2": 1, "4": 1}, "gpus_per_task": {"4": 1}, "least": 0.5},
  "durations": {"quantiles": [[0, 60], [0.5, "10m"], [1, "1h"]]},
  "users": {"count": 10, "zipf": 1}, "queues": {"names": ["prod", "dev"], "zipf": 1},
  "estimates": {"share": 0.5, "most": 2, "step": "1m"}, "priorities": {"0": 9, "10": 1}, "deadlines": {"share": 0.3, "least": 2, "most": 3},
  "fates": {"failed": 0.1, "cancelled": 0.05}
})";

TEST(Generate, EveryPart) {
  const auto t = read_trace(make(kFull), "x.csv");
  const Workload& w = t.workload;
  ASSERT_EQ(w.jobs.size(), 5000U);
  EXPECT_TRUE(t.left_out.empty());
  const auto info = trace_info(t);
  // Six standard errors of a share p of 5,000 are 6 sqrt(5000 p (1 - p)).
  const auto near = [](double found, double share, double n) { EXPECT_NEAR(found, share * n, 6 * std::sqrt(n * share * (1 - share))); };
  near(double(info.gangs), 0.2, 5000);
  EXPECT_EQ(info.elastic, info.gangs);
  near(double(info.estimates), 0.5, 5000);
  EXPECT_EQ(info.too_short_estimates, 0U);
  near(double(info.deadlines), 0.3, 5000);
  EXPECT_EQ(info.impossible_deadlines, 0U);
  near(double(t.facts.cpu_only), 0.08, 5000);
  EXPECT_EQ(info.tenants.size(), 10U);
  EXPECT_EQ(info.tenants[0].name, "u1");
  near(double(info.tenants[0].jobs), 1 / 2.9289682539682538, 5000);  // 1 over the tenth harmonic number
  ASSERT_EQ(info.queues[0].name, "prod");
  near(double(info.queues[0].jobs), 2.0 / 3, 5000);
  uint64_t failed = 0, cancelled = 0, urgent = 0, below_median = 0;
  for (JobId j = 0; j < 5000; j++) {
    failed += w.truths[j].fate == Fate::failed, cancelled += w.truths[j].fate == Fate::cancelled, urgent += w.jobs[j].priority == 10;
    EXPECT_GE(w.truths[j].work, 60 * kSecond);
    EXPECT_LE(w.truths[j].work, 3600 * kSecond);
    below_median += w.truths[j].work < 600 * kSecond;
    // Time 0 is a Monday, 00:00: from 8 to 18 on working days.
    const int64_t hour = (w.jobs[j].submit + w.origin) / (3600 * kSecond);
    EXPECT_TRUE(hour % 24 >= 8 && hour % 24 < 18 && hour / 24 % 7 < 5) << hour;
  }
  near(double(failed), 0.1, 5000), near(double(cancelled), 0.05, 5000), near(double(urgent), 0.1, 5000), near(double(below_median), 0.5, 5000);
  // 5,000 jobs at 60 an hour on average over the week; the 50 working hours of a week carry its 168, so they fill 24.8 of them:
  // from Monday 8:00 to Wednesday 12:48. The standard error is sqrt(5000) / 60 / 3.36 h.
  EXPECT_NEAR(double(info.span) / (3600.0 * kSecond), 52.8, 6 * 0.35);
}

TEST(Generate, LogNormal) {
  const auto t = read_trace(make(R"({"jobs": 20001, "arrivals": {"per_hour": 10}, "sizes": {"1": 1}, "durations": {"median": "1h", "sigma": 1, "most": "365d"}})"), "x.csv");
  const auto info = trace_info(t);
  // The logarithm of the sample median has a standard error of sqrt(pi / 2 / n); p90 lies at exp(1.2816 sigma).
  EXPECT_NEAR(std::log(double(info.p50) / 3.6e9), 0, 6 * std::sqrt(1.5708 / 20'001));
  EXPECT_NEAR(std::log(double(info.p90) / 3.6e9), 1.2816, 0.08);
}

TEST(Generate, SeedsAndStreams) {
  EXPECT_EQ(make(kFull), make(kFull));
  EXPECT_NE(make(kFull), make(kFull, {}, 4));
  EXPECT_EQ(std::ranges::count(make(kFull, 17), '\n'), 18);
  // What is drawn for one purpose changes no other: without users the jobs are the same.
  std::string fewer = kFull;
  fewer.replace(fewer.find("\"count\": 10"), 11, "\"count\": 11");
  const auto a = read_trace(make(kFull), "a"), b = read_trace(make(fewer), "b");
  for (JobId j = 0; j < 5000; j++) ASSERT_TRUE(a.workload.jobs[j].submit == b.workload.jobs[j].submit && a.workload.truths[j].work == b.workload.truths[j].work);
}

TEST(Generate, WhatIsWrongIsOneLine) {
  const auto error_of = [](const std::string& json) -> std::string {
    try {
      make(json);
    } catch (const InputError& e) {
      return e.what();
    }
    return "no error";
  };
  const std::string arrivals = R"("arrivals": {"per_hour": 1})", sizes = R"("sizes": {"1": 1})", durations = R"("durations": {"median": 60})";
  const std::pair<std::string, std::string> specs[] = {
      {"[]", "spec.json: want an object"},
      {"{" + sizes + "," + durations + "}", "spec.json: lacks arrivals"},
      {"{" + arrivals + "," + durations + "}", "spec.json: lacks sizes"},
      {"{\"jbos\": 3," + arrivals + "," + sizes + "," + durations + "}", "spec.json: /jbos: "},
      {"{\"jobs\": 0," + arrivals + "," + sizes + "," + durations + "}", "spec.json: /jobs: want a whole number from 1 to 100,000,000, found 0"},
      {"{\"arrivals\": {\"load\": 1}," + sizes + "," + durations + "}", "spec.json: /arrivals: want gpus beside load"},
      {"{\"arrivals\": {\"load\": 1, \"per_hour\": 1, \"gpus\": 8}," + sizes + "," + durations + "}", "spec.json: /arrivals: want either per_hour or load, above 0"},
      {"{\"arrivals\": {\"per_hour\": -1}," + sizes + "," + durations + "}", "spec.json: /arrivals/per_hour: want a number from 0 to 1,000,000,000, found \"-1\""},
      {"{\"arrivals\": {\"per_hour\": 1, \"hours\": [1]}," + sizes + "," + durations + "}", "spec.json: /arrivals/hours: want a list of 24 weights"},
      {"{" + arrivals + ",\"sizes\": {\"one\": 1}," + durations + "}", "spec.json: /sizes/one: want a value from 0 to 1,000,000"},
      {"{" + arrivals + ",\"sizes\": {\"1\": 0}," + durations + "}", "spec.json: /sizes: want a weight above 0"},
      {"{" + arrivals + "," + sizes + ",\"durations\": {}}", "spec.json: /durations: want a median, or quantiles"},
      {"{" + arrivals + "," + sizes + ",\"durations\": {\"quantiles\": [[0, 1], [0.5, 2]]}}", "spec.json: /durations/quantiles: want shares from 0 to 1"},
  };
  for (const auto& [json, message] : specs) {
    const std::string found = error_of(json);
    EXPECT_EQ(found.substr(0, message.size()), message) << found;
  }
}

}  // namespace
}  // namespace muster
