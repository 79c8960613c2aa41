// The policy `list`: a queue composed of six parts.
#include <algorithm>
#include <array>

#include "parts/blocked.hpp"
#include "parts/job_queue.hpp"
#include "parts/none.hpp"
#include "parts/not_yet.hpp"
#include "parts/placer.hpp"
#include "parts/shape_groups.hpp"
#include "table.hpp"

namespace muster {

namespace {

/// What all forms of the policy share: it follows the events and leaves the pass over the queue to `Form`.
template <class Form> class List : public Policy {
 public:
  List(Order o, Estimate e, std::unique_ptr<Placer> p) : order_(o), estimate_(e), placer_(std::move(p)) {}
  void schedule(const View& now, Plan& plan) final {
    Form& form = static_cast<Form&>(*this);
    fresh_.clear();
    bool grew = false;  // whether room may have come since the last pass
    known_ = true;
    gave_back_.clear();
    const auto grows = [&](const Event& e) {
      grew = true;
      if (e.pieces.empty() || (e.what != What::end && e.what != What::lost)) known_ = false;
      for (const Piece& p : e.pieces) gave_back_.push_back(p.node);
    };
    const auto enter = [&](JobId j) {
      form.insert(now, j, order_key(order_, estimate_, now, j));
      fresh_.push_back(j);
    };
    for (const Event& e : now.events()) {
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
          if (order_ == Order::priority && form.contains(e.job)) {
            form.erase(now, e.job);
            form.insert(now, e.job, order_key(order_, estimate_, now, e.job));
          }
          break;
        case What::wake:
        case What::quota: break;
        default: grows(e);
      }
    }
    not_yet_.release(now, plan, enter);
    form.pass(now, plan, grew);
  }

 protected:
  Order order_;
  Estimate estimate_;
  std::unique_ptr<Placer> placer_;
  std::vector<JobId> fresh_;  // came into the queue since the last pass
  // Nodes that gave devices back since then, and whether that is all the room that came.
  std::vector<NodeId> gave_back_;
  bool known_ = false;

 private:
  NotYet not_yet_;
};

/// Nobody overtakes the head of the queue. A head that does not fit costs nothing until something comes free.
class StopList final : public List<StopList> {
 public:
  StopList(const PolicyInput& in, Order o, Estimate e, std::unique_ptr<Placer> p)
      : List(o, e, std::move(p)), queue_(o, in.workload.jobs.size()) {}
  bool contains(JobId j) const { return queue_.contains(j); }
  void insert(const View&, JobId j, int64_t key) { queue_.insert(j, key); }
  void erase(const View&, JobId j) { queue_.erase(j); }
  void pass(const View& now, Plan& plan, bool grew) {
    JobId head;
    while ((head = queue_.first()) != kNone) {
      if (head == blocked_ && !grew) break;
      const Pieces at = placer_->find(now, plan, head);
      if (at.empty()) {
        const Reason r = placer_->why(now, plan, head);
        if (head != blocked_ && blocked_ != kNone && queue_.contains(blocked_)) plan.reason(blocked_, Reason::behind_head);
        if (head != blocked_ || r != told_) plan.reason(head, r);
        blocked_ = head, told_ = r;
        break;
      }
      plan.start(head, at);
      queue_.erase(head);
      if (head == blocked_) blocked_ = kNone;
    }
    if (head == kNone) return;
    for (const JobId j : fresh_)
      if (j != head && queue_.contains(j)) plan.reason(j, Reason::behind_head);
  }

 private:
  JobQueue queue_;
  JobId blocked_ = kNone;  // the head that did not fit
  Reason told_ = Reason::none;
};

/// Who does not fit at once is dropped.
class DropList final : public List<DropList> {
 public:
  DropList(const PolicyInput& in, Order o, Estimate e, std::unique_ptr<Placer> p)
      : List(o, e, std::move(p)), queue_(o, in.workload.jobs.size()) {}
  bool contains(JobId j) const { return queue_.contains(j); }
  void insert(const View&, JobId j, int64_t key) { queue_.insert(j, key); }
  void erase(const View&, JobId j) { queue_.erase(j); }
  void pass(const View& now, Plan& plan, bool) {
    for (JobId j; (j = queue_.first()) != kNone; queue_.erase(j)) {
      if (const Pieces at = placer_->find(now, plan, j); !at.empty()) plan.start(j, at);
      else plan.drop(j, placer_->why(now, plan, j));
    }
  }

