// The table of families.
#include <algorithm>

#include "metrics/family.hpp"
#include "muster/config.hpp"
#include "text/numbers.hpp"

namespace muster {

std::span<const FamilyInfo> metric_families() {
  static constexpr FamilyInfo kFamilies[] = {
      {"counts", make_counts},
      {"time", make_time},
      {"slowdown", make_slowdown},
      {"makespan", make_makespan},
      {"utilization", make_utilization},
      {"idle", make_idle},
      {"waits", make_waits},
      {"load", make_load},
      {"locality", make_locality, false, "where jobs of several GPUs ran, and how much slower that made them"},
      {"anomaly", make_anomaly, false, "waiting although enough GPUs were free, running worse placed than an empty cluster allows"},
      {"cells", make_cells, false, "HiveD's cells by state, splits and merges, what its guarantees and its opportunistic work came to"},
      {"fragmentation", make_fragmentation, false, "what of the free GPUs the jobs could not use, by several measures, over time"},
      {"loss", make_loss, false,
       "loss of capacity: GPUs that idled while somebody waited, or while somebody would have fitted by their number"},
      {"fairness", make_fairness, false, "Jain's index over users: of GPU-time received, of slowdown"},
      {"spread", make_spread, false, "how far apart users' dominant shares are while they compete"},
      {"rho", make_rho, false, "finish-time fairness: against an equal part of the cluster"},
      {"equal-split", make_equal_split, false, "who got less than an equal part while it wanted it; envy"},
      {"sla", make_sla, false, "deadlines met, and lateness"},
      {"wait-classes", make_wait_classes, false, "longest wait, starvation, waits by size and by user"},
      {"bounds", make_bounds, false, "makespan and mean completion beside what no schedule can beat"},
      {"stationarity", make_stationarity, false, "warm-up cut, batch means, whether the run has settled"},
  };
  return kFamilies;
}

std::vector<std::string> parse_families(std::string_view list) {
  std::vector<std::string> out;
  std::vector<std::string_view> known{"all"};
  for (const FamilyInfo& f : metric_families()) known.push_back(f.name);
  for (size_t at = 0; at <= list.size();) {
    const std::string_view name = list.substr(at, std::min(list.find(',', at), list.size()) - at);
    at += name.size() + 1;
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      const std::string near = nearest_name(name, known);
      std::string all;
      for (const FamilyInfo& f : metric_families())
        if (!f.usual) all += std::string(f.name) + ", ";
      throw InputError("no family of metrics is called " + in_quotes(name) +
                       (near.empty() ? "; there are " + all + "all" : "; did you mean " + near + "?"));
    }
    if (std::find(out.begin(), out.end(), name) == out.end()) out.emplace_back(name);
  }
  return out;
}

}  // namespace muster
