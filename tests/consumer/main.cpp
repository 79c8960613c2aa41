// A policy that lives outside the source tree, sees the installed headers only, and is run by the installed engine.
#include <muster/simulator.hpp>

#include <cstdio>

namespace {

/// Two jobs at a time at most, the youngest first, each on the first node with enough free GPUs.
class YoungestFirst final : public muster::Policy {
 public:
  void schedule(const muster::View& now, muster::Plan& plan) override {
    unsigned running = 0;
    for (muster::JobId j = plan.placed().first(); j != muster::kNone; j = plan.placed().next(j + 1)) running++;
    for (muster::JobId j; running < 2 && (j = plan.queue().last()) != muster::kNone; running++) {
      const unsigned want = now.shape(j).groups[0].gpus;
      const muster::NodeIndex& index = plan.index();
      const uint32_t count = index.count_from(want);
      if (count == muster::kNone) return plan.reason(j, muster::Reason::no_gpus);
      const muster::NodeId node = index.with(count).first();
      uint64_t free = plan.cluster().free_now(node), mask = 0;
      for (unsigned i = 0; i < want; i++, free &= free - 1) mask |= free & -free;
      const muster::Piece piece = muster::Piece::whole(node, 1, mask);
      plan.start(j, {&piece, 1});
    }
  }
};

struct Starts final : muster::Observer {
  void see(std::span<const muster::Record> records) override {
    for (const muster::Record& r : records)
      if (r.what == muster::What::start) order += char('a' + r.job), times.push_back(r.at / muster::kSecond);
  }
  std::string order;
  std::vector<muster::Time> times;
};

}  // namespace

int main() {
  const muster::Topology cluster = muster::Topology::parse_line("node:2 gpu:4");
  muster::Workload work;
  work.tenants.add("ann"), work.queues.add("");
  muster::Shape two;
  two.nodes = muster::Nodes::one, two.total_gpus = 2;
  two.groups.push_back({});
  two.groups[0].gpus = 2, two.groups[0].per_task[muster::kGpu] = 2 * muster::kMilli;
  work.shapes.push_back(two);
  for (const char* name : {"a", "b", "c", "d"}) {
    muster::Job job;
    job.submit = muster::Time(work.jobs.size()) * muster::kSecond;
    work.jobs.push_back(job);
    muster::JobTruth truth;
    truth.work = 10 * muster::kSecond;
    work.truths.push_back(truth);
    work.names.add(name);
  }

  YoungestFirst policy;
  Starts starts;
  muster::Simulator simulator(cluster, work, policy);
  simulator.observe(starts);
  simulator.run();
  // a at 0 and b at 1; at 10 the youngest that waits is d, at 11 it is c.
  const bool right = starts.order == "abdc" && starts.times == std::vector<muster::Time>{0, 1, 10, 11};
  std::printf("%s: started in the order %s\n", right ? "ok" : "wrong", starts.order.c_str());
  return right ? 0 : 1;
}
