// Orders whose keys change in steps while a job computes.
#pragma once
#include <algorithm>

#include "parts/order.hpp"

namespace muster {

/// Microseconds until a job that has attained `has` has attained `wants`, if it computes from now on; kNever: never.
inline Duration until_attained(const View& now, JobId j, Int128 has, Int128 wants) {
  const int64_t rate = now.shape(j).total_milli();
  if (rate == 0) return kNever;
  const Int128 d = (std::max<Int128>(0, wants - has) + rate - 1) / rate;
  return d < kNever ? Duration(d) : kNever;
}

/// Alarms by job: the last one set counts.
class Alarms {
 public:
  explicit Alarms(size_t jobs) : set_(jobs, 0) {}
  void set(JobId j, Time at) {
    set_[j]++;
    if (at == kNever) return;
    heap_.push_back({at, j, set_[j]});
    std::push_heap(heap_.begin(), heap_.end(), later);
  }
  void clear(JobId j) { set_[j]++; }
  /// The next alarm of a job that has not ended.
  Time next(const View& now) {
    while (!heap_.empty() && (heap_[0].set != set_[heap_[0].job] || ended(now.state(heap_[0].job)))) pop();
    return heap_.empty() ? kNever : heap_[0].at;
  }
  /// Hands every job whose alarm is due to `f`, in order of (time, id); `f` may set it anew, to later than now.
  template <class F> void due(const View& now, F f) {
    while (next(now) <= now.now()) {
      const JobId j = heap_[0].job;
      pop();
      f(j);
    }
  }

 private:
  struct Alarm {
    Time at;
    JobId job;
    uint32_t set;
  };
  static bool later(const Alarm& a, const Alarm& b) { return a.at != b.at ? a.at > b.at : a.job > b.job; }
  void pop() {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    heap_.pop_back();
  }
  std::vector<Alarm> heap_;
  std::vector<uint32_t> set_;  // how often a job's alarm was set
};

}  // namespace muster
