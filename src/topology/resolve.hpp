// From what a user writes after --topology to a topology.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "muster/topology.hpp"

namespace muster {

/// `x` with a '/' or ending in .json: a file, read by `read_file`; with a ':' a one-line topology; else the name of a shipped one.
/// Throws InputError, for a name with the nearest one there is.
Topology resolve_topology(std::string_view x, const std::function<std::string(const std::string& path)>& read_file);

/// The text of the topology file shipped under that name.
std::optional<std::string_view> shipped_topology(std::string_view name);
/// The names of all shipped topologies, sorted.
std::vector<std::string_view> shipped_topologies();

}  // namespace muster
