// A job's life against numbers worked out by hand; the order of one instant; what once went wrong. Times are ticks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "random_plans.hpp"

namespace muster { namespace {

using testing::HasSubstr;

/// A run whose policy does what it is told, when it is told.
class Play final : public Policy, public Observer {
 public:
  explicit Play(std::string_view line) : topology(Topology::parse_line(line)) {
    workload.tenants.add(""), workload.queues.add("main");
    options.check = true;
  }
  /// `max` tasks of `gpus` GPUs. Jobs are added in order of submit.
  JobId job(std::string_view name, Time submit, Duration work, LifeCosts costs = {}, uint32_t min = 1, uint32_t max = 1, uint32_t gpus = 1) {
    Shape s;
    s.nodes = Nodes::any;
    TaskGroup& g = s.groups.emplace_back();
    g.min_tasks = min, g.max_tasks = max, g.gpus = gpus, g.per_task[kGpu] = gpus * kMilli;
    s.total_gpus = gpus * max, s.fixed = min == max;
    workload.shapes.push_back(s);
    workload.costs.push_back(costs);
    Job j;
    j.submit = submit, j.shape = ShapeId(workload.shapes.size() - 1);
    workload.jobs.push_back(j);
    workload.truths.push_back({work, uint32_t(workload.costs.size() - 1), Fate::done});
    workload.names.add(name);
    return JobId(workload.jobs.size() - 1);
  }
  void at(Time t, std::function<void(const View&, Plan&)> what) { acts.emplace(t, std::move(what)); }
  void start(Time t, JobId j, const std::string& where) {
    at(t, [=, this](const View&, Plan& p) { p.start(j, parse_pieces(topology, where)); });
  }
  void resize(Time t, JobId j, const std::string& where, Duration grace = 0) {
    at(t, [=, this](const View&, Plan& p) { p.resize(j, parse_pieces(topology, where), grace); });
  }
  void preempt(Time t, JobId j, Duration grace = 0) {
    at(t, [=](const View&, Plan& p) { p.preempt(j, grace); });
  }
  void event(Time t, ScriptedEvent::Kind kind, NodeId node, JobId job = kNone, int64_t value = 0) {
    ScriptedEvent e;
    e.at = t, e.kind = kind, e.node_begin = node, e.node_end = node + 1, e.job = job, e.queue = 0, e.value = value;
    options.events.push_back(e);
  }
  void run() {
    Simulator s(topology, workload, *this, options);
    RecordText text(topology, workload);  // holds the stream of records to its own rules
    s.observe(text), s.observe(*this);
    s.run();
    passes = s.passes();
  }
  void schedule(const View& now, Plan& plan) override {
    for (auto a = acts.begin(); a != acts.end() && a->first <= now.now(); a = acts.erase(a)) a->second(now, plan);
    if (always) always(now, plan);
    if (!acts.empty()) plan.wake_at(acts.begin()->first);
  }
  void see(std::span<const Record> records) override {
    for (const Record& r : records) {
      const std::string job = r.job == kNone ? "" : " " + std::string(workload.names[r.job]);
      lines[r.at].push_back(std::string(to_text(r.what)) + job);
      if (r.what == What::end) ends[r.job] = End{r.at, r.state, *r.time, int64_t(r.computed)};
    }
  }
  /// "at state first requeue start work checkpoint drain restart lost"
  std::string end(JobId j) const {
    const auto e = ends.find(j);
    if (e == ends.end()) return "none";
    const TimeParts& p = e->second.time;
    std::string s = std::to_string(e->second.at) + " " + std::string(to_text(e->second.state));
    for (const Duration d : {p.queue_first, p.requeue, p.start_first, p.work, p.checkpoint, p.drain, p.restart, p.lost}) s += " " + std::to_string(d);
    return s;
  }

