// What the cluster looks like: an immutable tree of domains over nodes and GPUs.
#pragma once
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "muster/resources.hpp"

namespace muster {

/// How wide and how slow a connection is, in each direction. What is 0 is not stated; Links (links.hpp) then takes a value by the type of
/// GPU.
struct LinkRate {
  int64_t mb_s = 0;  ///< 10^6 bytes a second
  int64_t ns = 0;    ///< one way through it
  friend bool operator==(const LinkRate&, const LinkRate&) = default;
};

/// What connects the GPUs of a node beside its tree, and the node to the network. GPUs are numbered inside the node.
struct NodeLinks {
  struct Uplink {  ///< from a GPU ("gpu") or a domain of a level below the node to what it is part of
    std::string level;
    LinkRate rate;
    friend bool operator==(const Uplink&, const Uplink&) = default;
  };
  struct Pair {  ///< two GPUs joined by NVLink
    uint32_t a = 0, b = 0, links = 1;
    friend bool operator==(const Pair&, const Pair&) = default;
  };
  struct Nic {  ///< a network card, nearest to GPUs begin to end; cards that are nearest to none (begin == end) spread evenly over all
    uint32_t begin = 0, end = 0;
    LinkRate rate;
    friend bool operator==(const Nic&, const Nic&) = default;
  };
  enum class NvLink : uint8_t {
    unstated,
    none,
    all,    ///< every GPU reaches every other at its full rate (NVSwitch)
    pairs,  ///< bridges and meshes
  };
  std::vector<Uplink> uplinks;
  NvLink nvlink = NvLink::unstated;
  LinkRate nvlink_rate;  ///< all: of one GPU; pairs: of one link
  std::vector<Pair> pairs;
  bool states_nics = false;
  std::vector<Nic> nics;
  friend bool operator==(const NodeLinks&, const NodeLinks&) = default;
};

/// The network between nodes.
struct FabricLinks {
  struct Uplink {  ///< from a domain of a level above the node to what it is part of, all its cables together
    std::string level;
    LinkRate rate;
    int64_t oversubscription = 0;  ///< in thousandths: what comes in from below over what goes out; 0: not stated
    friend bool operator==(const Uplink&, const Uplink&) = default;
  };
  std::vector<Uplink> uplinks;
  std::string nvlink_level;  ///< level whose domains are one NVLink domain each (a GB200 rack); empty: NVLink ends at the node
  LinkRate nvlink_rate;      ///< of one GPU
  bool rails = false;        ///< card i of every node goes to a switch of its own
  friend bool operator==(const FabricLinks&, const FabricLinks&) = default;
};

/// What nodes of one kind have.
struct NodeKind {
  std::string name;
  uint32_t gpus = 0;
  std::string gpu_type;      ///< "A100-SXM4-80GB"; empty: not stated
  int64_t gpu_mem_mib = 0;   ///< memory of one GPU; 0: not stated, no limit
  std::string driver, cuda;  ///< GPU driver, and the highest CUDA version it offers ("535.104.05", "12.2"); empty: not stated, no limit
  std::vector<std::pair<std::string, std::string>> labels;  ///< key and value, in order of key
  Resources capacity;        ///< per node; kGpu is gpus * 1000
  bool limits_cpu = false;   ///< false: CPUs are not modelled on these nodes, requests for them always fit
  bool limits_mem = false;   ///< likewise for host memory
  NodeLinks links;
  friend bool operator==(const NodeKind&, const NodeKind&) = default;
};

/// A vertex of the tree at or above the GPU's parent: a rack, a node, a socket, a switch. GPUs themselves are numbers, not domains.
struct Domain {
  std::string name;                     ///< "r0", "n12", "n12/s0"
  uint32_t parent = kNone;              ///< index into the domains of the level above
  GpuId gpu_begin = 0, gpu_end = 0;     ///< its GPUs
  NodeId node_begin = 0, node_end = 0;  ///< its nodes; below the node level the one node it is part of
};

/// A tree as files and importers give it; Topology::build numbers it.
struct TopologySpec {
  struct Vertex {
    std::string name;       ///< empty: named by level and number ("rack3", "n12", "n12/socket0")
    uint32_t kind = kNone;  ///< at the node level: index into kinds
    uint32_t gpus = 0;      ///< in a vertex of the last level before the GPU: how many GPUs
    uint64_t count = 1;     ///< so many equal siblings; a given name is then a stem ("a" gives "a0", "a1", ...)
    std::vector<Vertex> children;
  };
  std::string name;
  std::vector<std::string> levels;             ///< names from the top level below the root to the one above the GPU; one of them is "node"
  std::vector<std::string> kinds_of_resource;  ///< names of kinds 3 and up
  std::vector<NodeKind> kinds;
  std::vector<Vertex> top;
  FabricLinks links;
};

/// Immutable tree. Levels are named and any number; nodes may differ; clusters without GPUs are legal; a node's GPUs are an interval
/// and so are those of every domain.
class Topology {
 public:
  /// Numbers the tree. Throws InputError when the parts contradict each other (a node inside a node, no node level, GPUs that differ
  /// from the kind's, more than 2^31 GPUs).
  static Topology build(TopologySpec spec);
  /// "rack:4 node:8 socket:2 switch:2 gpu:2" (counts are per parent; "gpu" last; without "node" the level above "gpu" is one node a
  /// domain). Attributes of a node after it in brackets, as in "node:8[cpus=64,mem_gib=512,gpu_type=A100,gpu_mem_gib=80] gpu:8".
  static Topology parse_line(std::string_view line);

