// What no cluster could ever run.
#pragma once
#include "muster/record.hpp"

namespace muster {

/// Why no placement of the empty cluster `t` holds the least tasks of `s`, the hardest reason first: cluster_size, node_size, type;
/// Reason::none when one does. Every GPU counts, down or not. One group is decided exactly. Several
/// groups are judged one by one and by the sum of their GPUs, so that some that fit nowhere pass; none that fits somewhere is refused.
Reason never_fits(const Shape& s, const Topology& t);
/// The same on nodes [begin, end) alone: a partition.
Reason never_fits(const Shape& s, const Topology& t, NodeId begin, NodeId end);

}  // namespace muster
