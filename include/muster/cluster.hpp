// Who is to hold what, what drains, what is bad; and an index over nodes for placers.
#pragma once
#include <memory>
#include <vector>

#include "muster/fits.hpp"
#include "muster/id_set.hpp"
#include "muster/job.hpp"
#include "muster/level_index.hpp"
#include "muster/share.hpp"
#include "muster/topology.hpp"

namespace muster {

/// A GPU cut into shares. MIG: bit masks over 8 memory slices. MPS: per cent and MiB; time slices: thousandths and MiB.
struct SharedGpu {
  bool blocks = false;                      ///< it has taken its bit in the node's mask
  Share share = Share::whole;
  Share drains = Share::whole;              ///< kind of what drains, while something does
  uint8_t geometry = 0;                     ///< bit i: an instance starts at slice i; 0: any legal start
  uint8_t used = 0, draining = 0;           ///< MIG slices wanted; still held by drains
  int32_t size = 0, size_draining = 0;      ///< per cent or thousandths
  int64_t mib = 0, mib_draining = 0;
  uint16_t clients = 0, clients_draining = 0;
  std::vector<JobId> jobs;                  ///< who is to hold shares of it: whom a change or a fault concerns
};

/// Nodes by the number of GPUs that can be used at once. Brought up to date when asked, so edits that are undone cost nothing.
class NodeIndex {
 public:
  NodeIndex(const Topology& t, const class Cluster& c, NodeId begin, NodeId end);
  /// The nodes it speaks of; others are not in it.
  NodeId begin() const { return begin_; }
  NodeId end() const { return end_; }
  /// GPUs of its nodes that can be used at once.
  int64_t free_now_gpus() const { return free_; }
  /// Milli-GPUs of its nodes that can be used at once: of free GPUs, and of those cut into time slices.
  int64_t free_now_milli() const { return free_ * kMilli + slices_; }
  /// Largest count that some node has.
  unsigned most() const { return unsigned(counts_.last() == kNone ? 0 : counts_.last()); }
  /// Smallest count >= g (at least one node has it), or kNone.
  uint32_t count_from(uint32_t g) const { return counts_.next(g); }
  /// Nodes with exactly `count` GPUs free now.
  const IdSet& with(unsigned count) const { return by_count_[count]; }
  /// Nodes all of whose GPUs are free now, at least one.
  const IdSet& whole() const { return whole_; }
  /// GPUs on nodes of whole().
  int64_t whole_gpus() const { return whole_gpus_; }
  /// Lowest node with exactly `count` GPUs free now and room for `need` of every other kind; nodes below `from` left out. kNone: none.
  /// need[kGpu], if not 0, is a time slice that one of its GPUs must hold.
  NodeId first_with_room(unsigned count, const Resources& need, NodeId from = 0) const;
  /// The same nodes and GPUs by level.
  const LevelIndex& levels() const;

 private:
  friend class Cluster;
  void update(NodeId n);
  struct Line {  // 8 nodes or 8 lines of the level below
    uint64_t counts[8] = {};            // bit min(count, 63)
    int64_t free[8][kMaxKinds] = {};    // most of each kind; kGpu: the longest time slice that a GPU holds
  };
  void refresh(NodeId n) const;
  bool may(const Line& l, unsigned i, unsigned count, const Resources& need) const;
  NodeId search(size_t level, uint32_t line, unsigned count, const Resources& need, NodeId from) const;
  const Topology& topology_;
  const Cluster& cluster_;
  IdSet counts_;
  std::vector<IdSet> by_count_;
  std::vector<uint32_t> count_of_;
  IdSet whole_;
  int64_t whole_gpus_ = 0, free_ = 0;
  int64_t slices_ = 0;              // milli-GPUs left on GPUs cut into time slices
  std::vector<int64_t> slices_of_;  // by node; empty until there is such a GPU
  NodeId begin_, end_;
  mutable std::vector<std::vector<Line>> room_;  // built when first asked
  mutable std::unique_ptr<LevelIndex> levels_;   // likewise
};

/// Wanted holdings, what still drains, what is bad. Policies read it through Plan::cluster(); only the plan and the engine edit it.
class Cluster {
 public:
  explicit Cluster(const Topology& t);
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;
  const Topology& topology() const { return topology_; }

