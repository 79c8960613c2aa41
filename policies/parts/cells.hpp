// Buddy cells: the topology as trees of equal parts, split when needed and merged when whole again, and who owns them.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "parts/hived_config.hpp"
#include "parts/journal.hpp"
#include "parts/large_pages.hpp"

namespace muster {

class NodeView;

inline constexpr int32_t kNoCell = -1;
inline constexpr int32_t kFreePriority = -2;  ///< of a cell that nobody uses
inline constexpr int32_t kOpportunistic = -1;
inline constexpr int32_t kMostLevels = 66;

/// A physical or a virtual cell: what decisions look at, in one cache line. The upper half never changes after start-up, the lower half
/// only through the journal.
struct alignas(64) Cell {
  int32_t parent = kNoCell, first = kNoCell, children = 0;  ///< children are numbered in a row
  int32_t level = 1, leaves = 1;
  int32_t root = kNoCell;        ///< top of its tree: for a virtual cell the preassigned one
  int32_t view = -1, slot = -1;  ///< where a NodeView has it as a node

  int32_t bound = kNoCell;  ///< the virtual cell of a physical one, and the other way round
  int32_t priority = kFreePriority, used = 0, opportunistic = 0;  ///< highest of its leaves; leaves in use, and of these at priority -1
  int32_t uses = -1;        ///< leaves in use at lower priorities: head of a list
  int32_t user = -1;        ///< group on a physical leaf
  int32_t state = 0;        ///< of a physical leaf: LeafState; of a larger physical cell: whether it is split
  int32_t bad = 0;          ///< of a physical cell
  bool split() const { return level > 1 && state != 0; }
};

/// What is seldom asked of a cell.
struct CellInfo {
  int32_t tree = 0;       ///< physical: its chain; virtual: its VirtualTree
  int32_t number = 0;     ///< default part of its address
  int32_t name = -1;      ///< given part of its address
  int32_t node = -1;      ///< physical: its first node
  int32_t reserver = -1;  ///< group that has a physical leaf reserved
  bool is_physical = true, pinned = false;
};

enum class LeafState : int32_t { free, used, reserving, reserved };

/// Cells in an order that decides ties: new ones at the end; the last one moves into the place of one taken out.
class CellList {
 public:
  /// `places`: by cell, where it is in the list; lists that share one never hold the same cell.
  explicit CellList(std::vector<int32_t>& places) : places_(&places) {}
  int32_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  int32_t operator[](int32_t i) const { return cells_[size_t(i)]; }
  bool has(int32_t c) const {
    const int32_t at = (*places_)[size_t(c)];
    return at >= 0 && at < size_ && cells_[size_t(at)] == c;
  }
  void push(Journal& j, int32_t c) {
    put(j, size_, c);
    j.set(size_, size_ + 1);
  }
  void drop(Journal& j, int32_t c) {
    if (!has(c)) return;
    const int32_t at = (*places_)[size_t(c)], last = cells_[size_t(size_ - 1)];
    j.set(size_, size_ - 1);
    if (last != c) put(j, at, last);
  }
  void clear(Journal& j) { j.set(size_, 0); }
  void put_in_front(Journal& j, const std::vector<int32_t>& some);

