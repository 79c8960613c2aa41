// Finish-time fairness: how much longer a job took than it would have on its user's equal part of the cluster. Over jobs that are done.
#include <algorithm>

#include "metrics/family.hpp"
#include "metrics/user_counts.hpp"
#include "metrics/window.hpp"

namespace muster {
namespace {

/// rho = T_shared / T_independent (Mahajan et al., Themis, NSDI 2020). T_independent: the job alone on GPUs / n, where n is the time
/// average of the number of users with jobs while it was there; with fewer GPUs than it asks it runs slower in proportion.
class Rho : public Family {
 public:
  void begin(const Header& h) override {
    counts_.begin(h);
    workload_ = h.workload;
    if (h.topology) gpus_ = double(h.topology->gpus());
    if (workload_) at_submit_.resize(workload_->jobs.size());
  }
  void see(std::span<const Record> records) override {
    for (const Record& r : records) {
      const uint32_t u = counts_.of(r);
      if (u == kNone || (r.what != What::submit && r.what != What::end)) continue;
      if (r.what == What::end && r.state == State::done && r.time) {
        active_.advance(r.at);
        const Duration there = r.time->total();
        const double n = there > 0 ? double(active_.now - at_submit_[r.job]) / double(there) : 1;
        const double asks = double(workload_->shapes[workload_->jobs[r.job].shape].total_milli()) / double(kMilli);
        const double slower = gpus_ > 0 ? std::max(1.0, asks * n / gpus_) : 1;
        const double alone = double(workload_->truths[r.job].work) * slower;
        if (alone > 0) values_.push_back(double(there) / alone);
      }
      const bool was = counts_.users()[u].jobs > 0;
      counts_.see(r);
      const bool is = counts_.users()[u].jobs > 0;
      if (was != is) active_.change(r.at, is ? 1 : -1);
      if (r.what == What::submit) active_.advance(r.at), at_submit_[r.job] = active_.now;
    }
  }
  void report(Report& out) override {
    const size_t n = values_.size();
    double sum = 0;
    size_t above = 0;
    for (const double v : values_) sum += v, above += v > 1 + 1e-9;
    const auto null = std::numeric_limits<double>::quiet_NaN();
    out.add("finish_time_fairness_mean", n ? sum / double(n) : null, "1", Better::lower);
    double p99 = null, most = null;
    if (n) {
      const size_t rank = (n * 99 + 99) / 100 - 1;
      std::nth_element(values_.begin(), values_.begin() + std::ptrdiff_t(rank), values_.end());
      p99 = values_[rank];
      most = *std::max_element(values_.begin(), values_.end());
    }
    out.add("finish_time_fairness_p99", p99, "1", Better::lower);
    out.add("finish_time_fairness_max", most, "1", Better::lower);
    out.add("finish_time_fairness_above_1", n ? double(above) / double(n) : null, "1", Better::lower);
  }

 private:
  const Workload* workload_ = nullptr;
  UserCounts counts_;
  Integral active_;  // users with jobs
  double gpus_ = 0;
  std::vector<Int128> at_submit_;
  std::vector<double> values_;
};

}  // namespace

std::unique_ptr<Family> make_rho() { return std::make_unique<Rho>(); }

}  // namespace muster
