#include "parts/blocked.hpp"
#include "parts/job_queue.hpp"
#include "parts/list_form.hpp"

namespace muster {

namespace {
/// Nobody overtakes the head of the queue. A head that does not fit costs nothing until something comes free.
class StopList final : public List<StopList> {
 public:
  explicit StopList(ListParts p) : List(std::move(p)), queue_(parts_.order->keyed(), parts_.jobs) {}
  bool contains(JobId j) const { return queue_.contains(j); }
  void insert(const View&, JobId j, int64_t key) { queue_.insert(j, key); }
  void erase(const View&, JobId j) { queue_.erase(j); }
  void pass(const View& now, Plan& plan, bool grew) {
    JobId head;
    while ((head = queue_.first()) != kNone) {
      if (head == blocked_ && !grew) break;
      const Pieces at = parts_.placer->find(now, plan, head);
      if (at.empty()) {
        const Reason r = parts_.placer->why(now, plan, head);
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
}  // namespace

std::unique_ptr<Policy> make_stop(ListParts p) { return std::make_unique<StopList>(std::move(p)); }

}  // namespace muster