  unsigned words(NodeId n) const { return word_first_[n + 1] - word_first_[n]; }
  /// Installed GPUs of word `w` of node `n`.
  uint64_t all(NodeId n, unsigned w = 0) const {
    const unsigned left = topology_.gpus_of(n) - 64 * w;
    return left >= 64 ? ~uint64_t{0} : (uint64_t{1} << left) - 1;
  }
  /// GPUs that nobody is to hold and that are neither bad nor cordoned; some may still drain.
  uint64_t free(NodeId n, unsigned w = 0) const { return plain(n) ? all(n, w) & ~taken(n, w) : usable(n) ? all(n, w) & ~(taken(n, w) | bad(n, w)) : 0; }
  /// Those of them that can be used at once.
  uint64_t free_now(NodeId n, unsigned w = 0) const { return plain(n) ? all(n, w) & ~taken(n, w) : free(n, w) & ~draining(n, w); }
  uint64_t draining(NodeId n, unsigned w = 0) const { return flags_[n] & kRare ? rare(n, w).draining | rare(n, w).share_draining : 0; }
  uint64_t bad(NodeId n, unsigned w = 0) const { return flags_[n] & kRare ? rare(n, w).bad : 0; }
  unsigned free_now_count(NodeId n) const {
    unsigned c = 0;
    for (unsigned w = 0; w < words(n); w++) c += unsigned(std::popcount(free_now(n, w)));
    return c;
  }
  /// GPUs cut into time slices that take more of them at once.
  uint64_t sliced(NodeId n, unsigned w = 0) const { return sliced_.empty() || !usable(n) ? 0 : sliced_[word_first_[n] + w] & ~bad(n, w); }
  /// Thousandths of GPU `gpu` of node `n` that time slices can take at once: all of a free GPU, none of one that is held otherwise.
  int32_t slice_left(NodeId n, unsigned gpu) const;
  /// The most that one GPU of the node has left for a time slice.
  int32_t longest_slice(NodeId n) const;
  bool any_sliced() const { return !sliced_.empty(); }
  bool cordoned(NodeId n) const { return flags_[n] & 1; }  ///< takes nobody new; who is there may stay
  bool removed(NodeId n) const { return flags_[n] & 2; }   ///< not installed
  bool down(NodeId n) const { return flags_[n] & 4; }      ///< the whole node, with its CPUs
  /// Takes work at all: installed, not cordoned, not down.
  bool usable(NodeId n) const { return !(flags_[n] & kUnusable); }
  int64_t free_gpus() const { return free_gpus_; }            ///< sum of free() over all nodes
  int64_t free_now_gpus() const { return free_gpus_ - free_draining_; }
  int64_t installed() const { return installed_; }            ///< GPUs of nodes that are not removed
  /// The job of that number of anti-affinity (Shape::apart) that is to hold something on node `n`, or kNone.
  JobId tagged(uint32_t apart, NodeId n) const {
    if (apart >= tags_.size() || tags_[apart].empty() || !tags_[apart][n].pieces) return kNone;
    return tags_[apart][n].job;
  }
  JobId holder(GpuId g) const { return holder_[g]; }          ///< of the whole GPU, or kNone
  const SharedGpu* shared(GpuId g) const { return slot_.empty() || slot_[g] == kNone ? nullptr : &shares_[slot_[g]]; }
  /// What node `n` has left of kind `k` besides GPUs: what nobody is to hold, less what drains. No limit: a very large number.
  int64_t free_amount(NodeId n, size_t k) const { return others_.empty() ? kPlenty : others_[n].free[k] - others_[n].draining[k]; }
  /// Whether `tasks` tasks of `g` find their CPU, memory and named resources, GPU type and GPU memory on node `n` now. GPUs are not counted.
  bool room(NodeId n, const TaskGroup& g, unsigned tasks) const;
  /// Whether a node's kind can serve the group at all, empty: see suits() of fits.hpp.
  bool suits(NodeId n, const TaskGroup& g) const { return muster::suits(topology_.kind(n), g); }
  /// Over all nodes, or over the part of the cluster with this number (Plan::divide).
  const NodeIndex& index(uint32_t part = kNone) const {
    for (NodeId n : dirty_) {
      stale_[n] = 0;
      if (follows_) note_change(n);
      index_->update(n);
      for (const auto& i : parts_)
        if (n >= i->begin() && n < i->end()) i->update(n);
    }
    dirty_.clear();
    return part == kNone ? *index_ : *parts_[part];
  }
  /// For who keeps something by node: the nodes that changed since change number `from`, each as often as index() was asked in between,
  /// in `nodes`; false when that is too long ago to be known, and all may have changed. `from` becomes the number to ask with next.
  bool changed_since(uint64_t& from, std::vector<NodeId>& nodes) const;
  static constexpr int64_t kPlenty = std::numeric_limits<int64_t>::max() / 4;

