// Nodes by how their free GPUs lie inside them, and domains above the node by how many they have.
#pragma once
#include <vector>

#include "muster/id_set.hpp"
#include "muster/node_layout.hpp"

namespace muster {

class Cluster;

/// For each level below the node: which nodes have a domain of that level with exactly so many GPUs free at once. For each level above it:
/// how many GPUs of a domain are free at once. A node changes its place in O(levels); a question costs a few steps, whatever the number of
/// nodes.
class LevelIndex {
 public:
  LevelIndex(const Topology& t, const Cluster& c, NodeId begin, NodeId end);

  /// Smallest count >= c (c > 0) of free GPUs that some domain of `level`, below the node, has; kNone: there is none.
  uint32_t count_from(size_t level, uint32_t c) const { return below_[level - first_].counts.next(c); }
  /// Smallest number >= f of free GPUs of a node that has a domain of `level` with exactly c free; kNone: there is none.
  uint32_t free_from(size_t level, uint32_t c, uint32_t f) const;
  /// Lowest node >= from with f free GPUs and a domain of `level` with exactly c free; kNone: there is none.
  NodeId node_from(size_t level, uint32_t c, uint32_t f, NodeId from) const;
  /// GPUs of domain `d` of `level`, above the node, that are free at once.
  int64_t free(size_t level, uint32_t d) const { return above_[level][d]; }
  /// Most GPUs of a domain of any level.
  uint32_t largest(size_t level) const { return largest_[level]; }

 private:
  friend class NodeIndex;
  /// All nodes with the same free GPUs, and with domains of the same counts on every level below.
  struct Class {
    uint32_t free = 0, nodes = 0;
    IdSet members;
    std::vector<std::pair<uint32_t, uint32_t>> has;  // level below the node, count
  };
  struct Row {  // classes that have one count on one level, by the free GPUs of their nodes; no empty entries
    struct Entry {
      uint32_t free;
      std::vector<uint32_t> classes;
    };
    std::vector<Entry> by_free;
  };
  struct Below {
    IdSet counts;
    std::vector<Row> rows;  // by count
  };
  void update(NodeId n);
  uint32_t class_of(NodeId n, uint32_t free);
  uint32_t find_class();
  void show(uint32_t c, bool on);

  const Topology& topology_;
  const Cluster& cluster_;
  size_t first_;  // the first level below the node
  std::vector<Below> below_;
  std::vector<std::vector<int64_t>> above_;
  std::vector<uint32_t> largest_;
  std::vector<Class> classes_;
  NodeLayouts layouts_;
  std::vector<uint32_t> class_of_, free_of_;
  std::vector<uint64_t> keys_;   // by class: what its nodes have in common, as words
  std::vector<uint32_t> slots_;  // hash table of classes: class + 1
  struct Known {
    uint64_t gpus = 0;
    uint32_t layout = kNone, of = 0;
  };
  std::vector<Known> known_ = std::vector<Known>(4096);  // classes by hash of layout and free GPUs, for nodes of at most 64
  std::vector<uint64_t> key_, gpus_;  // of the node at hand: its key, its free GPUs
};

}  // namespace muster
