// Finish-time fairness.
#include "parts/order_steps.hpp"

namespace muster {

namespace {

/// rho = T_shared / T_independent (Mahajan et al., "Themis: fair and efficient GPU cluster scheduling", NSDI 2020), the largest first:
///   T_shared = time since submit + run time left, if it ran from now on;
///   T_independent = run time as a whole x contention, the time it would take on a 1/N share of the cluster.
/// Contention is GPUs asked for by all jobs in the system / GPUs installed, at least 1. The auction of the paper is not modelled: its
/// outcome, that leases go to those with the largest rho, is the order; rho is told anew at the end of every lease.
class FinishTimeFairness final : public Order {
 public:
  FinishTimeFairness(size_t jobs, Duration lease) : lease_(lease), keys_(jobs, 1) {}
  int64_t key(const View& now, Estimate& e, JobId j) override {
    estimate_ = &e;
    if (keys_[j] == 1) keys_[j] = rho(now, j);  // 1: not told yet; keys are at most 0
    return keys_[j];
  }
  void changed(const View& now, const Plan& plan, std::vector<JobId>& jobs) override {
    if (now.now() < due_) return;
    due_ = now.now() < kNever - lease_ ? (now.now() / lease_ + 1) * lease_ : kNever;
    Int128 asked = 0;
    for (const IdSet* set : {&plan.queue(), &plan.placed()})
      for (JobId j = set->first(); j != kNone; j = set->next(j + 1)) asked += now.shape(j).total_milli(), jobs.push_back(j);
    const Int128 installed = Int128(plan.cluster().installed()) * kMilli;
    contention_ = installed > 0 ? double(std::max(asked, installed)) / double(installed) : 1;
    for (const JobId j : jobs) keys_[j] = 1;
    busy_ = !jobs.empty();
  }
  Time next(const View&) override { return busy_ ? due_ : kNever; }

 private:
  int64_t rho(const View& now, JobId j) {
    Duration left = estimate_->left(now, j);
    if (left == kNever) return 0;  // nobody knows: last
    left = std::max<Duration>(left, 0);
    const double shared = double(now.now() - now.job(j).submit) + double(left);
    const double independent = (double(now.ran(j)) + double(left)) * contention_;
    const double millionths = independent > 0 ? shared / independent * 1e6 : 1e18;
    return -int64_t(std::clamp(millionths, 0.0, 1e18));
  }
  Duration lease_;
  std::vector<int64_t> keys_;  // minus rho, in millionths
  Estimate* estimate_ = nullptr;
  double contention_ = 1;
  Time due_ = 0;
  bool busy_ = false;
};

}  // namespace

const PartParameter kFtfParameters[1] = {{"lease", "20m", "how long a rho holds; all leases end together"}};

std::unique_ptr<Order> make_ftf(const PolicyInput& in) {
  const Config* c = in.parameters.find("lease");
  const Duration lease = c ? c->as_duration() : 1200 * kSecond;
  if (lease == 0) throw InputError((c->where.empty() ? "" : c->where + ": ") + "a lease must be above 0");
  return std::make_unique<FinishTimeFairness>(in.workload.jobs.size(), lease);
}

}  // namespace muster
