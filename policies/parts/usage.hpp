// What tenants have used, forgotten by halves.
#pragma once
#include <vector>

#include "muster/policy.hpp"
#include "muster/random.hpp"

namespace muster {

/// GPU time by tenant that loses half its weight every half-life. A charge is spread over the run: each moment is weighed by its own age.
/// Times and sums are doubles, computed in the order of jobs with portable functions: the same on every machine.
class Usage {
 public:
  Usage(size_t jobs, size_t tenants, Duration half_life) : half_life_(double(half_life)), charged_(jobs, 0), used_(tenants) {}
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
    const double ran = double(fresh) / double(rate);
    Used& u = used_[now.job(j).tenant];
    // rate x the integral of 2^(-age / half-life) over ages from 0 to `ran`
    u.sum = at(u, now.now()) + double(rate) * half_life_ / kLn2 * (1 - half(ran));
    u.when = now.now();
  }
  /// Milli-GPU x microseconds, as they weigh at `t`.
  double of(TenantId tenant, Time t) const { return at(used_[tenant], t); }

 private:
  static constexpr double kLn2 = 0.693147180559945309417;
  struct Used {
    double sum = 0;
    Time when = 0;
  };
  double half(double age) const {
    const double x = age / half_life_ * kLn2;
    return x < 600 ? portable_exp(-x) : 0;
  }
  double at(const Used& u, Time t) const { return u.sum * half(double(t - u.when)); }
  double half_life_;
  std::vector<Int128> charged_;
  std::vector<Used> used_;
};

}  // namespace muster
