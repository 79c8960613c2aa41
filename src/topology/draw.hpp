// A topology for people.
#pragma once
#include <string>

#include "muster/topology.hpp"

namespace muster {

/// One line: "16 nodes, 128 GPUs: rack 2 > node 8 > socket 2 > switch 2 > gpu 2"; "3-5" where the numbers differ.
std::string describe(const Topology& t);

/// The tree in ASCII, a line a domain, equal neighbours drawn once ("n0 ... n7   8 x"), ends with a newline. Made for 80 columns and, for
/// any cluster made of equal parts, for one screen.
std::string draw(const Topology& t);

}  // namespace muster
