// jobs.csv: a row for every job.
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "metrics/job_rows.hpp"

namespace muster {

/// Hands the text of jobs.csv to `write`, in blocks. Times are seconds since the first submit, exact to the microsecond.
void jobs_csv(const JobRows& rows, const Header& h, const std::function<void(std::string_view)>& write);

}  // namespace muster
