// What a person reads after a run.
#pragma once
#include <string>
#include <string_view>

#include "muster/record.hpp"
#include "muster/report.hpp"

namespace muster {

/// The table of a run: input, cluster, policy, load, times, jobs, GPU time and makespan, at most 80 columns, each line ended.
/// `trace` and `topology` are the names by which the user gave them.
std::string summary(const Report& r, const Header& h, std::string_view trace, std::string_view topology);

}  // namespace muster
