// Jobs that may not start before a time of their own.
#pragma once
#include <algorithm>

#include "muster/policy.hpp"

namespace muster {

/// Keeps jobs whose earliest start is ahead out of the queue, and has the policy woken when the next one is due.
class NotYet {
 public:
  /// Whether `j` has to wait for its time; it is kept and told so.
  bool keeps(const View& now, Plan& plan, JobId j) {
    const Time t = now.job(j).earliest_start;
    if (t <= now.now()) return false;
    jobs_.push_back({t, j});
    std::push_heap(jobs_.begin(), jobs_.end(), later);
    plan.reason(j, Reason::not_yet);
    return true;
  }
  /// Hands every kept job whose time has come to `enter`, in order of (time, id), and sets the alarm for the next one.
  template <class F> void release(const View& now, Plan& plan, F enter) {
    while (!jobs_.empty() && jobs_[0].at <= now.now()) {
      const JobId j = jobs_[0].job;
      std::pop_heap(jobs_.begin(), jobs_.end(), later);
      jobs_.pop_back();
      if (plan.queue().contains(j)) enter(j);
    }
    if (!jobs_.empty()) plan.wake_at(jobs_[0].at);
  }

 private:
  struct Kept {
    Time at;
    JobId job;
  };
  static bool later(const Kept& a, const Kept& b) { return a.at != b.at ? a.at > b.at : a.job > b.job; }
  std::vector<Kept> jobs_;
};

}  // namespace muster
