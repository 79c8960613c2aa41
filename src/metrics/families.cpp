// The table of families.
#include "metrics/family.hpp"

namespace muster {

std::span<const FamilyInfo> metric_families() {
  static constexpr FamilyInfo kFamilies[] = {
      {"counts", make_counts}, {"time", make_time},   {"slowdown", make_slowdown}, {"makespan", make_makespan},
      {"utilization", make_utilization}, {"idle", make_idle}, {"load", make_load},
  };
  return kFamilies;
}

}  // namespace muster
