// YARN's Fair Scheduler: instantaneous fair shares, and who is served first.
#pragma once
#include <span>
#include <vector>

#include "muster/resources.hpp"
#include "parts/ratio.hpp"

namespace muster::yarn {

/// A queue or application that shares one resource.
struct Sharer {
  int64_t least = 0, most = std::numeric_limits<int64_t>::max() / 4;
  int64_t weight = 1000;  ///< thousandths; 0: its least share and no more
  bool active = true;     ///< false: it gets nothing
};

/// Shares of `total`: weight x R clamped to [least, most] and cut to an integer, with R found by doubling and at most 25 halvings, as
/// ComputeFairShares (commit 0097b15e) does. R is a dyadic fraction, so that no rounding but the system's own takes place.
std::vector<int64_t> fair_shares(int64_t total, std::span<const Sharer> sharers);

/// What the comparator of DominantResourceFairnessPolicy (commit 09517262) looks at.
struct Claimant {
  Resources usage, least;
  int64_t weight = 1000;  ///< thousandths
  bool demands = true;
};
/// Who is served first: those that want something; those below their least share on their dominant resource, by usage over it; then by
/// share over weight, the dominant resource first. Equal: the caller's order (start time, name).
std::strong_ordering fairer(const Claimant& a, const Claimant& b, const Resources& cluster, std::span<const size_t> kinds);

}  // namespace muster::yarn
