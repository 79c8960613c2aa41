// Made-up traces.
#pragma once
#include <optional>
#include <string>

#include "muster/config.hpp"

namespace muster {

/// Writes a trace as CSV from a specification (docs/generate.md lists its fields). The same specification and seed give the same bytes on
/// any machine. `jobs` and `seed` replace the specification's. Throws InputError with the pointer of what is wrong.
std::string generate_trace(const Config& spec, std::optional<uint64_t> jobs = {}, std::optional<uint64_t> seed = {});

}  // namespace muster
