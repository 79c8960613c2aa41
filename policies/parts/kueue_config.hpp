// Cluster queues and cohorts as a policy file gives them.
#pragma once
#include <string>
#include <vector>

#include "muster/policy.hpp"
#include "parts/kueue_victims.hpp"

namespace muster::kueue {

/// A cluster queue of the file.
struct QueueSpec {
  std::string name;
  uint32_t node = kNone;          ///< in the tree
  bool strict = false;            ///< StrictFIFO: a head that cannot be admitted blocks its queue
  std::vector<uint32_t> flavors;  ///< in order of preference
};

/// A kind of capacity with quotas of its own.
struct Flavor {
  std::string name, gpu_type;  ///< an empty type: any
};

/// {"flavors": {NAME: GPU type}, "cohorts": [{name, parent, weight, quota}], "queues": [{name, cohort, weight, queueingStrategy, quota,
/// preemption}]} in the words of Kueue's API (v1beta1): nominalQuota, borrowingLimit, lendingLimit, withinClusterQueue,
/// reclaimWithinCohort, borrowWithinCohort. A quota is {RESOURCE: number or {nominalQuota, ...}}, or {FLAVOR: {RESOURCE: ...}} when
/// flavors are named. A queue that names no cohort stands alone.
struct Setup {
  std::vector<Flavor> flavors;
  std::vector<QueueSpec> queues;
  std::vector<Rules> rules;  ///< by node of the tree
  QuotaTree tree{{}};
  std::vector<uint32_t> resources;  ///< kinds that some quota limits
  /// Column of a resource kind in a flavor, or kNone when no quota speaks of it.
  uint32_t column(uint32_t flavor, uint32_t kind) const;
  std::vector<std::pair<uint32_t, uint32_t>> columns;  ///< (flavor, kind)
};

/// Throws InputError with file, place and nearest name.
Setup read_setup(const Config& c, const Topology& t);

}  // namespace muster::kueue
