// A topology for people and for their tools.
#pragma once
#include <string>

#include "muster/topology.hpp"

namespace muster {

/// One line: "16 nodes, 128 GPUs: rack 2 > node 8 > socket 2 > switch 2 > gpu 2"; "3-5" where the numbers differ.
std::string describe(const Topology& t);

/// The tree in ASCII, a line a domain, equal neighbours drawn once ("n0 ... n7   8 x"), and the NVLink and network cards that are stated;
/// ends with a newline. Made for 80 columns and, for any cluster made of equal parts, for one screen.
std::string draw(const Topology& t);

/// The link graph in the language of Graphviz: every GPU, switch and card, every link with bandwidth and latency. Throws InputError for
/// more than 10,000 GPUs and nodes, which no picture shows.
std::string draw_dot(const Topology& t);

/// Boxes in boxes, as lstopo draws them, equal neighbours once; NVLink below the GPUs. A whole SVG file. Throws InputError when it would
/// have more than 10,000 boxes.
std::string draw_svg(const Topology& t);

/// A topology file that states all links, also those that are only usual for the type of GPU.
std::string draw_json(const Topology& t);

}  // namespace muster