  // ---- the plan's and the engine's
  /// Job `j` is to hold `p`. Throws Conflict and changes nothing when a device is held, bad or cordoned, or something is over.
  /// `stays`: it held these devices before, so a cordon does not matter.
  void take(JobId j, const Shape& s, const Piece& p, bool stays = false);
  void give(JobId j, const Shape& s, const Piece& p);
  void drain(const Shape& s, const Piece& p, bool on);
  /// Whether the piece's devices still drain for somebody.
  bool waits(const Shape& s, const Piece& p) const;
  void add_part(NodeId begin, NodeId end);
  void set_bad(NodeId n, unsigned w, uint64_t mask);
  void set_cordoned(NodeId n, bool on) { set_flag(n, 1, on); }
  void set_down(NodeId n, bool on) { set_flag(n, 4, on); }
  void set_removed(NodeId n, bool on);
  void set_geometry(GpuId g, uint8_t starts);
  /// Makes node `n` what it is in `from`, a cluster of the same topology; without `held` as if nobody held or drained anything there.
  void copy(NodeId n, const Cluster& from, bool held);
  GpuId gpu_of(const Piece& p) const { return topology_.first_gpu(p.node) + p.gpu(); }

 private:
  static constexpr uint8_t kUnusable = 7, kRare = 8;  // some of its words have something in rare_
  struct Rare {
    uint64_t draining = 0, share_draining = 0, bad = 0;
  };
  struct Word : Rare {
    uint64_t taken = 0;
  };
  struct Others {
    int64_t free[kMaxKinds] = {}, draining[kMaxKinds] = {};
  };
  void set_flags(NodeId n, uint8_t flags);
  void set_flag(NodeId n, uint8_t flag, bool on) { set_flags(n, uint8_t(on ? flags_[n] | flag : flags_[n] & ~flag)); }
  Others empty_node(NodeId n) const;
  bool plain(NodeId n) const { return flags_[n] == 0; }
  uint64_t taken(NodeId n, unsigned w) const { return taken_[word_first_[n] + w]; }
  const Rare& rare(NodeId n, unsigned w) const { return rare_[word_first_[n] + w]; }
  Word at(NodeId n, unsigned w) const { return {rare(n, w), taken(n, w)}; }
  uint32_t slot(GpuId g);
  void take_share(JobId j, const Piece& p);
  void give_share(JobId j, const Piece& p);
  void settle_share(const Piece& p, SharedGpu& s);
  void touch(NodeId n) {
    if (!stale_[n]) stale_[n] = 1, dirty_.push_back(n);
  }
  void note_change(NodeId n) const;
  template <class F>
  void edit(NodeId n, unsigned w, F f);  // f changes masks of a word; the free counts follow
  const Topology& topology_;
  std::vector<uint32_t> word_first_;
  std::vector<uint64_t> taken_;  // by word; alone, so that what most nodes are is close together
  std::vector<Rare> rare_;       // by word
  std::vector<uint8_t> flags_;
  std::vector<JobId> holder_;
  std::vector<Others> others_;  // empty when no node limits anything but GPUs
  std::vector<uint32_t> slot_;
  std::vector<SharedGpu> shares_;
  struct Tag {
    JobId job = kNone;
    uint32_t pieces = 0;
  };
  std::vector<std::vector<Tag>> tags_;  // by Shape::apart, then node; empty until it is used
  std::vector<uint64_t> sliced_;  // by word; empty until a GPU is cut into time slices
  int64_t free_gpus_, free_draining_ = 0, installed_;
  mutable std::vector<uint8_t> stale_;
  mutable std::vector<NodeId> dirty_;
  mutable std::vector<NodeId> changes_;  // the latest, once somebody has asked
  mutable uint64_t changes_before_ = 1;  // how many came before them
  mutable bool follows_ = false;
  std::unique_ptr<NodeIndex> index_;
  std::vector<std::unique_ptr<NodeIndex>> parts_;
};

/// Thrown by Cluster::take; the plan turns it into a ContractError with names.
struct Conflict {
  NodeId node;
  uint32_t gpu;  ///< in the node, or kNone
  JobId other;   ///< who holds it, or kNone
  const char* why;
};

}  // namespace muster
