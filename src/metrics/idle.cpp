// Why GPU-time stayed idle: nobody waited, or jobs waited for a reason. The window is the makespan.
#include <array>

#include "metrics/family.hpp"
#include "metrics/window.hpp"
#include "muster/id_set.hpp"

namespace muster {
namespace {

enum Cause : uint8_t { nobody_waits, fragmented, too_few, behind_head, quota, other, kCauses };

Cause cause_of(Reason r) {
  switch (r) {
    case Reason::fragmented:
    case Reason::level: return fragmented;
    case Reason::no_gpus: return too_few;
    case Reason::behind_head:
    case Reason::reservation: return behind_head;
    case Reason::quota: return quota;
    default: return other;
  }
}

class Idle : public Family {
 public:
  void begin(const Header& h) override {
    if (h.topology) idle_ = installed_ = int64_t{h.topology->gpus()} * kMilli;
    const size_t jobs = h.workload ? h.workload->jobs.size() : 0;
    waiting_ = IdSet(jobs);
    reasons_.assign(jobs, Reason::none);
  }
  // The cause of an idle stretch is looked up when the next instant begins: only what lasted counts.
  void see(std::span<const Record> records) override {
    for (const Record& r : records) {
      if (r.at != since_) advance(r.at);
      installed_ += r.capacity;
      idle_ += r.capacity - r.held;
      if (r.job < reasons_.size()) {
        if (r.state == State::queued || r.state == State::claimed) waiting_.insert(r.job), reasons_[r.job] = r.reason;
        else waiting_.erase(r.job);
      }
      if (r.what == What::submit && window_.begin == kNever) time_ = {}, capacity_ = 0;
      if (window_.see(r)) at_end_ = time_, capacity_at_end_ = capacity_;
    }
  }
  void report(Report& out) override {
    const Int128 capacity = capacity_at_end_;
    Int128 while_waiting = 0;
    for (size_t c = fragmented; c < kCauses; c++) while_waiting += at_end_[c];
    out.add("gpu_idle_nobody_waiting", divide(at_end_[nobody_waits], capacity), "1");
    out.add("gpu_idle_jobs_waiting", divide(while_waiting, capacity), "1", Better::lower);
    out.add("gpu_idle_fragmented", divide(at_end_[fragmented], capacity), "1", Better::lower);
    out.add("gpu_idle_too_few", divide(at_end_[too_few], capacity), "1", Better::lower);
    out.add("gpu_idle_behind_head", divide(at_end_[behind_head], capacity), "1", Better::lower);
    out.add("gpu_idle_quota", divide(at_end_[quota], capacity), "1", Better::lower);
    out.add("gpu_idle_other", divide(at_end_[other], capacity), "1", Better::lower);
  }

 private:
  void advance(Time t) {
    const JobId head = waiting_.first();
    time_[head == kNone ? nobody_waits : cause_of(reasons_[head])] += Int128{idle_} * (t - since_);
    capacity_ += Int128{installed_} * (t - since_);
    since_ = t;
  }
  Window window_;
  IdSet waiting_;
  std::vector<Reason> reasons_;
  Time since_ = 0;
  int64_t idle_ = 0, installed_ = 0;
  std::array<Int128, kCauses> time_{}, at_end_{};
  Int128 capacity_ = 0, capacity_at_end_ = 0;
};

}  // namespace

std::unique_ptr<Family> make_idle() { return std::make_unique<Idle>(); }

}  // namespace muster
