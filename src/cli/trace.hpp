// What `muster trace info` and `muster validate` print.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "muster/topology.hpp"
#include "workload/trace.hpp"

namespace muster::cli {

/// A page on a trace: rows, span, sizes, durations, users, what looks wrong. `name` is the trace as the user named it.
std::string describe_trace(const TraceResult& trace, std::string_view name);

/// What the cluster makes of it: load, and jobs that can never fit by reason. `w` as fitted to `t`. What is worth a warning goes to `warnings`.
std::string describe_fit(const Workload& w, const Topology& t, std::vector<std::string>& warnings);

}  // namespace muster::cli