 private:
  void put(Journal& j, int32_t at, int32_t c) {
    if (size_t(at) == cells_.size()) cells_.push_back(kNoCell);
    j.set(cells_[size_t(at)], c);
    j.set((*places_)[size_t(c)], at);
  }
  std::vector<int32_t>* places_;
  int32_t size_ = 0;
  std::deque<int32_t> cells_;
};

/// All top-level cells of one type, and what is left of them.
struct Chain {
  std::string name;
  std::vector<std::string> types;  ///< by level; [0] is not used
  std::vector<bool> multi_node;    ///< by level
  int32_t top = 0, node_level = 0;
  std::vector<std::vector<int32_t>> full;    ///< all cells by level, depth first
  std::vector<int32_t> kids;                 ///< children of the first cell, by level
  std::deque<CellList> free, bad_free;       ///< by level
  std::vector<int32_t> all_free, left;       ///< cells the VCs have not allocated; cells in or below the free list
  std::deque<std::vector<int32_t>> vc_free;  ///< [vc][level]
  std::deque<std::deque<CellList>> doomed;   ///< [vc][level]; bound only because nothing healthy is left
  std::vector<int32_t> doomed_cells;         ///< by level, of all VCs
  std::vector<bool> has_quota;               ///< by vc
  int32_t level_of(std::string_view type) const {
    for (int32_t l = 1; l <= top; l++)
      if (types[size_t(l)] == type) return l;
    return -1;
  }
  const std::string& leaf_type() const { return types[1]; }
};

/// What a virtual cluster owns in one chain, or one pinned cell of it.
struct VirtualTree {
  int32_t vc = 0, chain = 0;
  std::string pinned;                             ///< id; empty: the quota of the chain
  int32_t pinned_cell = kNoCell;                  ///< physical
  std::vector<std::vector<int32_t>> full, roots;  ///< by level
  std::vector<JournaledSet> unused;               ///< by level: positions in roots of those unbound and free
  int32_t top() const { return int32_t(full.size()) - 1; }
};

/// What was done to the free lists, for people.
struct CellStep {
  enum class What : uint8_t { split, merge, take, give, bind, unbind, doom, undoom } what;
  int32_t cell;   ///< physical
  int32_t other;  ///< virtual cell, of bind and unbind; vc of take, give, doom and undoom
};

/// The physical and virtual cells of a cluster: free lists, bindings, counts. Faithful to HiveD in every order that decides a tie;
/// rules in docs/policies/hived.md.
class CellForest {
 public:
  /// Throws InputError when the configuration contradicts itself or the quotas do not fit.
  explicit CellForest(const HivedConfig& config);
  ~CellForest();
  CellForest(const CellForest&) = delete;
  CellForest& operator=(const CellForest&) = delete;

  std::span<const Cell> cells() const { return cells_; }
  const Cell& operator[](int32_t c) const { return cells_[size_t(c)]; }
  const CellInfo& info(int32_t c) const { return infos_[size_t(c)]; }
  const std::deque<Chain>& chains() const { return chains_; }
  const std::deque<VirtualTree>& trees() const { return trees_; }
  const std::vector<std::string>& vcs() const { return vcs_; }
  /// Physical nodes in order: a name and its leaves, of all chains.
  struct Node {
    std::string name;
    std::vector<int32_t> leaves;
    int32_t bad_leaves = 0;
  };
  const std::vector<Node>& nodes() const { return nodes_; }
  int32_t find_vc(std::string_view name) const;
  int32_t find_node(std::string_view name) const;
  /// The VC's quota in a chain, or -1.
  int32_t tree_of(int32_t vc, int32_t chain) const { return tree_of_[size_t(vc)][size_t(chain)]; }
  int32_t pinned_tree(int32_t vc, std::string_view id) const;
  std::string address(int32_t c) const;    ///< "0/n0/1/4", "A/0/3"
  int32_t leaf_index(int32_t leaf) const;  ///< own part of a physical leaf, as a number
  const std::string& type(int32_t c) const;
  bool single_node(int32_t c) const { return cells_[size_t(c)].level <= chain_of(c).node_level; }
  const Chain& chain_of(int32_t c) const;
  /// Used leaves of priorities >= q.
  int32_t used_from(int32_t c, int32_t q) const { return used_from(cells_[size_t(c)].priority, cells_[size_t(c)].used, cells_[size_t(c)].uses, q); }
  int32_t used_from(int32_t priority, int32_t used, int32_t lower, int32_t q) const {
    if (priority < q) return 0;
    int32_t n = used;
    for (int32_t u = lower; u >= 0; u = pool_[size_t(u)].next)
      if (pool_[size_t(u)].priority < q) n -= pool_[size_t(u)].count;
    return n;
  }
  bool is_free(int32_t c) const;

  // ---- free lists
  /// A VC takes a free cell for a root of its own. False: some other VC could now find too little.
  bool take_root(int32_t c, int32_t vc, bool as_doomed);
  void give_root(int32_t c, int32_t vc, bool as_doomed);

