// How far apart users' dominant shares are while they compete, over time.
#include <algorithm>
#include <array>
#include <set>

#include "metrics/family.hpp"
#include "metrics/user_counts.hpp"
#include "metrics/window.hpp"

namespace muster {
namespace {

class Spread : public Family {
 public:
  void begin(const Header& h) override {
    counts_.begin(h);
    workload_ = h.workload;
    if (!h.topology || !workload_) return;
    const Topology& t = *h.topology;
    for (NodeId n = 0; n < t.nodes(); n++)
      for (size_t k = 0; k < t.resource_names().size(); k++)
        if (k == kGpu || t.limits(k)) installed_[k] += t.kind(n).capacity[k];
    for (const Shape& s : workload_->shapes) {
      Resources sum;
      for (const TaskGroup& g : s.groups) sum += g.per_task.times(g.max_tasks);
      if (s.nodes == Nodes::whole) sum[kGpu] = int64_t{s.total_gpus} * kMilli;
      amounts_.push_back(sum);
    }
    held_.resize(counts_.users().size()), shares_.resize(counts_.users().size());
    placed_.resize(workload_->jobs.size());
  }
  void see(std::span<const Record> records) override {
    for (const Record& r : records) {
      const uint32_t u = counts_.of(r);
      if (u == kNone) continue;
      if (r.at != since_) advance(r.at);
      const bool was = counts_.users()[u].jobs > 0;
      counts_.see(r);
      const bool is = counts_.users()[u].jobs > 0;
      const bool placed = r.state == State::running || r.state == State::starting || r.state == State::draining;
      if (placed != placed_[r.job]) {
        const Resources& a = amounts_[workload_->jobs[r.job].shape];
        if (placed) held_[u] += a;
        else held_[u] -= a;
        placed_[r.job] = placed;
      } else if (was == is) {
        continue;
      }
      if (was) present_.erase(present_.find(shares_[u]));
      shares_[u] = 0;
      for (size_t k = 0; k < kMaxKinds; k++)
        if (installed_[k]) shares_[u] = std::max(shares_[u], double(held_[u][k]) / double(installed_[k]));
      if (is) present_.insert(shares_[u]);
    }
  }
  void report(Report& out) override {
    out.add("dominant_share_spread_mean", time_ > 0 ? area_ / time_ : std::numeric_limits<double>::quiet_NaN(), "1", Better::lower);
    out.add("dominant_share_spread_max", time_ > 0 ? most_ : std::numeric_limits<double>::quiet_NaN(), "1", Better::lower);
  }

 private:
  void advance(Time t) {
    if (present_.size() > 1) {
      const double spread = *present_.rbegin() - *present_.begin(), d = double(t - since_);
      area_ += spread * d, time_ += d, most_ = std::max(most_, spread);
    }
    since_ = t;
  }
  const Workload* workload_ = nullptr;
  UserCounts counts_;
  std::array<Int128, kMaxKinds> installed_{};
  std::vector<Resources> amounts_, held_;  // by shape; by user
  std::vector<double> shares_;
  std::vector<bool> placed_;
  std::multiset<double> present_;  // shares of users with jobs
  Time since_ = 0;
  double area_ = 0, time_ = 0, most_ = 0;
};

}  // namespace

std::unique_ptr<Family> make_spread() { return std::make_unique<Spread>(); }

}  // namespace muster
