// Topology files; docs/topology.md describes both forms.
#pragma once
#include <string_view>

#include "muster/topology.hpp"

namespace muster {

/// Reads a topology file: a tree of named levels or a flat list of nodes. `file` is for messages; its stem is the name of a topology that
/// states none. Capacity rounds down. Throws InputError with file and JSON pointer.
Topology topology_from_json(std::string_view text, std::string_view file);

}  // namespace muster
