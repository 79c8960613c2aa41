// A built topology as one line of JSON, from which it can be built again.
#pragma once
#include <string>

#include "muster/config.hpp"
#include "muster/topology.hpp"

namespace muster {

/// The canonical text: name, levels, named resources, kinds, and the tree with equal neighbours counted. docs/records.md says what is what.
std::string topology_json(const Topology& t);

/// The spec a topology can be built from again; names of its own are kept, equal neighbours are counted.
TopologySpec spec_of(const Topology& t);

/// The inverse of topology_json. Throws InputError, with the place, for what topology_json does not write.
Topology topology_from_record(const Config& c);

}  // namespace muster
