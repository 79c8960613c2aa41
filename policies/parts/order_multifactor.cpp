// Weighted factors, as Slurm's priority/multifactor.
#include "muster/random.hpp"
#include "parts/order_steps.hpp"
#include "parts/usage.hpp"

namespace muster {

namespace {

struct Weights {
  int64_t age = 1000, fairshare = 1000, size = 1000, qos = 1000;
};

/// priority = weight_age x age + weight_fairshare x fair share + weight_size x size + weight_qos x qos, each factor from 0 to 1 (Slurm 23.11,
/// "Multifactor Priority Plugin", classic fair share with shares equal for all tenants), told anew every calc_period:
///   age = time since submit / max_age, at most 1;
///   fair share = 2^(-U / S), U = the tenant's decayed usage / all usage, S = 1 / tenants;
///   size = GPUs of the job / GPUs of the cluster, or 1 less that with favor_small;
///   qos = the job's priority / the largest of the trace, at least 0.
class Multifactor final : public Order {
 public:
  Multifactor(const PolicyInput& in, Weights w, Duration max_age, Duration half_life, Duration period, bool favor_small)
      : weights_(w), max_age_(max_age), period_(period), favor_small_(favor_small), keys_(in.workload.jobs.size(), 1),
        usage_(in.workload.jobs.size(), in.workload.tenants.size(), half_life), shares_(in.workload.tenants.size(), 1.0) {
    for (const Job& j : in.workload.jobs) largest_ = std::max(largest_, j.priority);
  }
  int64_t key(const View& now, Estimate&, JobId j) override {
    if (keys_[j] == 1) keys_[j] = -priority(now, j);  // 1: not told yet; keys are at most 0
    return keys_[j];
  }
  void changed(const View& now, const Plan& plan, std::vector<JobId>& jobs) override {
    usage_.follow(now);
    for (const Event& e : now.events())
      if (e.what == What::priority) keys_[e.job] = 1, jobs.push_back(e.job);
    if (now.now() < due_) return;
    due_ = now.now() < kNever - period_ ? (now.now() / period_ + 1) * period_ : kNever;
    for (JobId j = plan.placed().first(); j != kNone; j = plan.placed().next(j + 1)) usage_.charge(now, j);
    Int128 all = 0;
    for (TenantId t = 0; t < shares_.size(); t++) all += usage_.of(t, now.now());
    for (TenantId t = 0; t < shares_.size(); t++) {
      const double u = all > 0 ? double(usage_.of(t, now.now())) / double(all) * double(shares_.size()) : 0;
      shares_[t] = portable_exp(-std::min(u * 0.693147180559945309417, 600.0));
    }
    busy_ = false;
    for (const IdSet* set : {&plan.queue(), &plan.placed()})
      for (JobId j = set->first(); j != kNone; j = set->next(j + 1)) keys_[j] = 1, jobs.push_back(j), busy_ = true;
  }
  Time next(const View&) override { return busy_ ? due_ : kNever; }

 private:
  /// In millionths, so that no factor is rounded away.
  int64_t priority(const View& now, JobId j) const {
    constexpr int64_t kOne = 1'000'000;
    const Duration age = std::min(now.now() - now.job(j).submit, max_age_);
    const int64_t cluster = int64_t{now.topology().gpus()} * kMilli;
    int64_t size = std::min(now.shape(j).total_milli(), cluster);
    if (favor_small_) size = cluster - size;
    const int64_t qos = std::max<int64_t>(0, now.priority(j));
    Int128 sum = Int128(weights_.age) * kOne * age / max_age_;
    sum += Int128(double(weights_.fairshare) * double(kOne) * shares_[now.job(j).tenant]);
    if (cluster) sum += Int128(weights_.size) * kOne * size / cluster;
    if (largest_ > 0) sum += Int128(weights_.qos) * kOne * std::min<int64_t>(qos, largest_) / largest_;
    return int64_t(sum);
  }
  Weights weights_;
  Duration max_age_, period_;
  bool favor_small_;
  std::vector<int64_t> keys_;
  Usage usage_;
  std::vector<double> shares_;
  int32_t largest_ = 0;
  Time due_ = 0;
  bool busy_ = false;
};

}  // namespace

const PartParameter kMultifactorParameters[8] = {
    {"weight_age", "1000", "weight of time since submit"},
    {"weight_fairshare", "1000", "weight of the tenant's fair share"},
    {"weight_size", "1000", "weight of the job's share of the cluster"},
    {"weight_qos", "1000", "weight of the job's priority"},
    {"max_age", "7d", "age that counts in full"},
    {"half_life", "7d", "after which usage weighs half"},
    {"calc_period", "5m", "how often priorities are told anew"},
    {"favor_small", "false", "true: small jobs have the larger size factor"},
};

std::unique_ptr<Order> make_multifactor(const PolicyInput& in) {
  const auto weight = [&](std::string_view name) {
    const Config* c = in.parameters.find(name);
    return c ? c->as_integer(0, 1'000'000'000) : 1000;
  };
  const auto span = [&](std::string_view name, Duration fallback) {
    const Config* c = in.parameters.find(name);
    const Duration d = c ? c->as_duration() : fallback;
    if (d == 0) throw InputError((c->where.empty() ? "" : c->where + ": ") + std::string(name) + " must be above 0");
    return d;
  };
  constexpr Duration kMinute = 60 * kSecond, kWeek = 7 * 24 * 60 * kMinute;
  const Config* small = in.parameters.find("favor_small");
  return std::make_unique<Multifactor>(in, Weights{weight("weight_age"), weight("weight_fairshare"), weight("weight_size"), weight("weight_qos")},
                                       span("max_age", kWeek), span("half_life", kWeek), span("calc_period", 5 * kMinute),
                                       small && small->as_boolean());
}

}  // namespace muster
