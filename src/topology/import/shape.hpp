// The inside of a node, from which GPUs share what.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "muster/topology.hpp"

namespace muster::import {

/// One way the GPUs of a node are divided: GPUs with equal numbers are together.
struct Partition {
  std::string level;
  std::vector<uint32_t> of_gpu;
  int rank = 0;  ///< of two equal partitions the one of higher rank names the level
};

/// A node's vertex and the levels below it.
struct NodeShape {
  std::vector<std::string> levels;
  TopologySpec::Vertex node;
  std::vector<uint32_t> order;  ///< order[i]: which of the given GPUs is number i of the node
  bool renumbered() const;
};

/// Nests partitions, given from coarse to fine; parts that cross those of the one before are cut. One that says nothing (the whole node,
/// single GPUs, the same as another) makes no level. Parts stand in the order of their first GPUs.
NodeShape node_shape(uint32_t gpus, std::vector<Partition> partitions);

/// Something GPUs are in: a socket, a host bridge, a switch. Holds its GPUs by number; all of a node's form a tree.
struct Container {
  enum Kind : uint8_t { socket, numa, bridge, pci } kind;
  std::vector<uint32_t> gpus;
};

/// The shape from a tree of containers. Chains of containers with the same GPUs count once; PCI containers are a `switch` right above
/// the GPUs, a `complex` of those one higher, `complex3` and so on above.
NodeShape node_shape(uint32_t gpus, const std::vector<Container>& containers);

/// NVLink from how many links join each two GPUs (the larger of both directions), as the node numbers them. Counts that are equal for all
/// pairs and together more than the 18 links a GPU has at most lead to switches. A link has 25 GB/s, as those of V100, A100 and H100.
/// Returns whether there is any.
bool set_nvlink(NodeLinks& links, const std::vector<std::vector<uint32_t>>& counts);

/// "gpu0 to gpu3 are GPU0, GPU2, GPU1, GPU3 of the input", for a shape that renumbers.
std::string renumbering(const NodeShape& shape);

}  // namespace muster::import
