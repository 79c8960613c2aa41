// Gittins index from a distribution of service.
#include <numeric>

#include "parts/order_steps.hpp"

namespace muster {

namespace {

/// For a job that has attained a, the index is the largest over D of P(S <= a + D | S > a) / E[min(S - a, D) | S > a]: the chance of ending
/// per unit of service invested (Gittins 1979; for clusters Gu et al., "Tiresias", NSDI 2019). For a sample of sizes D need only end at
/// one of them, and the index is asked only at them: between two sizes a job keeps the index it had at the lower one.
class Gittins final : public Order {
 public:
  /// `sizes` in milli-GPU x microseconds, sorted.
  Gittins(size_t jobs, std::vector<Int128> sizes) : alarms_(jobs), starts_{0} {
    constexpr size_t kMost = 64;
    std::vector<Int128> s;
    for (size_t i = 0, n = std::min(kMost, sizes.size()); i < n; i++) s.push_back(sizes[(2 * i + 1) * sizes.size() / (2 * n)]);
    for (const Int128 size : s)
      if (size > starts_.back()) starts_.push_back(size);
    struct Index {
      double gain;
      size_t level;
    };
    std::vector<Index> index;
    for (size_t level = 0; level < starts_.size(); level++) {
      const Int128 a = starts_[level];
      const size_t first = size_t(std::upper_bound(s.begin(), s.end(), a) - s.begin());
      double best = 0, invested = 0;
      for (size_t m = first; m < s.size(); m++) {
        invested += double(s[m] - a);
        const double ended = double(m + 1 - first);
        best = std::max(best, ended / (invested + double(s.size() - m - 1) * double(s[m] - a)));
      }
      index.push_back({best, level});
    }
    // Only the rank of an index counts. Equal ones, up to what rounding may do, share it.
    std::stable_sort(index.begin(), index.end(), [](const Index& a, const Index& b) { return a.gain > b.gain; });
    rank_.resize(starts_.size());
    int64_t rank = 0;
    for (size_t i = 0; i < index.size(); i++) {
      if (i && index[i].gain < index[i - 1].gain * (1 - 1e-12)) rank++;
      rank_[index[i].level] = rank;
    }
  }

  int64_t key(const View& now, Estimate&, JobId j) override { return rank_[level(now, j)]; }
  Line placed(const View& now, Estimate& e, JobId j) override {
    const size_t l = level(now, j);
    const Duration d = l + 1 < starts_.size() ? until_attained(now, j, now.attained(j), starts_[l + 1]) : kNever;
    alarms_.set(j, d < kNever - now.now() ? now.now() + std::max<Duration>(1, d) : kNever);
    return {key(now, e, j)};
  }
  void changed(const View& now, const Plan& plan, std::vector<JobId>& jobs) override {
    alarms_.due(now, [&](JobId j) {
      if (!plan.at(j).empty()) jobs.push_back(j);
    });
  }
  Time next(const View& now) override { return alarms_.next(now); }

 private:
  size_t level(const View& now, JobId j) const {
    return size_t(std::upper_bound(starts_.begin(), starts_.end(), now.attained(j)) - starts_.begin()) - 1;
  }
  Alarms alarms_;
  std::vector<Int128> starts_;  // of the levels: 0 and the sizes
  std::vector<int64_t> rank_;   // of a level's index
};

}  // namespace

const PartParameter kGittinsParameters[1] = {{"sizes", "trace", "sample of GPU-seconds that jobs take, as 60,60,3600; trace: those of the trace's own jobs"}};

std::unique_ptr<Order> make_gittins(const PolicyInput& in) {
  const Config* c = in.parameters.find("sizes");
  std::vector<Int128> sizes;
  if (c && !(c->kind == Config::Kind::text && c->value == "trace")) {
    for (const int64_t s : c->as_integers(0, int64_t{1} << 50)) sizes.push_back(Int128(s) * kMilli * kSecond);
  } else {
    for (size_t j = 0; j < in.workload.jobs.size(); j++)
      if (const Duration work = in.workload.truths[j].work; work != kNever)
        sizes.push_back(Int128(work) * in.workload.shapes[in.workload.jobs[j].shape].total_milli());
  }
  std::sort(sizes.begin(), sizes.end());
  return std::make_unique<Gittins>(in.workload.jobs.size(), std::move(sizes));
}

}  // namespace muster