  // ---- leaves
  /// Leaf `x` works for virtual leaf `v`, or (kNoCell) opportunistically. False: not safe.
  bool take_leaf(int32_t x, int32_t v, int32_t priority, int32_t vc);
  void give_leaf(int32_t x, int32_t vc) { give_leaves({&x, 1}, vc); }
  /// The same for leaves one after the other, at the cost of their cells and not of their number.
  void give_leaves(std::span<const int32_t> leaves, int32_t vc);
  /// take_leaf() in two steps: binds the leaf at once, and counts it with others of its root when told to.
  bool bind_leaf(int32_t x, int32_t v, int32_t vc);
  void count_leaves(std::span<const int32_t> leaves, int32_t priority, int32_t by);
  void set_state(int32_t x, LeafState s) { journal_.set(cells_[size_t(x)].state, int32_t(s)); }
  void set_user(int32_t x, int32_t group) { journal_.set(cells_[size_t(x)].user, group); }
  void set_reserver(int32_t x, int32_t group) { journal_.set(infos_[size_t(x)].reserver, group); }

  // ---- health
  void hurt(int32_t x);
  void heal(int32_t x);

  /// Which invariant (I1 to I7 of docs/policies/hived.md) is broken, or empty. Walks everything.
  std::string check() const;

  Journal& journal() { return journal_; }
  std::vector<std::unique_ptr<NodeView>>& views() { return views_; }
  Cell& edit(int32_t c) { return cells_[size_t(c)]; }
  Chain& edit_chain(int32_t c) { return chains_[size_t(c)]; }
  /// Leaves by what becomes of them.
  struct Totals {
    int64_t free = 0, free_nodes = 0;  ///< in the free lists; of these in cells of a node or more
    int64_t owned = 0;                 ///< in cells that VCs have allocated
    int64_t guaranteed = 0, opportunistic = 0, bad = 0;
    uint64_t splits = 0, merges = 0;  ///< so far
    bool operator==(const Totals&) const = default;
  };
  Totals totals() const;
  /// Steps are written here while it is set.
  std::vector<CellStep>* steps = nullptr;
  /// Counted since the start, also when undone.
  uint64_t splits = 0, merges = 0;

 private:
  struct Use {
    int32_t priority = 0, count = 0, next = -1, spare = 0;
  };
  struct Builder;
  void count_one(int32_t c, int32_t priority, int32_t by);
  void count_lower(int32_t& head, int32_t priority, int32_t by);
  void drop_lower(int32_t& at);
  void tally(int32_t& priority, int32_t& used, int32_t& lower, int32_t p, int32_t by);
  int32_t take_out(int32_t c);
  int32_t give_back(int32_t c);
  void bind(int32_t x, int32_t v);
  void unbind_one(int32_t x);
  void unbind_up(int32_t x);
  void bind_bad(int32_t x);
  int32_t make_way(int32_t x, int32_t v, int32_t vc);
  void unbind_below(int32_t x);
  void take_bad(int32_t c);
  void give_bad(int32_t c);
  void doom(int32_t chain, int32_t level);
  void undoom(int32_t chain, int32_t level);
  void undoomed(int32_t x, int32_t vc);
  void touch(int32_t c);
  void root_changed(int32_t v);
  void told(CellStep::What what, int32_t cell, int32_t other) {
    if (steps) steps->push_back({what, cell, other});
  }

  Journal journal_;
  std::vector<Cell, OnLargePages<Cell>> cells_;
  int32_t first_virtual_ = 0;  // cells from here on are virtual
  std::vector<CellInfo> infos_;
  std::vector<int32_t> place_, bad_place_, doomed_place_;  // by cell: in the free list, among the bad free cells, among the doomed
  std::deque<Chain> chains_;
  std::deque<VirtualTree> trees_;
  std::vector<std::string> vcs_, names_;
  std::vector<Node> nodes_;
  std::vector<std::vector<int32_t>> tree_of_;
  std::vector<int32_t> root_position_;  // of virtual roots, in roots of their level
  std::deque<Use> pool_;
  int32_t pool_free_ = -1, pool_used_ = 0;
  int32_t guaranteed_ = 0, opportunistic_ = 0, bad_leaves_ = 0;  // physical leaves
  std::vector<std::unique_ptr<NodeView>> views_;
  std::vector<int32_t> virtual_;  // scratch
};

}  // namespace muster
