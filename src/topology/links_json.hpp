// The keys "links" of a topology file.
#pragma once
#include <span>
#include <string>

#include "muster/config.hpp"
#include "muster/topology.hpp"

namespace muster {

/// Of a kind or a node. `levels` are those below the node.
NodeLinks node_links_from(const Config& c, std::span<const std::string> levels);
/// At the top: the network, and what holds for every kind that does not say otherwise.
FabricLinks fabric_links_from(const Config& c, std::span<const std::string> levels, size_t node_level, NodeLinks& usual);
/// What `stated` leaves open is as `usual` has it.
void complete(NodeLinks& stated, const NodeLinks& usual);

/// ", " and ": " or "," and ":".
struct JsonStyle {
  std::string_view comma, colon;
};
/// The inverse; empty when nothing is stated.
std::string links_text(const NodeLinks& links, JsonStyle style);
std::string links_text(const FabricLinks& links, JsonStyle style);

/// Throws InputError ("topology: ...") for links of GPUs or levels that are not there.
void check_links(const TopologySpec& spec, size_t node_level);

}  // namespace muster
