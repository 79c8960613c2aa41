// The links of a topology with nothing left unstated.
#pragma once
#include <vector>

#include "muster/links.hpp"

namespace muster {

/// Nodes that are alike inside: same kind, same division.
struct NodeInside {
  NodeId example = 0;
  uint32_t gpus = 0;
  LinkRate gpu;                  // of a GPU's slot
  std::vector<LinkRate> uplink;  // by level below the node, of its domains
  NodeLinks::NvLink nvlink = NodeLinks::NvLink::none;
  LinkRate nvlink_rate;  // all: of one GPU; pairs: of one link
  std::vector<NodeLinks::Pair> pairs;
  std::vector<NodeLinks::Nic> nics;
  std::vector<std::vector<uint32_t>> near;  // by GPU, its nearest cards
};

struct LinkTables {
  explicit LinkTables(const Topology& topology);

  const Topology& t;
  std::vector<NodeInside> insides;
  std::vector<uint32_t> inside_of;  // by node
  size_t nvlink_level = 0;          // its domains are one NVLink domain each; the node level when NVLink ends there
  LinkRate nvlink_rate;             // above the node
  uint32_t rails = 1;               // links side by side of an uplink above the node
  std::vector<Link> links;
  std::vector<uint32_t> base;       // by level but the node's: link of its first domain
  std::vector<uint32_t> first_nic;  // by node, one more at the end

  const NodeInside& inside(NodeId n) const { return insides[inside_of[n]]; }
  uint32_t link_of(size_t level, uint32_t domain, uint32_t rail = 0) const {
    return level < t.node_level() ? base[level] + domain * rails + rail : base[level] + domain;
  }
  /// Domain of a GPU at any level.
  uint32_t at(size_t level, GpuId g) const { return t.domain_of_gpu(level, g); }
  /// Lowest level at or below the node's at which a and b, GPUs of one node, are together; levels().size() when they are one.
  size_t meet_inside(GpuId a, GpuId b) const;
};

}  // namespace muster
