// Where a request would lie if the cluster were empty.
#pragma once
#include <vector>

#include "muster/share.hpp"
#include "workload/best_level.hpp"

namespace muster {

/// A placement of `s` with `gpus` of its GPUs as close to each other as can be, a wish for different nodes set aside: on the first nodes that may
/// have it of a domain of its best level. Empty when it is not found so.
std::vector<Piece> ideal_placement(const BestLevel& best, const Topology& t, const Shape& s, uint32_t gpus);

}  // namespace muster
