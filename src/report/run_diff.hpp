// Where two runs part.
#pragma once
#include <string>
#include <string_view>

namespace muster {

/// The first record at which two recordings (the text of records.jsonl) part, told with both sides' lines and, for the jobs they name, what
/// became of each on either side at that instant, and why. What the headers say differently comes first: it is usually the cause, and is no
/// parting by itself. `parts` tells whether any record differs. Throws InputError for text that is no recording.
struct RunDiff {
  bool parts = false;
  std::string text;
};
RunDiff diff_runs(std::string_view a, const std::string& a_name, std::string_view b, const std::string& b_name);

}  // namespace muster