  const std::string& name() const { return name_; }
  uint32_t gpus() const { return gpus_; }
  uint32_t nodes() const { return uint32_t(node_first_.size() - 1); }
  /// Level names from the top to the one above the GPU.
  const std::vector<std::string>& levels() const { return levels_; }
  size_t node_level() const { return node_level_; }
  const std::vector<Domain>& domains(size_t level) const { return domains_[level]; }
  /// Index into domains(level) of the one that holds node `n`; `level` at or above the node level.
  uint32_t domain_of_node(size_t level, NodeId n) const { return level == node_level_ ? n : domain_of_node_[level][n]; }
  /// Index into domains(level) of the one that holds GPU `g`, any level.
  uint32_t domain_of_gpu(size_t level, GpuId g) const {
    return level <= node_level_ ? domain_of_node(level, node_of_[g]) : domain_of_gpu_[level - node_level_ - 1][g];
  }

  GpuId first_gpu(NodeId n) const { return node_first_[n]; }
  uint32_t gpus_of(NodeId n) const { return node_first_[n + 1] - node_first_[n]; }
  NodeId node_of(GpuId g) const { return node_of_[g]; }
  uint32_t most_gpus() const { return most_gpus_; }  ///< of the largest node
  const NodeKind& kind(NodeId n) const { return kinds_[node_kind_[n]]; }
  uint32_t kind_id(NodeId n) const { return node_kind_[n]; }
  const std::vector<NodeKind>& kinds() const { return kinds_; }
  const std::string& node_name(NodeId n) const { return domains_[node_level_][n].name; }
  std::string gpu_name(GpuId g) const;  ///< "n1/gpu0"
  /// Index of the level called so, or levels().size().
  size_t find_level(std::string_view name) const { return size_t(std::find(levels_.begin(), levels_.end(), name) - levels_.begin()); }
  /// Level whose domains are NUMA domains: "numa" or else "socket" below the node; the node level when there is neither.
  size_t numa_level() const;
  /// Node by name, or kNone.
  NodeId find_node(std::string_view name) const;
  const FabricLinks& links() const { return links_; }
  /// Names of resource kinds, all of them; at least "gpu", "cpu", "mem".
  const std::vector<std::string>& resource_names() const { return resource_names_; }
  /// Whether some node limits a kind other than GPUs.
  bool limits(size_t kind) const { return limits_[kind]; }

 private:
  std::string name_;
  std::vector<std::string> levels_, resource_names_;
  size_t node_level_ = 0;
  uint32_t gpus_ = 0, most_gpus_ = 0;
  std::vector<std::vector<Domain>> domains_;
  std::vector<std::vector<uint32_t>> domain_of_node_, domain_of_gpu_;
  std::vector<GpuId> node_first_{0};
  std::vector<NodeId> node_of_, nodes_by_name_;
  std::vector<NodeKind> kinds_;
  std::vector<uint32_t> node_kind_;
  std::array<bool, kMaxKinds> limits_{};
  FabricLinks links_;
};

}  // namespace muster
