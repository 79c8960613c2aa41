// What all forms of the policy `list` share.
#pragma once
#include "parts/blocked.hpp"
#include "parts/not_yet.hpp"

namespace muster {

/// Follows the events: who waits, with which key, and whether room may have come. The pass over the queue is `Form`'s, which has
///   bool contains(JobId), void insert(const View&, JobId, int64_t key), void erase(const View&, JobId): the queue;
///   void pass(const View&, Plan&, bool grew): one pass; `grew`: room may have come since the last one;
/// and, if it likes,
///   void hear(const View&, const Plan&, const Event&): every event, before anything is made of it;
///   void rekey_placed(const View&, const Plan&, JobId): the order has another key for a job that does not wait;
///   void room(const View&, const Event&): an event by which room may have come.
template <class Form> class List : public Policy {
 public:
  explicit List(ListParts p) : parts_(std::move(p)) {}
  void schedule(const View& now, Plan& plan) final {
    Form& form = static_cast<Form&>(*this);
    fresh_.clear();
    bool grew = false;
    known_ = true;
    gave_back_.clear();
    parts_.estimate->follow(now);
    const auto grows = [&](const Event& e) {
      grew = true;
      if constexpr (requires { form.room(now, e); }) form.room(now, e);
      if (e.pieces.empty() || (e.what != What::end && e.what != What::lost)) known_ = false;
      for (const Piece& p : e.pieces) gave_back_.push_back(p.node);
    };
    const auto enter = [&](JobId j) {
      form.insert(now, j, key(now, j));
      fresh_.push_back(j);
    };
    const auto rekey = [&](JobId j) {
      if (!form.contains(j)) return form.rekey_placed(now, plan, j);
      form.erase(now, j);
      form.insert(now, j, key(now, j));
    };
    for (const Event& e : now.events()) {
      form.hear(now, plan, e);
      switch (e.what) {
        case What::submit:
          if (plan.queue().contains(e.job) && !not_yet_.keeps(now, plan, e.job)) enter(e.job);
          break;
        case What::end:
          if (form.contains(e.job)) form.erase(now, e.job);  // cancelled while it waited
          else grows(e);
          break;
        case What::lost:
        case What::drained:
        case What::preempt:
          if (e.job < now.jobs() && plan.queue().contains(e.job) && !form.contains(e.job) && !not_yet_.keeps(now, plan, e.job))
            enter(e.job);
          grows(e);
          break;
        case What::priority:
          if (parts_.order->by_priority()) rekey(e.job);
          break;
        case What::wake:
        case What::speed:
        case What::quota: break;
        default: grows(e);
      }
    }
    not_yet_.release(now, plan, enter);
    changed_.clear();
    parts_.order->changed(now, plan, changed_);
    for (const JobId j : changed_) rekey(j);
    form.pass(now, plan, grew);
    if (const Time t = parts_.order->next(now); t != kNever) plan.wake_at(t);
  }
  void hear(const View&, const Plan&, const Event&) {}
  void rekey_placed(const View&, const Plan&, JobId) {}

 protected:
  int64_t key(const View& now, JobId j) { return parts_.order->key(now, *parts_.estimate, j); }

  ListParts parts_;
  std::vector<JobId> fresh_;  // came into the queue since the last pass
  // Nodes that gave devices back since then, and whether that is all the room that came.
  std::vector<NodeId> gave_back_;
  bool known_ = false;

 private:
  NotYet not_yet_;
  std::vector<JobId> changed_;
};

}  // namespace muster
