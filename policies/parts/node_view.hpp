// The nodes of a virtual cluster, or of a chain, in the order in which HiveD tries them.
#pragma once
#include "parts/cells.hpp"

namespace muster {

/// A persistent list of node-like cells (nodes, and roots below the node level), sorted stably before each use: healthy first, more used
/// first, and for opportunistic work less used at higher priority first. Sorting a list that was sorted before means moving what
/// changed: one list a class of equal nodes; a changed node that comes from an earlier class goes to the front of its new one, one
/// from a later class to the back, several in their old relative order. A request that prefers some nodes (`suggested`) sorts by the
/// letter instead.
class NodeView {
 public:
  /// Over the cells of `full` (by level, depth first). `opportunistic`: the view of work at priority -1 over physical cells.
  NodeView(CellForest& forest, int32_t id, const std::vector<std::vector<int32_t>>& full, int32_t node_level, bool opportunistic);

  /// Node `slot` changed what it is sorted by.
  void touch(int32_t slot) {
    Node& n = nodes_[size_t(slot)];
    if (n.dirty) return;
    journal().set(n.dirty, 1);
    journal().set(dirty_[size_t(dirty_count_)], slot);
    journal().set(dirty_count_, dirty_count_ + 1);
  }
  /// Leaves in use, of all its nodes, like those of a cell.
  struct Tally {
    int32_t priority = kFreePriority, used = 0, lower = -1;
  };
  Tally& tally() { return tally_; }
  /// Leaves of its nodes that nobody uses.
  int64_t unused() const { return int64_t(leaves_.size()) - tally_.used; }
  /// Tasks of `size` leaves that its nodes hold, all free.
  int64_t holds(int32_t size) const {
    int64_t n = 0;
    for (const Node& node : nodes_) n += kind_leaves_[size_t(node.kind)] / size;
    return n;
  }

  /// Its nodes by number of leaves.
  std::vector<std::pair<int32_t, int64_t>> sizes() const {
    std::vector<std::pair<int32_t, int64_t>> all;
    for (const int32_t leaves : kind_leaves_) all.emplace_back(leaves, 0);
    for (const Node& n : nodes_) all[size_t(n.kind)].second++;
    return all;
  }

  enum class Found : uint8_t { yes, nothing, bad, not_suggested };
  /// Cells for tasks of `sizes` leaves (ascending) by first fit along the order, leaves below priority `q` counted as free; never back
  /// to an earlier one. `suggested[node]` empty: all are.
  Found find(const std::vector<int32_t>& sizes, int32_t q, const std::vector<char>& suggested, std::vector<int32_t>& out);
  /// False: a round at priority `q` would see exactly what a round without victims saw.
  bool has_lower(int32_t q) const { return tally_.used > forest_.used_from(tally_.priority, tally_.used, tally_.lower, q); }
  /// Leaves of a node of the view, depth first.
  std::span<const int32_t> leaves(int32_t cell) const {
    const Node& n = nodes_[size_t(forest_[cell].slot)];
    return {leaves_.data() + n.leaves, size_t(forest_[cell].leaves)};
  }
  /// The order as it stands, for tests and pictures.
  std::vector<int32_t> order() const;

 private:
  struct Node {
    int32_t cell = kNoCell, kind = 0, leaves = 0;
    int32_t dirty = 0, cls = -1, stamp = 0, prev = -1, next = -1;
  };
  struct Ends {
    int32_t head = -1, tail = -1;
  };
  struct Stamps {
    int32_t front = 0, back = 0;
  };
  Journal& journal() { return forest_.journal(); }
  bool bad(const Node& n) const;
  bool is_suggested(const Node& n, const std::vector<char>& suggested) const;
  int32_t class_of(const Node& n) const;
  void sort();
  void sort_by_letter(const std::vector<char>& suggested);
  void insert(int32_t slot, bool front);
  void remove(int32_t slot);
  int32_t next_fit(int32_t cls, int32_t stamp, int32_t size, int32_t q);
  bool before(int32_t a, int32_t b) const {
    const Node &x = nodes_[size_t(a)], &y = nodes_[size_t(b)];
    return x.cls != y.cls ? x.cls < y.cls : x.stamp < y.stamp;
  }

  CellForest& forest_;
  bool opportunistic_;
  int32_t most_ = 0, kinds_ = 0;
  std::vector<Node> nodes_;
  std::vector<int32_t> leaves_, kind_leaves_;
  std::vector<Ends> lists_;     // [class][kind]: nodes of one class and one number of leaves
  std::vector<Stamps> stamps_;  // [class]
  JournaledSet filled_;         // lists that are not empty
  std::vector<int32_t> dirty_;
  int32_t dirty_count_ = 0;
  int32_t by_letter_ = 1;  // the order stands in letter_, not in the lists
  std::vector<int32_t> letter_;
  Tally tally_;
  std::vector<int32_t> moved_, cursor_, cursors_;
};

}  // namespace muster
