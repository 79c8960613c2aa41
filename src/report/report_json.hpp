// report.json: the numbers of a run and where they come from.
#pragma once
#include <string>

#include "muster/record.hpp"
#include "muster/report.hpp"

namespace muster {

/// The text of report.json. Nothing in it but what the inputs, the options and the version of the program decide.
std::string report_json(const Report& r, const Header& h);

/// Version of the program, as in every report.
const char* program_version();

}  // namespace muster
