// What tenants have used, forgotten by halves.
#pragma once
#include <vector>

#include "muster/policy.hpp"
#include "parts/decay.hpp"

namespace muster {

/// GPU time by tenant that loses half its weight every half-life. A charge is spread over the run: each moment is weighed by its own age.
class Usage {
 public:
  Usage(size_t jobs, size_t tenants, Duration half_life) : decay_(half_life), charged_(jobs, 0), used_(tenants) {}
  /// Charges what has been computed up to now by jobs that ended or lost their place since the last call.
  void follow(const View& now) {
    for (const Event& e : now.events())
      if (e.what == What::end || e.what == What::lost || e.what == What::preempt || e.what == What::drained)
        if (e.job < now.jobs()) charge(now, e.job);
  }
  /// Charges what `j` has computed up to now.
  void charge(const View& now, JobId j) {
    const Int128 attained = now.attained(j), fresh = attained - charged_[j];
    if (fresh <= 0) return;
    charged_[j] = attained;
    int64_t rate = 0;
    for (const TaskGroup& g : now.shape(j).groups) rate += g.per_task[kGpu] * g.max_tasks;
    if (rate == 0) return;
    Used& u = used_[now.job(j).tenant];
    u.sum = at(u, now.now()) + decay_.over(Duration(fresh / rate)).worth * rate;
    u.when = now.now();
  }
  /// Milli-GPU x microseconds, as they weigh at `t`.
  Int128 of(TenantId tenant, Time t) const { return at(used_[tenant], t); }

 private:
  struct Used {
    Int128 sum = 0;
    Time when = 0;
  };
  Int128 at(const Used& u, Time t) const { return Decay::left(u.sum, decay_.over(t - u.when).factor); }
  Decay decay_;
  std::vector<Int128> charged_;
  std::vector<Used> used_;
};

}  // namespace muster
