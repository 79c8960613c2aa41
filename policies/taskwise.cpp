// The policy `taskwise`: tasks are placed one by one and hold what they have, as by a scheduler that knows no gangs.
#include <algorithm>

#include "table.hpp"

namespace muster {

namespace {

/// Turn by turn each unfinished job, in submit order, gets one more task, on the lowest node that holds it, until no task of any job
/// fits. Two jobs that together want more than there is can hold a part each and wait for each other for ever: the textbook's deadlock.
class Taskwise final : public Policy {
 public:
  void schedule(const View& now, Plan& plan) override {
    for (const Event& e : now.events())
      if (e.what == What::submit && plan.queue().contains(e.job)) open_.push_back(e.job);
    std::erase_if(open_, [&](JobId j) { return !plan.queue().contains(j) && !plan.placed().contains(j); });
    for (bool more = true; more;) {
      more = false;
      for (const JobId j : open_) more |= one_more(now, plan, j);
    }
  }

 private:
  static bool one_more(const View& now, Plan& plan, JobId j) {
    const Shape& s = now.shape(j);
    const Cluster& cluster = plan.cluster();
    std::vector<Piece> at(plan.at(j).begin(), plan.at(j).end());
    std::vector<uint32_t> tasks(s.groups.size());
    for (const Piece& p : at) tasks[p.group] += p.tasks;
    for (uint32_t i = 0; i < s.groups.size(); i++) {
      const TaskGroup& g = s.groups[i];
      if (tasks[i] == g.max_tasks) continue;
      for (NodeId n = 0; n < now.topology().nodes(); n++) {
        const bool here = std::any_of(at.begin(), at.end(), [&](const Piece& p) { return p.node == n; });
        if ((s.nodes == Nodes::each && here) || (s.nodes == Nodes::one && !at.empty() && !here)) continue;
        if (!cluster.room(n, g, 1) || cluster.free_now_count(n) < g.gpus) continue;
        add(cluster, at, n, uint8_t(i), g.gpus);
        plan.at(j).empty() ? plan.start(j, at) : plan.resize(j, at);
        return true;
      }
      return false;  // groups in turn
    }
    return false;
  }

  /// One more task of `group` on node `n`, with its lowest free GPUs.
  static void add(const Cluster& cluster, std::vector<Piece>& at, NodeId n, uint8_t group, uint32_t gpus) {
    bool counted = false;
    for (unsigned w = 0; w < cluster.words(n); w++) {
      uint64_t mask = 0;
      for (uint64_t m = cluster.free_now(n, w); gpus && m; m &= m - 1, gpus--) mask |= m & (~m + 1);
      if (!mask && (counted || gpus)) continue;
      const auto p = std::find_if(at.begin(), at.end(), [&](const Piece& q) { return q.node == n && q.group == group && q.word == w; });
      if (p != at.end()) p->what |= mask, p->tasks = uint16_t(p->tasks + !counted);
      else at.push_back(Piece::whole(n, uint16_t(!counted), mask, uint8_t(w), group));
      counted = true;
    }
    std::sort(at.begin(), at.end(), [](const Piece& a, const Piece& b) {
      return a.node != b.node ? a.node < b.node : a.group != b.group ? a.group < b.group : a.word < b.word;
    });
    // A node's tasks are counted on its first piece of the group.
    for (size_t i = 1; i < at.size(); i++)
      if (at[i].node == at[i - 1].node && at[i].group == at[i - 1].group) {
        size_t first = i - 1;
        while (first && at[first - 1].node == at[i].node && at[first - 1].group == at[i].group) first--;
        at[first].tasks = uint16_t(at[first].tasks + at[i].tasks), at[i].tasks = 0;
      }
  }

  std::vector<JobId> open_;  // in submit order
};

}  // namespace

std::unique_ptr<Policy> make_taskwise(const PolicyInput& in) {
  in.parameters.only({});
  for (const Shape& s : in.workload.shapes)
    for (const TaskGroup& g : s.groups)
      if (g.gpu_milli()) throw InputError("policy taskwise: tasks have whole GPUs, the trace asks for parts of one");
  return std::make_unique<Taskwise>();
}

}  // namespace muster
