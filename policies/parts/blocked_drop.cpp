#include "parts/blocked.hpp"
#include "parts/job_queue.hpp"
#include "parts/list_form.hpp"

namespace muster {

namespace {
/// Who does not fit at once is dropped.
class DropList final : public List<DropList> {
 public:
  explicit DropList(ListParts p) : List(std::move(p)), queue_(parts_.order->keyed(), parts_.jobs) {}
  bool contains(JobId j) const { return queue_.contains(j); }
  void insert(const View&, JobId j, int64_t key) { queue_.insert(j, key); }
  void erase(const View&, JobId j) { queue_.erase(j); }
  void pass(const View& now, Plan& plan, bool) {
    for (JobId j; (j = queue_.first()) != kNone; queue_.erase(j)) {
      if (const Pieces at = parts_.placer->find(now, plan, j); !at.empty()) plan.start(j, at);
      else plan.drop(j, parts_.placer->why(now, plan, j));
    }
  }

 private:
  JobQueue queue_;
};
}  // namespace

std::unique_ptr<Policy> make_drop(ListParts p) { return std::make_unique<DropList>(std::move(p)); }

}  // namespace muster
