// Jobs that run with more or fewer tasks.
#pragma once
#include <vector>

#include "muster/policy.hpp"

namespace muster {

/// `held` and one task more of the first group that wants one: on the fullest node with room for it, the lowest of equals, its lowest free
/// GPUs. Empty when no group wants one or no node has room. For tasks of whole GPUs that lie within 64 of a node.
std::vector<Piece> grown(const View& now, const Plan& plan, JobId j);

/// `held` without its last `tasks` tasks, in the order of the tree; the highest GPUs of a node go first.
std::vector<Piece> shrunk(Pieces held, unsigned tasks);

/// Tasks of each group.
std::vector<unsigned> tasks_by_group(const Shape& s, Pieces held);

}  // namespace muster
