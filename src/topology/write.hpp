// Topology files, written.
#pragma once
#include <string>

#include "muster/topology.hpp"

namespace muster {

/// The spec as a topology file in the form of a tree (docs/topology.md). Equal neighbours without names are counted; what is not stated
/// is left out. Throws InputError when the parts contradict each other.
std::string topology_file(const TopologySpec& spec);

}  // namespace muster
