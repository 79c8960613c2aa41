// A run divided into parts: each inner policy sees its jobs, its nodes, its alarms.
#include <gtest/gtest.h>

#include <map>

#include "muster/simulator.hpp"
#include "topology/resolve.hpp"
#include "workload/trace.hpp"

namespace muster {
namespace {

struct Starts : Observer {
  void see(std::span<const Record> records) override {
    for (const Record& r : records)
      if (r.what == What::start) at[r.job] = {r.at / kSecond, r.pieces[0].node};
      else if (r.what == What::end) ends[r.job] = r.state;
  }
  std::map<JobId, std::pair<Time, NodeId>> at;
  std::map<JobId, State> ends;
};

const PolicyInfo& row(std::string_view name) {
  for (const PolicyInfo& p : builtin_policies())
    if (p.name == name) return p;
  throw std::logic_error("no such policy");
}

Config part(std::string nodes) {
  Config c;
  c.set("nodes", Config::text(std::move(nodes)));
  return c;
}

// Queue a owns n0, queue b owns n1 of 4 GPUs each. a2 wants 4 GPUs and waits for a1; under one FIFO b1 would wait behind it.
TEST(Split, a_blocked_head_holds_up_its_own_part_alone) {
  const Topology t = Topology::parse_line("node:2 gpu:4");
  TraceResult trace = read_trace("job_id,queue,submit_s,gpus,run_s\na1,a,0,2,100\na2,a,1,4,10\nb1,b,2,4,10\nc1,c,3,1,10\nb2,b,4,1,10\nb3,b,5,6,10\n", "t.csv");
  fit_shapes(trace.workload, t);
  Config parts;
  parts.set("a", part("n0")), parts.set("b", part("n1"));
  Config c;
  c.set("parts", parts);
  RunOptions o;
  o.check = true;
  auto policy = row("split").make({t, trace.workload, c, 0});
  Simulator s(t, trace.workload, *policy, o);
  Starts starts;
  s.observe(starts);
  s.run();
  using At = std::pair<Time, NodeId>;
  EXPECT_EQ(starts.at[0], At(0, 0));
  EXPECT_EQ(starts.at[1], At(100, 0));  // n1 is idle from 12 on, and not a's
  EXPECT_EQ(starts.at[2], At(2, 1));
  EXPECT_EQ(starts.at[4], At(12, 1));
  EXPECT_EQ(starts.ends[3], State::rejected);  // of no part
  EXPECT_EQ(starts.ends[5], State::rejected);  // 6 GPUs fit the cluster, not the part
}

/// Part 0 places a job on a node of part 1.
struct Intruder : Policy {
  void schedule(const View& now, Plan& plan) override {
    const std::vector<uint32_t> part_of(now.jobs(), 0);
    const std::vector<Plan::Part> parts{{0, 1}, {1, 2}};
    plan.divide(part_of, parts);
    Plan inner = plan.part(0);
    const Piece p = Piece::whole(1, 1, 1);
    inner.start(0, {&p, 1});
  }
};

TEST(Split, placing_outside_the_part_breaks_the_contract) {
  const Topology t = Topology::parse_line("node:2 gpu:4");
  TraceResult trace = read_trace("job_id,submit_s,gpus,run_s\na,0,1,100\n", "t.csv");
  fit_shapes(trace.workload, t);
  Intruder policy;
  Simulator s(t, trace.workload, policy);
  try {
    s.run();
    FAIL() << "must throw";
  } catch (const ContractError& e) {
    EXPECT_NE(std::string(e.what()).find("job a placed on " + t.node_name(1) + ", which belongs to another part"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace muster
