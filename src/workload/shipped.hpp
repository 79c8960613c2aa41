// Traces that are compiled in.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

namespace muster {

/// The text of the trace shipped under that name ("campus").
std::optional<std::string_view> shipped_trace(std::string_view name);
/// The names of all shipped traces, sorted.
std::vector<std::string_view> shipped_traces();

}  // namespace muster
