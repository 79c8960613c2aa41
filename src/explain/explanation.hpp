// Worked solutions of exercises: one kind a file, one row a kind.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "explain/document.hpp"
#include "explain/image.hpp"
#include "muster/config.hpp"

namespace muster {

/// An exercise as somebody typed it.
struct Exercise {
  /// An object. A JSON file as it stands, or of one with "input" (as collections of exercises have it) what is in there; a CSV file is
  /// {"rows": [{column: field, ...}, ...]}.
  Config input;
  std::string file;
  std::string records;  ///< a folder for the records of its runs, or empty
};

/// JSON when the text begins with '{', else CSV with a header line. Throws InputError with line and field.
Exercise read_exercise(std::string_view text, std::string_view file);

/// A row of the table of explanations. The engine computes what an explanation says: it runs the exercise under a policy of the table and
/// reads the records.
struct Explanation {
  std::string_view name, summary;
  std::string_view sample;                         ///< an input, complete; what `muster explain NAME` shows
  Document (*explain)(const Exercise&) = nullptr;  ///< throws InputError
  /// Instead of explain(), of what reads texts of another kind, one or more; throws InputError.
  Document (*explain_texts)(std::span<const ExplainedText>) = nullptr;
};

/// All explanations, in order of name.
std::span<const Explanation> explanations();

}  // namespace muster
