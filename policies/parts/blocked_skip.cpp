#include "parts/blocked.hpp"
#include "parts/list_form.hpp"
#include "parts/shape_groups.hpp"

namespace muster {

namespace {
/// Whether what is short is short for all shapes that want the same GPUs in the same way.
bool of_group(Reason r) {
  switch (r) {
    case Reason::no_gpus:
    case Reason::fragmented:
    case Reason::type:
    case Reason::driver:
    case Reason::label:
    case Reason::level:
    case Reason::apart: return true;
    default: return false;
  }
}

/// Who does not fit is passed over. A pass looks once at what each shape asks for, not at each job.
class SkipList final : public List<SkipList> {
 public:
  explicit SkipList(ListParts p) : List(std::move(p)), queue_(parts_.jobs) {}
  bool contains(JobId j) const { return queue_.contains(j); }
  void insert(const View& now, JobId j, int64_t key) { queue_.insert(now, j, key); }
  void erase(const View& now, JobId j) { queue_.erase(now, j); }
  void pass(const View& now, Plan& plan, bool grew) {
    if (grew)
      queue_.forget_failures([&](ShapeId s, Reason why, bool group) {
        if (!known_) return true;
        const Placer::Relax relax{0, group ? Placer::kAllKinds : uint8_t(0), false, false};
        if (parts_.placer->may_fit(now, plan, s, gave_back_, relax)) return true;
        const Shape& shape = now.shape_of(s);  // whether there is another reason now
        return why == Reason::no_gpus && plan.index().free_now_gpus() >= int64_t{shape.total_gpus} && plan.index().free_now_milli() >= shape.total_milli();
      });
    for (JobId j; (j = queue_.first()) != kNone;) {
      // A shape that fitted nowhere in the last pass can fit only where devices came back since.
      const Reason before = queue_.failed_before(now, j);
      const bool nowhere = before != Reason::none && known_ && !parts_.placer->may_fit(now, plan, now.job(j).shape, gave_back_, {});
      if (const Pieces at = nowhere ? Pieces{} : parts_.placer->find(now, plan, j); !at.empty()) {
        plan.start(j, at);
        queue_.erase(now, j);
        continue;
      }
      const Reason r = nowhere ? before : parts_.placer->why(now, plan, j);
      queue_.fail(now, j, r, of_group(r));
      plan.reason(j, r);
    }
    for (const JobId j : fresh_)
      if (queue_.contains(j)) plan.reason(j, queue_.failed(now, j));
    queue_.end_pass();
  }

 private:
  ShapeGroups queue_;
};
}  // namespace

std::unique_ptr<Policy> make_skip(ListParts p) { return std::make_unique<SkipList>(std::move(p)); }

}  // namespace muster
