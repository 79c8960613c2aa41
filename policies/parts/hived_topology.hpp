// Between HiveD's cells and the nodes and GPUs of a topology.
#pragma once
#include "muster/topology.hpp"
#include "parts/cells.hpp"

namespace muster {

/// Cell types and physical cells for a topology: one type a level ("rack", "node", "switch"; "rack-2" for racks of other contents), the
/// leaf named after the GPU type or "gpu". A domain whose parts differ is no cell: each of its parts is then at the top of a chain of its
/// own. A node's levels are left out when its sockets or switches differ. Nodes without a GPU have no cells.
HivedConfig hived_cells(const Topology& t);

/// Which GPU each physical leaf is. The k-th leaf of a node, depth first, is GPU k of the topology's node of that name; of a node with
/// cells in several chains, the further ones are nodes "NAME.2" and so on, as `muster topo import` calls them.
struct LeafMap {
  std::vector<GpuId> gpu;     ///< by cell; kNone for what is no physical leaf
  std::vector<int32_t> leaf;  ///< by GPU; kNoCell when it is in no cell
};
/// Throws InputError when the topology has no such node, or one with too few GPUs.
LeafMap map_leaves(const CellForest& f, const Topology& t);

}  // namespace muster
