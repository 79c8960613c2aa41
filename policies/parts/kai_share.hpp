// KAI-Scheduler's hierarchical fair share and the rules of reclaiming.
#pragma once
#include <array>
#include <span>
#include <vector>

#include "parts/ratio.hpp"

namespace muster::kai {

inline constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max() / 4;

/// A queue at one level and one resource; amounts in thousandths.
struct ShareQueue {
  int64_t deserved = 0;
  int64_t request = 0;           ///< what it and all below hold and want
  int64_t most = kUnlimited;     ///< maxAllowed
  int64_t weight = 0;            ///< over-quota weight
  int32_t priority = 0;          ///< over-quota goes to the highest first
  int64_t usage_millionths = 0;  ///< past usage, as a part of all, for time-based fairness
};

struct Division {
  std::vector<int64_t> fair;  ///< by queue
  int64_t remaining = 0;
};

/// Shares of `total` among queues (the oldest first). Each gets min(deserved, requested), even when that is more than there is; then, by
/// priority, rounds of the rest by weight, cut to whole `unit`s, until nobody was satisfied; then one unit each by the largest part that
/// was cut off. `k_millionths` weighs past usage: weight max(0, w + k (w - usage)). Rules: KAI-Scheduler, commit 72de64fc:
/// pkg/scheduler/plugins/proportion/resource_division.
Division divide(int64_t total, std::span<const ShareQueue> queues, int64_t k_millionths, int64_t unit = 1000);

/// GPUs, CPUs and memory.
inline constexpr size_t kShared = 3;
using Amounts = std::array<int64_t, kShared>;

/// A queue of the tree, for reclaiming; what is not shared by quotas is left 0 in all of them.
struct TreeQueue {
  uint32_t parent = ~uint32_t{0};
  Amounts deserved{}, fair{}, allocated{};
  Amounts fixed{};  ///< of it: by jobs that cannot be preempted
  Amounts most{kUnlimited, kUnlimited, kUnlimited};
};
/// What a victim gives back in its leaf queue.
struct GivesBack {
  uint32_t queue;
  Amounts amount;
};
/// Whether a job of leaf queue `claimant` that wants `amount` may take it from these victims, in this order. `multiplier_millionths`
/// (at least one) scales the claimant's ratio where both sides are compared.
/// Rules: KAI-Scheduler, commit 72de64fc: pkg/scheduler/plugins/proportion/reclaimable. Where they speak of a side that is above
/// what it may have, one resource is enough; where of one within, all are meant.
bool may_reclaim(std::span<const TreeQueue> tree, uint32_t claimant, const Amounts& amount, bool preemptible, std::span<const GivesBack> victims,
                 int64_t multiplier_millionths = 1'000'000);

}  // namespace muster::kai
