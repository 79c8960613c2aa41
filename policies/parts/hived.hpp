// HiveD: gangs onto the cells of their virtual clusters, and these onto physical cells.
#pragma once
#include "parts/node_view.hpp"

namespace muster {

/// A gang as HiveD is asked for it. All its pods are decided together.
struct HivedRequest {
  struct Member {
    int32_t pods = 1, leaves = 1;  ///< so many pods of so many leaves each
  };
  std::vector<Member> members;
  int32_t vc = -1;
  int32_t priority = 0;           ///< -1 opportunistic, 0 to 1000 guaranteed
  std::string leaf_type, pinned;  ///< empty: any; none
  bool lazy_preemption = false;   ///< as a victim it may go on opportunistically
  bool ignore_suggested = true;
  uint32_t tag = 0;  ///< the caller's name for it
};

/// Where one leaf of a gang goes, or went.
struct HivedLeaf {
  int32_t physical = kNoCell, virtual_ = kNoCell;
  int32_t root_level = -1;  ///< level of the preassigned cell; -1 opportunistic
};

enum class HivedWait : uint8_t { none, insufficient_capacity, needs_bad_node, needs_non_suggested_node, no_physical_mapping };

enum class GroupState : int32_t { none, allocated, preempting, being_preempted };

/// The scheduler's state and its rules (docs/policies/hived.md). Every change is on the journal of `forest`.
class Hived {
 public:
  explicit Hived(const HivedConfig& config);

  CellForest forest;

  /// Why a request is wrong whatever the state, or empty.
  std::string wrong(const HivedRequest& r) const;
  /// False: the VC's own cells (for opportunistic work the cluster's) would not hold it if all were free and healthy. Tasks are counted
  /// into nodes by size, and each size is asked alone; so a few mixtures that never fit pass.
  bool can_ever_fit(const HivedRequest& r) const;
  /// "2 cells of 4 GPUs and 3 of 1": the nodes and smaller roots that such a request may use.
  std::string largest(const HivedRequest& r) const;

  struct Answer {
    HivedWait why = HivedWait::none;  ///< not none: it waits
    std::vector<int32_t> victims;     ///< groups to evict first; empty and why none: it can be bound
    std::vector<uint32_t> cancelled;  ///< tags of weaker preemptors that lost their reservation
  };
  /// Decides a new gang. With victims it gets a reservation (`group` is then its number), unless `filtering`: that only tells what would
  /// happen.
  Answer decide(const HivedRequest& r, bool filtering, const std::vector<char>& suggested, int32_t& group);
  /// A gang with a reservation asks again: victims left, or none.
  Answer retry(int32_t group, bool filtering, const std::vector<char>& suggested);
  /// What decide() chose, by (size, pod, leaf).
  const std::vector<HivedLeaf>& placement() const { return placement_; }

  /// Binds what decide() chose, or what was recorded of a gang that ran before a restart. Returns its number.
  int32_t commit(const HivedRequest& r, const std::vector<HivedLeaf>& leaves);
  /// The reservation becomes the gang's: its victims are gone.
  void bind(int32_t group);
  /// All pods of an allocated gang have left.
  void release(int32_t group);
  /// A reservation is given up; victims that still run get their cells back.
  void cancel(int32_t group);
  /// A victim is not needed any more: it goes on as an ordinary gang. (The real scheduler goes on calling it being preempted.)
  void reprieve(int32_t group) { journal().set(groups_[size_t(group)].state, int32_t(GroupState::allocated)); }
  /// Leaves that a VC owns and does not use.
  int64_t unused(int32_t vc) const {
    int64_t n = 0;
    for (size_t t = 0; t < tree_view_.size(); t++)
      if (forest.trees()[t].vc == vc) n += tree_view_[t]->unused();
    return n;
  }
  void node_bad(int32_t node);
  void node_healthy(int32_t node);

