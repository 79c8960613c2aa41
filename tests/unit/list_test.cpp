// The list policy: hand-worked cases of order, of why a job waits, and of what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "muster/simulator.hpp"

namespace muster { namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A workload by hand; times in microseconds.
struct Jobs {
  Workload w;
  Jobs() { w.tenants.add(""), w.queues.add(""); }
  Shape& add(Time submit, Duration work, uint32_t gpus) {
    Job& j = w.jobs.emplace_back();
    j.submit = submit, j.earliest_start = submit, j.shape = uint32_t(w.shapes.size());
    w.truths.emplace_back().work = work;
    w.names.add("j" + std::to_string(w.jobs.size() - 1));
    Shape& s = w.shapes.emplace_back();
    s.nodes = Nodes::one, s.total_gpus = gpus;
    TaskGroup& g = s.groups.emplace_back();
    g.gpus = gpus, g.per_task[kGpu] = gpus * kMilli;
    return s;
  }
};

/// Starts as "time job node" and reasons as "time job reason".
struct Seen final : Observer {
  std::vector<std::string> starts, reasons;
  void see(std::span<const Record> records) override {
    for (const Record& r : records) {
      const std::string head = std::to_string(r.at) + " j" + std::to_string(r.job) + " ";
      if (r.what == What::start) starts.push_back(head + "n" + std::to_string(r.pieces[0].node));
      if (r.what == What::waits || (r.what == What::end && r.reason != Reason::none))
        reasons.push_back(head + std::string(to_text(r.reason)));
    }
  }
};

const PolicyInfo& named(std::string_view name) {
  for (const PolicyInfo& info : builtin_policies())
    if (info.name == name) return info;
  throw std::logic_error("no such policy");
}

std::unique_ptr<Policy> make(const Topology& t, const Workload& w, std::string_view name,
                             std::initializer_list<std::pair<std::string_view, std::string_view>> values = {}) {
  PolicyInput in{t, w, named(name).preset, 0};
  for (const auto& [slot, value] : values) in.parameters.set(slot, Config::text(std::string(value), "here"));
  return named(name).make(in);
}

Seen run(const Topology& t, const Workload& w, Policy& p, std::vector<ScriptedEvent> events = {}) {
  RunOptions options;
  options.check = options.oracle = true;
  options.events = std::move(events);
  Simulator s(t, w, p, options);
  Seen seen;
  s.observe(seen);
  s.run();
  return seen;
}

TEST(List, AHeadThatDoesNotFitHoldsUpTheRestAndEachIsToldOnce) {
  const Topology t = Topology::parse_line("node:2 gpu:4");
  Jobs jobs;
  jobs.add(0, 100, 3);  // n0
  jobs.add(0, 50, 3);   // n1
  jobs.add(10, 10, 4);  // 2 are free: no free GPUs; from 50 on 5 are free, n1 whole: starts
  jobs.add(10, 10, 1);  // would fit on n0
  jobs.add(20, 10, 1);
  const Seen seen = run(t, jobs.w, *make(t, jobs.w, "fifo"));
  EXPECT_THAT(seen.starts, ElementsAre("0 j0 n0", "0 j1 n1", "50 j2 n1", "50 j3 n0", "60 j4 n0"));
  EXPECT_THAT(seen.reasons, ElementsAre("10 j2 no free GPUs", "10 j3 behind the head", "20 j4 behind the head", "50 j4 no free GPUs"));
}

TEST(List, EnoughGpusButNoNodeIsFragmented) {
  const Topology t = Topology::parse_line("node:2 gpu:4");
  Jobs jobs;
  jobs.add(0, 100, 3);
  jobs.add(0, 50, 3);
  jobs.add(10, 10, 2);  // one GPU is free on each node
  const Seen seen = run(t, jobs.w, *make(t, jobs.w, "fifo"));
  EXPECT_THAT(seen.starts, ElementsAre("0 j0 n0", "0 j1 n1", "50 j2 n1"));
  EXPECT_THAT(seen.reasons, ElementsAre("10 j2 fragmented"));
}

TEST(List, TheKindThatIsShortIsNamed) {
  const Topology t = Topology::parse_line("node:2[cpus=8,mem_gib=1,gpu_type=A100] gpu:4");
  for (const bool cpu : {true, false}) {
    Jobs jobs;
    const size_t kind = cpu ? kCpu : kMem;
    jobs.add(0, 100, 1).groups[0].per_task[kind] = cpu ? 6 * kMilli : 600;
    jobs.add(0, 50, 1).groups[0].per_task[kind] = cpu ? 6 * kMilli : 600;
    jobs.add(0, 10, 1).groups[0].per_task[kind] = cpu ? 3 * kMilli : 500;
    const Seen seen = run(t, jobs.w, *make(t, jobs.w, "fifo"));
    EXPECT_THAT(seen.starts, ElementsAre("0 j0 n0", "0 j1 n1", "50 j2 n1"));
    EXPECT_THAT(seen.reasons, ElementsAre(cpu ? "0 j2 cpu" : "0 j2 memory"));
  }
}

TEST(List, SkipPassesOverWhatDoesNotFit) {
  const Topology t = Topology::parse_line("node:1 gpu:4");
  Jobs jobs;
  jobs.add(0, 100, 3);
  jobs.add(1, 10, 2);
  jobs.add(2, 10, 1);
  jobs.add(3, 10, 1);
  const Seen seen = run(t, jobs.w, *make(t, jobs.w, "fifo-skip"));
  EXPECT_THAT(seen.starts, ElementsAre("0 j0 n0", "2 j2 n0", "12 j3 n0", "100 j1 n0"));
  EXPECT_THAT(seen.reasons, ElementsAre("1 j1 no free GPUs", "3 j3 no free GPUs"));
}

TEST(List, DropLosesWhatDoesNotFit) {
  const Topology t = Topology::parse_line("node:1 gpu:4");
  Jobs jobs;
  jobs.add(0, 100, 3);
  jobs.add(1, 10, 2);
  jobs.add(2, 10, 1);
  const Seen seen = run(t, jobs.w, *make(t, jobs.w, "list", {{"blocked", "drop"}}));
  EXPECT_THAT(seen.starts, ElementsAre("0 j0 n0", "2 j2 n0"));
  EXPECT_THAT(seen.reasons, ElementsAre("1 j1 no free GPUs"));
}

TEST(List, AJobWhoseStartIsAheadBlocksNobodyAndKeepsItsPlace) {
  const Topology t = Topology::parse_line("node:1 gpu:1");
  Jobs jobs;
  jobs.add(0, 5, 1);
  jobs.add(0, 5, 1);
  jobs.add(0, 5, 1);
  jobs.w.jobs[0].earliest_start = 7;
  const Seen seen = run(t, jobs.w, *make(t, jobs.w, "fifo"));
  EXPECT_THAT(seen.starts, ElementsAre("0 j1 n0", "5 j2 n0", "10 j0 n0"));
  EXPECT_THAT(seen.reasons, ElementsAre("0 j0 not yet", "0 j2 no free GPUs", "7 j0 no free GPUs"));
}

TEST(List, ShortestFirstKnowsTrueRunTimesUnlessToldOtherwise) {
  const Topology t = Topology::parse_line("node:1 gpu:1");
  Jobs jobs;
  jobs.add(0, 10, 1);
  jobs.add(1, 8, 1);
  jobs.add(1, 4, 1);
  jobs.add(1, 4, 1);
  jobs.w.jobs[1].estimate = 2;
  EXPECT_THAT(run(t, jobs.w, *make(t, jobs.w, "sjf")).starts, ElementsAre("0 j0 n0", "10 j2 n0", "14 j3 n0", "18 j1 n0"));
  EXPECT_THAT(run(t, jobs.w, *make(t, jobs.w, "sjf", {{"estimate", "trace"}})).starts,
              ElementsAre("0 j0 n0", "10 j1 n0", "18 j2 n0", "22 j3 n0"));
}

TEST(List, APriorityEventMovesAJobThatWaits) {
  const Topology t = Topology::parse_line("node:1 gpu:1");
  Jobs jobs;
  for (int i = 0; i < 4; i++) jobs.add(0, 10, 1);
  jobs.w.jobs[2].priority = 1;
  ScriptedEvent e;
  e.kind = ScriptedEvent::Kind::priority, e.at = 5, e.job = 3, e.value = 2;
  const Seen seen = run(t, jobs.w, *make(t, jobs.w, "priority"), {e});
  EXPECT_THAT(seen.starts, ElementsAre("0 j2 n0", "10 j3 n0", "20 j0 n0", "30 j1 n0"));
  EXPECT_THAT(seen.reasons, ElementsAre("0 j0 no free GPUs", "0 j1 behind the head", "0 j3 behind the head", "5 j0 behind the head",
                                        "5 j3 no free GPUs", "10 j0 no free GPUs", "20 j1 no free GPUs"));
}

TEST(List, EveryPairOfPartsRunsOrIsRefusedWithAReason) {
  const Topology t = Topology::parse_line("node:3 gpu:2");
  Jobs jobs;
  for (int i = 0; i < 12; i++) {
    jobs.add(i, 20, 1 + i % 2);
    jobs.w.jobs.back().estimate = 5 + i;
  }
  const std::vector<Parameter>& slots = named("list").parameters;
  // Estimates that know the truth are refused where no part looks at them; making way goes with two ways of being blocked.
  const std::set<std::string> know = {"exact", "stated", "scaled", "noisy"}, gives_way = {"stop", "skip"};
  const std::set<std::string> look = {"sjf", "ljf", "srtf", "srsf", "ftf", "easy", "conservative", "hybrid"};
  for (const Parameter& a : slots)
    for (const Parameter& b : slots) {
      if (&a >= &b) continue;
      for (const std::string& x : a.allowed)
        for (const std::string& y : b.allowed) {
          const std::string both = a.name + "=" + x + " " + b.name + "=" + y;
          const bool blind = b.name == "estimate" && know.count(y) && !look.count(x);
          const bool stuck = a.name == "blocked" && b.name == "preempt" && y == "order" && !gives_way.count(x);
          std::unique_ptr<Policy> p;
          try {
            p = x.starts_with("topology") || y.starts_with("topology") ? make(t, jobs.w, "list", {{a.name, x}, {b.name, y}, {"level", "node"}})
                                                                       : make(t, jobs.w, "list", {{a.name, x}, {b.name, y}});
          } catch (const InputError& e) {
            EXPECT_THAT(e.what(), HasSubstr(blind ? "no part looks at run times" : "who makes way for whom is told for")) << both;
            EXPECT_TRUE(blind || stuck) << both;
            continue;
          }
          EXPECT_FALSE(blind || stuck) << both;
          EXPECT_FALSE(run(t, jobs.w, *p).starts.empty()) << both;
        }
    }
}

std::string refusal(const Workload& w, std::initializer_list<std::pair<std::string_view, std::string_view>> values) {
  const Topology t = Topology::parse_line("node:1 gpu:1");
  try {
    make(t, w, "list", values);
  } catch (const InputError& e) { return e.what(); }
  return "";
}

TEST(List, WhatItDoesNotTakeIsNamed) {
  Jobs jobs;
  jobs.add(0, 1, 1);
  EXPECT_EQ(refusal(jobs.w, {{"order", "fiof"}}),
            "here: slot order: nothing is called \"fiof\"; did you mean fifo? (allowed: fifo sjf ljf largest smallest priority srtf srsf "
            "edf las tiresias gittins rr ftf multifactor)");
  EXPECT_THAT(refusal(jobs.w, {{"ordr", "fifo"}}), HasSubstr("order"));
  EXPECT_EQ(refusal(jobs.w, {{"estimate", "exact"}}),
            "here: estimate exact with order fifo: no part looks at run times (those that do: order sjf, ljf, srtf, srsf, ftf; blocked "
            "easy, conservative, hybrid)");
  EXPECT_EQ(refusal(jobs.w, {{"order", "sjf"}}),
            "order sjf with estimate trace: no job of the trace states an estimate (estimate exact uses true run times)");
}

TEST(Policies, TheTableIsInOrderOfName) {
  const auto all = builtin_policies();
  for (size_t i = 1; i < all.size(); i++) EXPECT_LT(all[i - 1].name, all[i].name);
}

}}  // namespace muster
