// How long a job is believed to run.
#pragma once
#include "parts/part.hpp"

namespace muster {

enum class Estimate : uint8_t {
  trace,  ///< what the user stated, whole; jobs without a statement come after all others
  exact,  ///< the true run time left: the textbook's assumption, which no scheduler has
};

std::span<const PartInfo> estimates();
Estimate estimate_called(std::string_view name);

/// Run time of `j` in ticks; kNever when nobody stated any.
inline Duration estimated(Estimate e, const View& now, JobId j) { return e == Estimate::exact ? now.oracle_left(j) : now.estimate(j); }

}  // namespace muster
