// The policy `muri`: what the simulator that came with Muri does, oddities included, so that its published numbers can be compared.
#include <algorithm>
#include <array>

#include "parts/placer.hpp"
#include "table.hpp"

namespace muster {

namespace {

constexpr PartInfo kOrders[] = {
    {"srtf", "shortest remaining time first"},
    {"srsf", "shortest remaining service (time x GPUs) first"},
    {"tiresias", "three queues by attained GPU time"},
};

/// Semantics of simulator/run_sim.py (Rivendile/Muri, SIGCOMM 2022), functions shortest_first_sim_jobs and dlas_sim_jobs:
/// at every event the cluster is emptied and filled again in order; who does not fit is passed over; every job that ran is stopped and
/// started anew, even where it was, and pays for that what the model says. Jobs are kept in a list that is sorted anew each time, ties as
/// they were.
class Muri final : public Policy {
 public:
  Muri(size_t order, const Topology& t) : tiresias_(order == 2), by_service_(order == 1), placer_(make_placer("first", t, 0)) {}

  void schedule(const View& now, Plan& plan) override {
    bool event = now.now() == demotion_;
    for (const Event& e : now.events()) {
      event |= e.what != What::wake;
      if (e.what == What::submit && plan.queue().contains(e.job)) queues_[0].push_back(e.job);
      if (e.what == What::end)
        for (auto& q : queues_) std::erase(q, e.job);
    }
    if (!event) return plan.wake_at(demotion_);  // the alarm of a job that was stopped before it would have gone down
    if (tiresias_) demote(now, plan);
    else sort(now);
    for (const auto& q : queues_)
      for (const JobId j : q)
        if (!plan.at(j).empty()) plan.preempt(j);
    for (const auto& q : queues_)
      for (const JobId j : q) {
        const Pieces at = placer_->find(now, plan, j);
        if (at.empty()) continue;
        plan.start(j, at);
        if (now.state(j) == State::running) plan.restart(j);
      }
    if (!tiresias_) return;
    for (auto& q : queues_) std::stable_partition(q.begin(), q.end(), [&](JobId j) { return !plan.at(j).empty(); });
    demotion_ = next_demotion(now, plan);
    if (demotion_ != kNever) plan.wake_at(demotion_);
  }

 private:
  static constexpr std::array<int64_t, 2> kLimits = {3250, 7200};  // GPU-seconds of the first and second queue

  void sort(const View& now) {
    const auto left = [&](JobId j) {
      const Int128 time = Int128(now.oracle_left(j)) + now.setback(j);
      return by_service_ ? time * now.shape(j).total_milli() : time;
    };
    std::stable_sort(queues_[0].begin(), queues_[0].end(), [&](JobId a, JobId b) { return left(a) < left(b); });
  }

  /// A job that ran goes down by one queue at most, to the end of it; jobs are looked at in the order in which they came.
  void demote(const View& now, const Plan& plan) {
    std::vector<std::pair<JobId, size_t>> down;
    for (size_t q = 0; q < kLimits.size(); q++)
      for (const JobId j : queues_[q])
        if (!plan.at(j).empty() && now.attained(j) >= Int128(kLimits[q]) * kMilli * kSecond) down.emplace_back(j, q);
    std::sort(down.begin(), down.end());
    for (const auto& [j, q] : down) std::erase(queues_[q], j), queues_[q + 1].push_back(j);
  }

  /// At a whole second of run time, rounded up.
  Time next_demotion(const View& now, const Plan& plan) const {
    Time next = kNever;
    for (size_t q = 0; q < kLimits.size(); q++)
      for (const JobId j : queues_[q])
        if (!plan.at(j).empty()) {
          const int64_t milli = now.shape(j).total_milli();
          if (milli == 0) continue;  // it attains nothing
          next = std::min(next, now.now() + (kLimits[q] * kMilli + milli - 1) / milli * kSecond - now.ran(j));
        }
    return next;
  }

  bool tiresias_, by_service_;
  std::unique_ptr<Placer> placer_;
  Time demotion_ = kNever;
  std::array<std::vector<JobId>, 3> queues_;  // one for the orders that need no more
};

}  // namespace

std::vector<Parameter> muri_parameters() { return {slot_parameter("order", "srtf", "who comes first", kOrders)}; }

std::unique_ptr<Policy> make_muri(const PolicyInput& in) {
  static constexpr std::array<std::string_view, 1> kKnown = {"order"};
  in.parameters.only(kKnown);
  const Config* c = in.parameters.find("order");
  const PartInfo& order = c ? choose(kOrders, c->as_text(), "order", c->where) : kOrders[0];
  return std::make_unique<Muri>(&order - kOrders, in.topology);
}

}  // namespace muster