  struct Group {
    int32_t state = 0, tag = 0, vc = 0, priority = 0, can_lazy = 0, lazied = 0, ignore_suggested = 1;
    int32_t leaves = 0, physical = -1, virtual_ = -1;  ///< virtual_ -1: opportunistic, or lazily preempted
    int32_t live_at = -1, next_free = -1;
  };
  const Group& group(int32_t g) const { return groups_[size_t(g)]; }
  std::span<const int32_t> physical(int32_t g) const {
    return {blocks_.at(groups_[size_t(g)].physical), size_t(groups_[size_t(g)].leaves)};
  }
  std::span<const int32_t> virtual_leaves(int32_t g) const {
    const Group& x = groups_[size_t(g)];
    return x.virtual_ < 0 ? std::span<const int32_t>() : std::span<const int32_t>(blocks_.at(x.virtual_), size_t(x.leaves));
  }
  /// Groups that lost their guarantee since this was last cleared (lazy preemption).
  std::vector<int32_t> lazied;

 private:
  struct Vertex {  // a virtual cell to bind, with those below it
    int32_t cell, first = -1, last = -1, next = -1;
  };
  struct Undone {
    int32_t group, virtual_;
  };
  HivedWait search(const HivedRequest& r, const std::vector<char>& suggested);
  HivedWait search_chain(const HivedRequest& r, int32_t chain, const std::vector<char>& suggested);
  HivedWait place(NodeView& view, const HivedRequest& r, const std::vector<char>& suggested, std::vector<int32_t>& leaves);
  void pick(std::vector<int32_t>& candidates, int32_t node, int32_t k, std::vector<int32_t>& out);
  bool map_all(int32_t chain, const std::vector<int32_t>& leaves, const std::vector<char>& suggested);
  bool map_rest(int32_t chain);
  bool buddy(int32_t v, int32_t level, Chain& chain);
  bool relaxed(int32_t v, Chain& chain, const std::vector<int32_t>& wanted);
  bool any_suggested(int32_t c) const;
  bool usable(int32_t c) const;
  template <class List> void push_usable(const List& list);
  template <class List> int32_t first_usable(const List& list) const;
  template <class List> bool map(size_t mark, const List& list);
  template <class List> bool map_these(std::span<const int32_t> vertices, const List& list);
  template <class List> bool map_these(std::initializer_list<int32_t> vertices, const List& list);
  bool match(const std::vector<int32_t>& vertices, const std::vector<int32_t>& candidates);
  bool suits(int32_t vertex, int32_t cell);
  int32_t vertex_for(int32_t cell);
  int32_t derive(int32_t x, int32_t root_level, const VirtualTree* tree, int32_t priority) const;
  void count_run(int32_t priority, int32_t root);
  void collect_victims(std::span<const int32_t> leaves, std::vector<int32_t>& victims, std::vector<int32_t>& preemptors) const;
  int32_t create(const HivedRequest& r, GroupState s, int32_t leaves);
  void destroy(int32_t g);
  int32_t lazy(int32_t g);
  void unlazy(int32_t g, int32_t virtual_block);
  void lazy_below(int32_t v, int32_t but);
  int32_t reserve(const HivedRequest& r);
  Journal& journal() { return forest.journal(); }
  const Cell& at(int32_t c) const { return forest[c]; }

  std::vector<std::string> leaf_types_;
  std::vector<std::vector<int32_t>> chains_of_type_;
  std::vector<NodeView*> chain_view_, tree_view_;
  std::deque<Group> groups_;
  int32_t group_free_ = -1, groups_used_ = 0;
  JournaledBlocks blocks_;
  // Of the decision at hand.
  std::vector<HivedLeaf> placement_;
  int32_t placed_root_ = -1;
  std::vector<int32_t> sizes_, nodes_, leaves_, candidates_, picked_, chosen_, virtual_, run_, run_virtual_, preemptors_;
  std::vector<Vertex> vertices_;
  std::vector<Undone> undone_;
  std::vector<int32_t> vertex_of_, visited_, tops_, parents_, wanted_;
  std::vector<int32_t> kids_, candidates_at_;  // stacks
  std::vector<std::vector<int32_t>> members_;
  std::vector<int32_t> mapped_;  // by virtual cell: the physical one it was mapped to
  const std::vector<char>* suggested_ = nullptr;
};

}  // namespace muster
