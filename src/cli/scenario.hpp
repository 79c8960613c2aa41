// A scenario file: a small run and what must come of it.
#pragma once
#include <string>
#include <vector>

namespace muster::cli {

/// What became of one scenario.
struct Verdict {
  std::string title;
  std::vector<std::string> differences;  ///< empty: passed
};

/// Runs the scenario in `file`. Throws InputError when the file itself cannot be used; an error of the run is judged by the scenario.
Verdict run_scenario(const std::string& file);

}  // namespace muster::cli
