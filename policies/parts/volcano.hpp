// Scores and gang bundles of Volcano.
#pragma once
#include <span>
#include <vector>

#include "parts/ratio.hpp"

namespace muster::volcano {

/// One resource of a node, as bin-packing scores see it.
struct Packed {
  int64_t weight = 0;  ///< 0: not weighed
  int64_t request = 0, used = 0, allocatable = 0;
};
/// 100 x plugin weight x sum w (used + request) / allocatable / sum w over what is requested and weighed; 0 when one of them would
/// overflow. A resource that the node has none of counts in the divisor only. Rule: Volcano, commit ed72c7c8, plugins/binpack.
Ratio binpack_score(std::span<const Packed> resources, int64_t plugin_weight);

/// 100 x weight x (highest tier - tier where node and job meet) / (highest - lowest tier).
/// Rule: the same commit, plugins/network-topology-aware, without the share of tasks.
Ratio topology_score(int64_t meeting_tier, int64_t lowest_tier, int64_t highest_tier, int64_t plugin_weight);

/// A running task of a job that might make way.
struct GangTask {
  int32_t priority = 0;
  uint32_t sub_job = 0;   ///< number of its sub-job; all 0 when there are none
  bool candidate = true;  ///< whether it may be taken at all
};
/// What a job cannot do without.
struct GangMinima {
  uint32_t tasks = 1;          ///< minMember
  uint32_t tasks_per_sub = 0;  ///< of each sub-job; 0: no such rule
  uint32_t sub_jobs = 0;       ///< sub-jobs that must stay whole; 0: no such rule
};
struct Bundles {
  std::vector<uint32_t> safe;   ///< tasks above the minima, the least important first: some of them may go
  std::vector<uint32_t> whole;  ///< the rest: all or nothing
};
/// Rule: Volcano v1.15, commit ed72c7c8, actions/utils: a job below its minima is all safe.
Bundles gang_bundles(std::span<const GangTask> tasks, const GangMinima& minima);

/// A bundle as an order of sacrifice sees it.
struct BundleRank {
  bool whole = false;
  int32_t job_priority = 0;
  Ratio gain{1, 1};  ///< what it gives where it is needed, over what it costs everywhere
};
/// Safe before whole, lower job priority, larger gain; equal: the caller's order.
bool goes_before(const BundleRank& a, const BundleRank& b);

}  // namespace muster::volcano
