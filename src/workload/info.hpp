// What a careful person checks first in a trace, and on which cluster it could run.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "muster/record.hpp"
#include "workload/trace.hpp"

namespace muster {

struct TraceInfo {
  struct Size {
    uint64_t jobs = 0;
    Int128 gpu_time = 0;  ///< milli-GPUs x ticks
  };
  Duration span = 0;                    ///< first to last submit
  std::map<int64_t, Size> sizes;        ///< by milli-GPUs of a job
  Int128 gpu_time = 0;                  ///< milli-GPUs x ticks of all
  Duration shortest = 0, p50 = 0, p90 = 0, p99 = 0, longest = 0;  ///< nearest rank, over jobs with a duration
  struct Share {
    std::string name;
    uint64_t jobs = 0;
  };
  std::vector<Share> tenants, queues;   ///< most jobs first, equal ones by name
  uint64_t equal_jobs = 0;              ///< jobs that say the same as another one (id apart), beyond the first
  uint64_t gangs = 0, elastic = 0;      ///< of more than one task; with fewer tasks as their least
  uint64_t estimates = 0, too_short_estimates = 0, limits = 0, too_short_limits = 0, deadlines = 0, impossible_deadlines = 0;
  std::vector<std::string> suspicions;  ///< units and counts that look wrong, one line each
};
TraceInfo trace_info(const TraceResult& trace);

struct Validation {
  double load = 0;                 ///< DESIGN's offered load; NaN when all submits are equal or there are no GPUs
  struct Misfit {
    Reason reason = Reason::none;
    uint64_t jobs = 0;
    JobId first = kNone;           ///< an example
  };
  std::vector<Misfit> misfits;     ///< jobs that can never fit: cluster_size, node_size, type
};
/// `w` as fitted to `t` (fit_shapes).
Validation validate(const Workload& w, const Topology& t);

}  // namespace muster
