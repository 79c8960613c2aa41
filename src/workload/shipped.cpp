#include "workload/shipped.hpp"

#include <algorithm>

#include "data/embedded.hpp"

namespace muster {

std::optional<std::string_view> shipped_trace(std::string_view name) {
  for (const auto& f : embedded::traces())
    if (f.name == name) return f.text;
  return std::nullopt;
}

std::vector<std::string_view> shipped_traces() {
  std::vector<std::string_view> names;
  for (const auto& f : embedded::traces()) names.push_back(f.name);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace muster
