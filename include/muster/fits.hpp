// What no cluster could ever run, and on which kinds of node a task may run.
#pragma once
#include "muster/record.hpp"

namespace muster {

/// Wishes for a kind of node, as bits: what is looked at when a kind is judged.
enum WishBits : uint8_t {
  kWishType = 1,    ///< GPU type and GPU memory
  kWishDriver = 2,  ///< driver and CUDA version
  kWishLabel = 4,
  kAllWishes = 7,
};

/// Whether an empty node of the kind has as many GPUs as one task wants and meets those of its `wishes`. CPUs, memory and named resources are
/// not looked at. A task without a GPU cares for labels only. What a kind does not state (GPU memory, driver, CUDA) is no obstacle; a GPU
/// type or label that it does not state is.
bool suits(const NodeKind& kind, const TaskGroup& g, uint8_t wishes = kAllWishes);

/// Order of dotted versions by their numbers: "525.60.13" < "535.104.05", "12" = "12.0". Below, at or above 0.
int compare_versions(std::string_view a, std::string_view b);

/// Why no placement of the empty cluster `t` holds the least tasks of `s`, the hardest reason first: cluster_size, node_size, type, driver,
/// label, level, numa; Reason::none when one does. Every GPU counts, down or not. One group is decided exactly, several
/// by a search (pack_items) that may come to its limit: what is not decided passes, and none that fits somewhere is refused.
Reason never_fits(const Shape& s, const Topology& t);
/// The same on nodes [begin, end) alone: a partition.
Reason never_fits(const Shape& s, const Topology& t, NodeId begin, NodeId end);

}  // namespace muster
