// Policies that break their contract: what the run says, and that it ends.
#include <gtest/gtest.h>

#include <functional>

#include "muster/simulator.hpp"
#include "topology/json.hpp"
#include "workload/trace.hpp"

namespace muster { namespace {

struct Scripted : Policy {
  std::function<void(const View&, Plan&)> f;
  void schedule(const View& now, Plan& plan) override { f(now, plan); }
};

/// Two nodes of two GPUs with 8 CPUs; a and b want one GPU, g two tasks of one, m 6 CPUs. Returns what the run threw.
std::string answer(std::function<void(const View&, Plan&)> f) {
  const Topology t =
      topology_from_json(R"({"nodes": [{"name": "n1", "gpus": 2, "cpus": 8}, {"name": "n2", "gpus": 2, "cpus": 8}]})", "t.json");
  Workload w = read_trace(
                   "job_id,submit_s,tasks,gpus_per_task,cpus,run_s\n"
                   "a,0,1,1,0,10\n"
                   "b,0,1,1,0,10\n"
                   "g,0,2,1,0,10\n"
                   "m,0,1,0,6,10\n"
                   "o,0,1,0,6,10\n"
                   "late,5,1,1,0,10\n",
                   "j.csv")
                   .workload;
  fit_shapes(w, t);
  Scripted policy;
  policy.f = std::move(f);
  RunOptions options;
  options.header.policy = "mine";
  options.check = true;
  Simulator s(t, w, policy, std::move(options));
  try {
    s.run();
  } catch (const ContractError& e) { return e.what(); } catch (const NoProgress& e) {
    return e.what();
  }
  return "ended";
}

enum : JobId { kA, kB, kG, kM, kO, kLate };

Piece on(NodeId n, uint64_t mask, uint16_t tasks = 1) { return Piece::whole(n, tasks, mask); }

void start(Plan& plan, JobId j, std::initializer_list<Piece> p) { plan.start(j, Pieces(p.begin(), p.size())); }

const std::string kBroke = "policy mine broke its contract at 0s: ";

TEST(Contract, DeviceTwice) {
  EXPECT_EQ(answer([](const View&, Plan& p) { start(p, kA, {on(0, 1)}), start(p, kB, {on(0, 1)}); }),
            kBroke + "job b placed on n1/gpu0, which job a holds");
}
TEST(Contract, UnknownJob) {
  EXPECT_EQ(answer([](const View&, Plan& p) { start(p, 99, {on(0, 1)}); }), kBroke + "start of unknown job number 99");
}
TEST(Contract, JobOfTheFuture) {
  EXPECT_EQ(answer([](const View&, Plan& p) { start(p, kLate, {on(0, 1)}); }), kBroke + "start of job late, which has not been submitted");
}
TEST(Contract, UnknownNode) {
  EXPECT_EQ(answer([](const View&, Plan& p) { start(p, kA, {on(7, 1)}); }), kBroke + "job a placed on node number 7: no such node");
}
TEST(Contract, UnknownGpu) {
  const std::string text = answer([](const View&, Plan& p) { start(p, kA, {on(0, 4)}); });
  EXPECT_EQ(text.rfind(kBroke + "job a placed on n1/gpu2", 0), 0u) << text;
}
TEST(Contract, MoreTasksThanAsked) {
  EXPECT_EQ(answer([](const View&, Plan& p) { start(p, kA, {on(0, 3, 2)}); }), kBroke + "job a: 2 tasks placed, 1 asked for");
}
TEST(Contract, TaskWithoutItsGpus) {
  EXPECT_EQ(answer([](const View&, Plan& p) { start(p, kG, {on(0, 1, 2)}); }), kBroke + "job g: 2 tasks on n1 want 2 GPUs, placed on 1");
}
TEST(Contract, CpusOver) {
  const std::string text = answer([](const View&, Plan& p) { start(p, kM, {on(0, 0)}), start(p, kO, {on(0, 0)}); });
  EXPECT_EQ(text.rfind(kBroke + "job o placed on n1", 0), 0u) << text;
}
TEST(Contract, NoPlacement) {
  EXPECT_EQ(answer([](const View&, Plan& p) { p.start(kA, {}); }), kBroke + "start of job a without a placement");
}
TEST(Contract, StartTwice) {
  EXPECT_EQ(answer([](const View&, Plan& p) { start(p, kA, {on(0, 1)}), start(p, kA, {on(0, 2)}); }),
            kBroke + "start of job a, which has a placement already");
}
TEST(Contract, PreemptWhoWaits) {
  EXPECT_EQ(answer([](const View&, Plan& p) { p.preempt(kA); }), kBroke + "preempt of job a, which has no placement");
}
TEST(Contract, AlarmInThePast) {
  EXPECT_EQ(answer([](const View& now, Plan& p) { p.wake_at(now.now()); }), kBroke + "wake_at 0s, which is not ahead");
}
TEST(Contract, OracleNotDeclared) {
  const std::string text = answer([](const View& now, Plan&) { now.oracle_left(kA); });
  EXPECT_EQ(text, kBroke + "it asks for true run times without declaring needs_oracle");
}
TEST(Contract, AnswersNothing) {
  const std::string text = answer([](const View&, Plan&) {});
  EXPECT_EQ(text.substr(0, text.find('\n')), "no progress at 5s: 6 jobs wait, nothing runs, nothing is due");
  EXPECT_NE(text.find("\n  job g  2 tasks wait"), std::string::npos) << text;
}
// An alarm is no hope: a policy that only ever asks to be woken does not keep the run alive.
TEST(Contract, AlarmsForEver) {
  const std::string text = answer([](const View& now, Plan& p) { p.wake_at(now.now() + kSecond); });
  EXPECT_EQ(text.rfind("no progress at ", 0), 0u) << text;
}

}}  // namespace muster
