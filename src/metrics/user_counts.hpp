// What each user has at a time: jobs there, jobs that wait, GPUs held, GPUs waited for.
#pragma once
#include <vector>

#include "muster/record.hpp"

namespace muster {

/// Follows the records; `changed` of see() is the user whom a record concerned, or kNone.
class UserCounts {
 public:
  struct User {
    int64_t jobs = 0, waiting = 0;  ///< jobs submitted and not ended; of these, queued or claimed
    int64_t held = 0, wanted = 0;   ///< milli-GPUs held; asked by waiting jobs
  };
  void begin(const Header& h) {
    workload_ = h.workload;
    if (!workload_) return;
    users_.resize(workload_->tenants.size());
    waits_.resize(workload_->jobs.size());
  }
  /// The user a record is about, before it counts; kNone: none.
  uint32_t of(const Record& r) const {
    return r.job == kNone || !workload_ || r.what == What::note ? kNone : workload_->jobs[r.job].tenant;
  }
  void see(const Record& r) {
    User& u = users_[workload_->jobs[r.job].tenant];
    u.held += r.held;
    if (r.what == What::submit) u.jobs++;
    if (r.what == What::end) u.jobs--;
    const bool waits = r.state == State::queued || r.state == State::claimed;
    if (waits != waits_[r.job]) {
      const int64_t sign = waits ? 1 : -1;
      u.waiting += sign, u.wanted += sign * workload_->shapes[workload_->jobs[r.job].shape].total_milli();
      waits_[r.job] = waits;
    }
  }
  const std::vector<User>& users() const { return users_; }

 private:
  const Workload* workload_ = nullptr;
  std::vector<User> users_;
  std::vector<bool> waits_;
};

}  // namespace muster
