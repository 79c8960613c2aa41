// Run times learned from what ended.
#include <algorithm>
#include <numeric>

#include "parts/estimate.hpp"

namespace muster {

namespace {

/// The mean of the last run times put in.
class Recent {
 public:
  void put(Duration d, size_t keep) {
    if (last_.size() < keep) last_.push_back(d);
    else last_[next_] = d;
    next_ = (next_ + 1) % keep;
  }
  bool empty() const { return last_.empty(); }
  Duration mean() const { return Duration(std::accumulate(last_.begin(), last_.end(), Int128{0}) / Int128(last_.size())); }

 private:
  std::vector<Duration> last_;
  size_t next_ = 0;
};

/// The user's last jobs of the same number of GPUs, else the user's last jobs, else everybody's; nobody's ended: nothing is known. After
/// the predictor of QSSF (Hu et al., "Characterization and prediction of deep learning workloads in large-scale GPU datacenters", SC 2021),
/// which also looks at names of jobs.
class History final : public Estimate {
 public:
  History(const Workload& w, size_t keep) : keep_(keep), believed_(w.jobs.size(), kNever), of_tenant_(w.tenants.size()) {}
  Duration of(const View& now, JobId j) override {
    // A job that is back keeps the belief it had: its own beginning is no news of its length.
    Duration& d = believed_[j];
    if (d != kNever) return d;
    const Tenant& t = of_tenant_[now.job(j).tenant];
    const auto same = std::find_if(t.by_size.begin(), t.by_size.end(), [&](const auto& s) { return s.first == now.shape(j).total_milli(); });
    if (same != t.by_size.end()) return d = same->second.mean();
    if (!t.all.empty()) return d = t.all.mean();
    return everybody_.empty() ? kNever : d = everybody_.mean();
  }
  void follow(const View& now) override {
    for (const Event& e : now.events()) {
      if (e.what != What::end || now.starts(e.job) == 0 || now.state(e.job) == State::cancelled) continue;
      const Duration ran = now.ran(e.job);
      const int64_t milli = now.shape(e.job).total_milli();
      Tenant& t = of_tenant_[now.job(e.job).tenant];
      auto same = std::find_if(t.by_size.begin(), t.by_size.end(), [&](const auto& s) { return s.first == milli; });
      if (same == t.by_size.end()) same = t.by_size.emplace(same, milli, Recent{});
      same->second.put(ran, keep_);
      t.all.put(ran, keep_);
      everybody_.put(ran, keep_);
    }
  }

 private:
  struct Tenant {
    std::vector<std::pair<int64_t, Recent>> by_size;  // by milli-GPUs
    Recent all;
  };
  size_t keep_;
  std::vector<Duration> believed_;
  std::vector<Tenant> of_tenant_;
  Recent everybody_;
};

}  // namespace

const PartParameter kHistoryParameters[1] = {{"last", "10", "how many of the user's last jobs count, 1 to 1000"}};

std::unique_ptr<Estimate> make_history(const PolicyInput& in) {
  const Config* last = in.parameters.find("last");
  return std::make_unique<History>(in.workload, last ? size_t(last->as_integer(1, 1000)) : 10);
}

}  // namespace muster