  struct End {
    Time at;
    State state;
    TimeParts time;
    int64_t computed;
  };
  Topology topology;
  Workload workload;
  RunOptions options;
  std::multimap<Time, std::function<void(const View&, Plan&)>> acts;
  std::function<void(const View&, Plan&)> always;
  std::map<Time, std::vector<std::string>> lines;
  std::map<JobId, End> ends;
  uint64_t passes = 0;
};

LifeCosts costs(Duration interval, Duration cost, Duration start, Duration restart, Duration gives_back = kNever) {
  LifeCosts c;
  c.checkpoint_interval = interval, c.checkpoint_cost = cost, c.start_cost = start, c.restart_cost = restart, c.gives_back_after = gives_back;
  return c;
}

// ---- preemption and checkpoints. Work 20, a checkpoint of 2 after each 10, 3 to start again: undisturbed it computes until 10, writes until
// 12, computes until 22; none is written at the end.

struct Kill {
  Time at;
  Duration grace, gives_back;
  Time again;
  const char* end;
};

class Preempted : public testing::TestWithParam<Kill> {};

TEST_P(Preempted, EqualsTheHandCalculation) {
  const Kill k = GetParam();
  Play p("node:1 gpu:1");
  const JobId a = p.job("a", 0, 20, costs(10, 2, 0, 3, k.gives_back));
  p.start(0, a, "n0/gpu0");
  if (k.at) p.preempt(k.at, a, k.grace), p.start(k.again, a, "n0/gpu0");
  p.run();
  EXPECT_EQ(p.end(a), k.end);
}

INSTANTIATE_TEST_SUITE_P(Life, Preempted, testing::Values(
    Kill{0, 0, kNever, 0, "22 done 0 0 0 20 2 0 0 0"},
    Kill{5, 0, kNever, 6, "31 done 0 1 0 20 2 0 3 5"},     // up again at 9 with all 20 to do: 9 + 22
    Kill{10, 0, kNever, 11, "36 done 0 1 0 20 2 0 3 10"},  // computed, not yet written: 14 + 22
    Kill{11, 0, kNever, 12, "37 done 0 1 0 20 2 0 3 11"},  // half written is not written: 15 + 22
    Kill{12, 0, kNever, 13, "26 done 0 1 0 20 2 0 3 0"},   // written at this very instant: 16 + 10
    Kill{17, 0, kNever, 18, "31 done 0 1 0 20 2 0 3 5"},   // 21 + 10
    Kill{5, 4, kNever, 9, "29 done 0 0 0 20 2 4 3 0"},     // notice until 9 keeps 5 of work: 12 + 10 + 2 + 5
    Kill{5, 4, 1, 6, "26 done 0 0 0 20 2 1 3 0"},          // obeyed after 1: 9 + 17
    Kill{5, 4, 0, 6, "26 done 0 1 0 20 2 0 3 0"}));        // obeyed at once, waits 1: 9 + 17

TEST(Life, FaultLosesWhatNoCheckpointHolds) {
  Play p("node:1 gpu:1");
  const JobId a = p.job("a", 0, 6, costs(kNever, 0, 1, 2));
  p.start(0, a, "n0/gpu0");
  p.event(5, ScriptedEvent::Kind::down, 0), p.event(8, ScriptedEvent::Kind::up, 0);
  p.start(8, a, "n0/gpu0");
  p.run();
  EXPECT_EQ(p.end(a), "16 done 0 3 1 6 0 0 2 4");  // up at 1, 4 lost at 5, waits until 8, up again at 10
}

TEST(Life, ClaimWaitsForWhatDrains) {
  Play p("node:1 gpu:2");
  const JobId a = p.job("a", 0, 100, {}, 2, 2), b = p.job("b", 0, 3, {}, 2, 2);
  p.start(0, a, "n0*2/gpu0-1");
  p.preempt(10, a, 5), p.start(10, b, "n0*2/gpu0-1");
  p.start(18, a, "n0*2/gpu0-1");
  p.run();
  EXPECT_EQ(p.end(b), "18 done 15 0 0 3 0 0 0 0");
  EXPECT_EQ(p.end(a), "108 done 0 3 0 100 0 5 0 0");
  EXPECT_EQ(p.lines[15], (std::vector<std::string>{"drained a", "start b"}));
}

TEST(Life, AGangInPartWaitsWhileItHolds) {
  Play p("node:1 gpu:2");
  const JobId a = p.job("a", 0, 7, {}, 2, 2);
  p.start(0, a, "n0/gpu0"), p.resize(4, a, "n0*2/gpu0-1");
  p.run();
  EXPECT_EQ(p.end(a), "11 done 4 0 0 7 0 0 0 0");
}

TEST(Life, ElasticJobsGrowAndShrinkHot) {
  Play p("node:1 gpu:4");
  const JobId a = p.job("a", 0, 10, {}, 1, 4);  // 40 task-ticks
  p.start(0, a, "n0*2/gpu0-1"), p.resize(5, a, "n0*4/gpu0-3"), p.resize(9, a, "n0/gpu0");
  p.run();
  EXPECT_EQ(p.end(a), "23 done 0 0 0 23 0 0 0 0");  // 10 by 5, 26 by 9, the other 14 alone
  EXPECT_EQ(p.ends[a].computed, 40 * kMilli);
}

TEST(Life, ElasticJobsEndAtTheTickThatCoversTheirWork) {
  Play p("node:1 gpu:4");
  const JobId a = p.job("a", 0, 10, {}, 1, 4);
  p.start(0, a, "n0*3/gpu0-2");
  p.run();
  EXPECT_EQ(p.end(a), "14 done 0 0 0 14 0 0 0 0");  // 40 / 3 rounded up
}

TEST(Life, AWithdrawnNoticeCostsOnlyTheTimeUnderIt) {
  Play p("node:1 gpu:1");
  const JobId a = p.job("a", 0, 20, costs(kNever, 0, 0, 7));
  p.start(0, a, "n0/gpu0"), p.preempt(5, a, 10), p.start(8, a, "n0/gpu0");
  p.run();
  EXPECT_EQ(p.end(a), "23 done 0 0 0 20 0 3 0 0");
}

TEST(Life, ARestartWhereItIsAndWhatTheModelSetsBack) {
  struct Slow final : Model {
    Duration setback(JobId, Pieces, Duration) const override { return 3; }
  } slow;
  Play p("node:1 gpu:2");
  p.options.model = &slow;
  const JobId a = p.job("a", 0, 20);
  std::vector<Duration> told;
  p.start(0, a, "n0/gpu0");
  for (const Time t : {5, 7})  // 3 of 5 are lost, then all 2
    p.at(t, [&](const View& now, Plan& plan) { told.push_back(now.setback(a)), plan.restart(a); });
  p.preempt(17, a), p.start(20, a, "n0/gpu1");  // 3 of 10; 9 are done by then
  p.run();
  EXPECT_EQ(p.end(a), "31 done 0 3 0 20 0 0 0 8");
  EXPECT_THAT(told, testing::ElementsAre(3, 2));
}

TEST(Life, ANoticeSavesWhatTheModelWouldSetBack) {
  struct Slow final : Model {
    Duration setback(JobId, Pieces, Duration) const override { return 3; }
  } slow;
  Play p("node:1 gpu:1");
  p.options.model = &slow;
  const JobId a = p.job("a", 0, 20);
  p.start(0, a, "n0/gpu0"), p.preempt(5, a, 2), p.start(9, a, "n0/gpu0");
  p.run();
  EXPECT_EQ(p.end(a), "24 done 0 2 0 20 0 2 0 0");
}

TEST(Life, TimeLimits) {
  Play p("node:3 gpu:1");
  const JobId a = p.job("a", 0, 10), b = p.job("b", 0, 7), c = p.job("c", 0, 100, costs(kNever, 0, 0, 0));
  for (Job& j : p.workload.jobs) j.time_limit = 7;
  p.start(0, a, "n0/gpu0"), p.start(0, b, "n1/gpu0"), p.start(0, c, "n2/gpu0");
  p.preempt(5, c), p.start(6, c, "n2/gpu0");
  p.run();
  EXPECT_EQ(p.end(a), "7 timed_out 0 0 0 7 0 0 0 0");
  EXPECT_EQ(p.end(b), "7 done 0 0 0 7 0 0 0 0");
  EXPECT_EQ(p.end(c), "8 timed_out 0 1 0 0 0 0 0 7");  // run time that was lost counts towards the limit
}

TEST(Life, JobsWithoutLengthFollowEachOtherWithinOneInstant) {
  Play p("node:1 gpu:1");
  const JobId a = p.job("a", 3, 0), b = p.job("b", 3, 0), c = p.job("c", 3, 0);
  p.always = [&](const View&, Plan& plan) {
    if (plan.cluster().free_gpus() && !plan.queue().empty()) plan.start(plan.queue().first(), parse_pieces(p.topology, "n0/gpu0"));
  };
  p.run();
  for (const JobId j : {a, b, c}) EXPECT_EQ(p.end(j), "3 done 0 0 0 0 0 0 0 0");
  EXPECT_EQ(p.lines[3], (std::vector<std::string>{"submit a", "submit b", "submit c", "start a", "end a", "start b", "end b", "start c", "end c"}));
}

TEST(Life, UntilCutsTheRun) {
  Play p("node:1 gpu:1");
  const JobId a = p.job("a", 0, 10, costs(4, 1, 1, 0)), b = p.job("b", 2, 10), c = p.job("c", 8, 1);
  p.start(0, a, "n0/gpu0");
  p.options.until = 7;
  p.run();
  EXPECT_EQ(p.end(a), "7 unfinished 0 0 1 5 1 0 0 0");
  EXPECT_EQ(p.end(b), "7 unfinished 5 0 0 0 0 0 0 0");
  EXPECT_EQ(p.end(c), "none");
}

TEST(Life, TwoGangsThatHoldHalfEachMakeNoProgress) {
  Play p("node:1 gpu:2");
  const JobId a = p.job("ann", 0, 5, {}, 2, 2), b = p.job("bob", 0, 5, {}, 2, 2);
  p.start(0, a, "n0/gpu0"), p.start(0, b, "n0/gpu1");
  try {
    p.run();
    FAIL() << "it ended";
  } catch (const NoProgress& e) {
    EXPECT_THAT(e.what(), HasSubstr("2 jobs wait"));
    EXPECT_THAT(e.what(), HasSubstr("ann  2 tasks wait: holds 1, wants 1 more"));
    EXPECT_THAT(e.what(), HasSubstr("bob  2 tasks wait: holds 1, wants 1 more"));
  }
}

TEST(Life, AlarmsAloneAreNoHope) {
  Play p("node:1 gpu:1");
  p.job("ann", 0, 5);
  p.always = [](const View& now, Plan& plan) { plan.wake_at(now.now() + 1); };
  EXPECT_THROW(p.run(), NoProgress);
}

TEST(Life, AttainedAndOracleLeaveCheckpointWritesOut) {
  Play p("node:3 gpu:2");
  const JobId a = p.job("a", 0, 20, costs(10, 2, 0, 0)), b = p.job("b", 0, 10, {}, 1, 3), c = p.job("c", 0, kNever);
  p.options.oracle = true;
  p.start(0, a, "n0/gpu0"), p.start(0, b, "n1*2/gpu0-1"), p.start(0, c, "n2/gpu0");
  p.at(11, [=](const View& now, Plan& plan) {
    EXPECT_EQ(now.oracle_left(a), 10);  // half of its checkpoint is written
    EXPECT_EQ(int64_t(now.attained(a)), 10 * kMilli);
    EXPECT_EQ(now.ran(a), 11);
    EXPECT_EQ(now.oracle_left(b), 3);  // 8 of 30 task-ticks are left, of three tasks a tick
    EXPECT_EQ(int64_t(now.attained(b)), 22 * kMilli);
    EXPECT_EQ(now.oracle_left(c), kNever);
    plan.reject(c, Reason::policy);
  });
  p.run();
  EXPECT_EQ(p.end(a), "22 done 0 0 0 20 2 0 0 0");
}

// ---- one instant, one order

TEST(Instant, EverythingInItsRank) {
  Play p("node:9 gpu:1");
  const JobId f = p.job("finish", 0, 10), l = p.job("limit", 0, 100), d = p.job("drain", 0, 100), r = p.job("ready", 0, 5, costs(0, 0, 10, 0)),
              x = p.job("fault", 0, 8), c = p.job("cancel", 0, 5), g = p.job("gives", 0, 100, costs(0, 0, 0, 0, 5), 1, 2), k = p.job("claims", 0, 1),
              gone = p.job("gone", 0, 50, costs(0, 0, 0, 0, 5), 1, 2);
  p.job("submit", 10, 1);
  p.workload.jobs[l].time_limit = 10;
  p.start(0, f, "n0/gpu0"), p.start(0, l, "n1/gpu0"), p.start(0, d, "n2/gpu0"), p.start(0, r, "n3/gpu0"), p.start(3, x, "n5/gpu0");
  p.start(0, g, "n6/gpu0,n7/gpu0"), p.start(0, gone, "n4*1/gpu0,n8/gpu0");
  p.preempt(5, d, 5), p.start(5, k, "n2/gpu0");
  p.at(5, [=](const View&, Plan& plan) { plan.ask(g, 1), plan.ask(gone, 1); });
  using Kind = ScriptedEvent::Kind;
  p.event(10, Kind::quota, 0, kNone, 3);  // scripted in the reverse of the order that they must have
  p.event(10, Kind::cancel, 0, c), p.event(10, Kind::cancel, 0, gone);
  p.event(10, Kind::down, 5), p.event(7, Kind::drain, 0, kNone, kNever), p.event(10, Kind::up, 0);
  std::vector<std::string> heard;
  State claimer = State::future;
  p.at(10, [&](const View& now, Plan& plan) {
    for (const Event& e : now.events()) heard.emplace_back(to_text(e.what));
    claimer = now.state(k);
    plan.note("pass", {});
    for (const JobId j : {d, l, r, x, g, JobId(9)})
      if (!ended(now.state(j))) plan.reject(j, Reason::policy);
  });
  p.run();
  std::vector<std::string> at10 = p.lines[10];
  at10.resize(std::min<size_t>(at10.size(), 14));
  EXPECT_EQ(at10, (std::vector<std::string>{"end finish", "end limit", "drained drain", "run ready", "repair", "lost fault", "fault", "end cancel", "end gone",
                                            "resize gives", "gave_back gives", "quota", "submit submit", "start claims"}));
  EXPECT_EQ(claimer, State::running);  // claimed jobs begin before the pass
  ASSERT_GE(heard.size(), 3u);
  EXPECT_EQ(std::vector<std::string>(heard.end() - 3, heard.end()), (std::vector<std::string>{"submit", "wake", "start"}));
}

TEST(Instant, ACheckpointIsDoneBeforeAFault) {
  Play p("node:1 gpu:1");
  const JobId a = p.job("a", 0, 20, costs(10, 2, 0, 0));
  p.start(0, a, "n0/gpu0"), p.event(12, ScriptedEvent::Kind::down, 0), p.event(12, ScriptedEvent::Kind::up, 0), p.event(13, ScriptedEvent::Kind::up, 0);
  p.start(13, a, "n0/gpu0");
  p.run();
  EXPECT_EQ(p.end(a), "23 done 0 1 0 20 2 0 0 0");  // the repair of 12 came before the fault of 12
}

// ---- what once went wrong

TEST(OnceWrong, AGangInPartThatGoesAwayHandsItsDevicesBack) {
  Play p("node:1 gpu:3");
  const JobId a = p.job("a", 0, 2, {}, 3, 3);
  p.start(0, a, "n0/gpu0"), p.resize(1, a, "n0*2/gpu1-2"), p.resize(2, a, "n0*3/gpu0-2");
  p.run();  // RecordText counts what is held
  EXPECT_EQ(p.end(a), "4 done 2 0 0 2 0 0 0 0");
}

TEST(OnceWrong, AJobPlacedAnewWhileItDrainsWaitsOnce) {
  Play p("node:2 gpu:1");
  const JobId a = p.job("a", 0, 10);
  p.start(0, a, "n0/gpu0"), p.preempt(2, a, 4), p.start(3, a, "n1/gpu0");
  p.run();
  EXPECT_EQ(p.end(a), "14 done 0 0 0 10 0 4 0 0");
}

TEST(OnceWrong, FaultOfANodeWithOneSharedGpu) {
  Play p("node:1 gpu:3");
  const JobId a = p.job("a", 0, 10), b = p.job("b", 0, 10);
  p.start(0, a, "n0/gpu0@2g:2"), p.start(0, b, "n0/gpu2");
  p.event(5, ScriptedEvent::Kind::down, 0);
  p.at(5, [=](const View&, Plan& plan) { plan.drop(a, Reason::policy), plan.drop(b, Reason::policy); });
  p.run();
  EXPECT_EQ(p.lines[5][0], "lost a");
  EXPECT_EQ(p.lines[5][1], "lost b");
}

TEST(OnceWrong, GrowingBeforeShrinkingHoldsMoreThanThereIs) {
  Play p("node:1 gpu:3");
  const JobId a = p.job("a", 0, 10, {}, 1, 2), b = p.job("b", 0, 10, {}, 1, 2);
  p.start(0, a, "n0/gpu0"), p.start(0, b, "n0*2/gpu1-2");
  p.at(5, [&](const View&, Plan& plan) { plan.resize(b, parse_pieces(p.topology, "n0/gpu1")), plan.resize(a, parse_pieces(p.topology, "n0*2/gpu0+2")); });
  p.run();
  EXPECT_EQ(p.end(b), "15 done 0 0 0 15 0 0 0 0");  // 10 of 20 by 5, the others alone
  EXPECT_EQ(p.end(a), "13 done 0 0 0 13 0 0 0 0");  // 5 by 5, 15 more by two
}

TEST(OnceWrong, AShareOfAnotherKindStartsWhileAMigInstanceDrains) {
  Play p("node:1 gpu:1");
  const JobId a = p.job("a", 0, 10), b = p.job("b", 0, 10);
  p.start(0, a, "n0/gpu0@2g:2");
  p.at(4, [&](const View&, Plan& plan) {
    plan.preempt(a, 3);
    const Piece mps = Piece::part(Share::mps, 0, 0, 0, 30, 100);
    plan.start(b, {&mps, 1});
  });
  p.at(17, [=](const View&, Plan& plan) { plan.drop(a, Reason::policy); });
  p.run();
  EXPECT_EQ(p.end(b), "17 done 7 0 0 10 0 0 0 0");
}

TEST(OnceWrong, AGpuThatIsMadeWholeInTheSamePlanIsNotThereAtOnce) {
  Play p("node:1 gpu:2");
  p.options.repartition_time = 4;
  const JobId a = p.job("a", 1, 10, {}, 1, 2);
  p.at(0, [](const View&, Plan&) {});
  p.at(1, [](const View&, Plan& plan) { plan.repartition(1, 1); });
  p.start(6, a, "n0*1/gpu0");
  p.at(10, [&](const View&, Plan& plan) {
    plan.preempt(a);
    plan.repartition(1, 0);
    plan.start(a, parse_pieces(p.topology, "n0/gpu1"));
  });
  p.run();
  EXPECT_EQ(p.lines[10], (std::vector<std::string>{"reshape", "resize a", "claim a"}));
  EXPECT_EQ(p.end(a), "30 done 5 4 0 20 0 0 0 0");  // 4 of 20 by 10, whole again at 14, the others alone
}

TEST(OnceWrong, AnApplicationGivesBackOnANodeOfMoreThan64Gpus) {
  Play p("node:1 gpu:70");
  const JobId a = p.job("a", 0, 10, costs(0, 0, 0, 0, 2), 1, 7, 10);
  p.start(0, a, "n0*7/gpu0-69");
  p.at(1, [=](const View&, Plan& plan) { plan.ask(a, 3); });
  p.at(5, [=](const View&, Plan& plan) {
    EXPECT_EQ(plan.tasks(a), 3u);
    EXPECT_EQ(gpus_of(plan.at(a)), 30u);
  });
  p.run();
  EXPECT_EQ(p.end(a), "20 done 0 0 0 20 0 0 0 0");  // 21 of 70 by 3, 49 by three
}

TEST(OnceWrong, ADropThatIsRefusedLeavesItsPlacement) {
  Play p("node:2 gpu:1");
  const JobId a = p.job("a", 0, 10);
  p.start(0, a, "n0/gpu0"), p.preempt(2, a, 4);
  p.at(3, [&](const View&, Plan& plan) {
    plan.start(a, parse_pieces(p.topology, "n1/gpu0"));
    EXPECT_THROW(plan.drop(a, Reason::policy), ContractError);
    EXPECT_EQ(plan.tasks(a), 1u);
  });
  p.run();
  EXPECT_EQ(p.end(a), "14 done 0 0 0 10 0 4 0 0");
}

}}  // namespace muster
