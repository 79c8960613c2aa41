// What each user holds, as shares of the cluster.
#pragma once
#include <span>
#include <vector>

#include "muster/policy.hpp"
#include "parts/user_share.hpp"

namespace muster {

/// Whom a fair policy is fair to: the column `user` or the column `queue` of the trace.
struct Sharers {
  bool queues = false;

  /// From the parameter `by`: "user" or "queue".
  explicit Sharers(const Config& parameters);
  uint32_t of(const Job& j) const { return queues ? j.queue : j.tenant; }
  const Names& names(const Workload& w) const { return queues ? w.queues : w.tenants; }
  std::string_view name(const View& now, uint32_t u) const { return queues ? now.queue_name(u) : now.tenant_name(u); }
};
Parameter sharers_parameter();

/// Weights by name, as whole numbers with a common scale: weight = value / scale. Names that are not given have weight 1.
struct Weights {
  std::vector<int64_t> value;
  int64_t scale = 1;

  /// From the parameter `weights`: {"ann": 2, "bob": 0.5}, or as text "ann=2,bob=1/3".
  /// A name that the trace does not have is an error: a mistyped weight would change nothing without a word.
  Weights(const Config& parameters, const Names& names);
};
Parameter weights_parameter();

/// What a job's tasks hold while it is placed, by kind.
Resources amounts_of(const Shape& s, Pieces at);
/// The same with all tasks placed.
Resources amounts_of(const Shape& s);

/// Dominant shares, or amounts. The kinds that count are those of the parameter `resources` that the cluster has and limits: installed
/// amounts as the topology states them, whatever is down. share(u) = max over kinds of held / installed, divided by the weight. With the
/// parameter `measure` amount, held itself is compared, which is max-min fairness. (Ghodsi et al., Dominant Resource Fairness, NSDI 2011,
/// sections 4.1 and 4.3.)
class Shares {
 public:
  Shares(const PolicyInput& in, const Weights& w);
  struct Kind {
    size_t kind;
    int64_t installed;
    int64_t of;  ///< what shares are of: `installed`, or 1 for amounts
    std::string name;
  };
  const std::vector<Kind>& kinds() const { return kinds_; }
  const Resources& held(uint32_t u) const { return held_[u].amounts; }
  void take(uint32_t u, const Resources& r) { held_[u].amounts += r; }
  void give(uint32_t u, const Resources& r) { held_[u].amounts -= r; }
  /// The kind with the largest share of `r` (the first of equal ones), as an index of kinds().
  size_t dominant(const Resources& r) const;
  /// Weighted dominant share of `r` for user `u`.
  UserShare share(uint32_t u, const Resources& r) const {
    const Kind& k = kinds_[dominant(r)];
    const int64_t w = weights_.value[u];
    return w > 0 ? UserShare{r[k.kind] * weights_.scale, k.of * w} : UserShare{r[k.kind], -k.of};
  }
  UserShare share(uint32_t u) const { return share(u, held(u)); }
  const Weights& weights() const { return weights_; }
  size_t users() const { return held_.size(); }

 private:
  std::vector<Kind> kinds_;
  Weights weights_;
  struct alignas(64) Held {  // a cache line
    Resources amounts;
  };
  std::vector<Held> held_;
};
Parameter resources_parameter();
Parameter measure_parameter();

}  // namespace muster