 private:
  JobQueue queue_;
};

/// Who does not fit is passed over. A pass looks once at what each shape asks for, not at each job.
class SkipList final : public List<SkipList> {
 public:
  SkipList(const PolicyInput& in, Order o, Estimate e, std::unique_ptr<Placer> p)
      : List(o, e, std::move(p)), queue_(in.workload.jobs.size()) {}
  bool contains(JobId j) const { return queue_.contains(j); }
  void insert(const View& now, JobId j, int64_t key) { queue_.insert(now, j, key); }
  void erase(const View& now, JobId j) { queue_.erase(now, j); }
  void pass(const View& now, Plan& plan, bool grew) {
    if (grew)
      queue_.forget_failures([&](ShapeId s, Reason why, bool group) {
        if (!known_) return true;
        const Placer::Relax relax{0, group ? Placer::kAllKinds : uint8_t(0)};
        if (placer_->may_fit(now, plan, s, gave_back_, relax)) return true;
        return why == Reason::no_gpus && plan.index().free_now_gpus() >= int64_t(now.shape_of(s).total_gpus);  // another reason now
      });
    for (JobId j; (j = queue_.first()) != kNone;) {
      // A shape that fitted nowhere in the last pass can fit only where devices came back since.
      const Reason before = queue_.failed_before(now, j);
      const bool nowhere = before != Reason::none && known_ && !placer_->may_fit(now, plan, now.job(j).shape, gave_back_, {});
      if (const Pieces at = nowhere ? Pieces{} : placer_->find(now, plan, j); !at.empty()) {
        plan.start(j, at);
        queue_.erase(now, j);
        continue;
      }
      const Reason r = nowhere ? before : placer_->why(now, plan, j);
      queue_.fail(now, j, r, r == Reason::no_gpus || r == Reason::fragmented || r == Reason::type);
      plan.reason(j, r);
    }
    for (const JobId j : fresh_)
      if (queue_.contains(j)) plan.reason(j, queue_.failed(now, j));
    queue_.end_pass();
  }

 private:
  ShapeGroups queue_;
};

constexpr std::array<std::string_view, 6> kSlots = {"order", "quota", "place", "blocked", "preempt", "estimate"};

/// The part that the configuration names for a slot, or the fallback.
const PartInfo& part_for(const Config& c, std::string_view slot, std::string_view fallback, std::span<const PartInfo> parts) {
  const Config* given = c.find(slot);
  return given ? choose(parts, given->as_text(), slot, given->where) : choose(parts, fallback, slot, {});
}

}  // namespace

std::vector<Parameter> list_parameters(std::initializer_list<std::string_view> names) {
  const std::vector<Parameter> all = {
      slot_parameter("order", "fifo", "who comes first; ties: earlier submit, then trace order", orders()),
      slot_parameter("quota", "none", "who may use how much", quotas()),
      slot_parameter("place", "pack", "which nodes a job gets", placers()),
      slot_parameter("blocked", "stop", "what becomes of the queue when a job does not fit", blocked_choices()),
      slot_parameter("preempt", "none", "who makes way for whom", preemptions()),
      slot_parameter("estimate", "trace", "run times that orders look at", estimates()),
  };
  if (names.size() == 0) return all;
  std::vector<Parameter> some;
  for (const std::string_view name : names)
    for (const Parameter& p : all)
      if (p.name == name) some.push_back(p);
  return some;
}

std::unique_ptr<Policy> make_list(const PolicyInput& in) {
  const Config& c = in.parameters;
  c.only(kSlots);
  const PartInfo& order = part_for(c, "order", "fifo", orders());
  const PartInfo& place = part_for(c, "place", "pack", placers());
  const PartInfo& blocked = part_for(c, "blocked", "stop", blocked_choices());
  const PartInfo& estimate = part_for(c, "estimate", "trace", estimates());
  part_for(c, "quota", "none", quotas());
  part_for(c, "preempt", "none", preemptions());
  if (estimate.needs_oracle && !order.needs_estimate) {
    const std::string& where = c.find("estimate")->where;
    throw InputError((where.empty() ? std::string() : where + ": ") + "estimate " + std::string(estimate.name) + " with order " +
                     std::string(order.name) + ": no part looks at run times (orders that do: sjf, ljf)");
  }
  const std::vector<Job>& jobs = in.workload.jobs;
  if (order.needs_estimate && !estimate.needs_oracle && !jobs.empty() &&
      std::all_of(jobs.begin(), jobs.end(), [](const Job& j) { return j.estimate == kNever; }))
    throw InputError("order " + std::string(order.name) + " with estimate " + std::string(estimate.name) +
                     ": no job of the trace states an estimate (estimate exact uses true run times)");
  const Order o = order_called(order.name);
  const Estimate e = estimate_called(estimate.name);
  std::unique_ptr<Placer> placer = make_placer(place.name, in.topology, in.seed);
  switch (blocked_called(blocked.name)) {
    case Blocked::stop: return std::make_unique<StopList>(in, o, e, std::move(placer));
    case Blocked::skip: return std::make_unique<SkipList>(in, o, e, std::move(placer));
    case Blocked::drop: return std::make_unique<DropList>(in, o, e, std::move(placer));
  }
  return nullptr;
}

}  // namespace muster
