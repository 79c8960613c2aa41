// Where a job's tasks go: the machine that all placers share.
#pragma once
#include <memory>

#include "parts/devices.hpp"

namespace muster {

/// Finds devices that are free at once for all tasks of a job. The rules, whatever the placer's order of nodes:
/// - GPUs, CPUs, memory, named resources, wishes for a kind of node and anti-affinity are all respected. Which of a node's free GPUs are
///   taken is said by the slot `devices`.
/// - NUMA alignment: each task's GPUs as its wish says, where the topology has NUMA domains below the node.
/// - A required level: all tasks in one domain of it. A preferred level: that level is tried first, then each above it, then no level. Domains
///   are tried by their free GPUs, fewest first (spread: most first), then lowest index. Below the node: the domain with the fewest free GPUs
///   that hold the job, then the node with the fewest, then the lowest.
/// - A share of a GPU goes to the GPU of its node that has the least left of those that hold it, a free one last; then lowest number.
/// - Nodes::one: all tasks on the first node in order that holds them. Nodes::any: group by group, task by task, each on the node that is
///   then first in order. Nodes::each: the same, but no node is used twice. Nodes::whole: wholly free nodes, lowest index first whatever
///   the placer, the last one filled in part.
/// - Unequal tasks that do not fit in that order are searched for, larger ones first: exactly up to 8 sizes or 32 tasks (and 300,000
///   steps), else for 100,000 steps. A job that waits only because that did not decide it has the reason search_limit.
/// - A job that can shrink gets its maximum, or if that does not fit its minimum.
/// - Tasks that want nothing at all go to the lowest node that takes work.
/// Cost follows the nodes used and the number of different free counts, never the number of nodes.
class Placer {
 public:
  explicit Placer(const Topology& t);
  virtual ~Placer() = default;
  Placer(const Placer&) = delete;
  Placer& operator=(const Placer&) = delete;

  /// What is left out of account, to learn why a job waits.
  struct Relax {
    uint8_t wishes = 0;  ///< for a kind of node: WishBits
    uint8_t kinds = 0;   ///< bit k: amounts of kind k
    bool level = false;  ///< the required level
    bool apart = false;  ///< anti-affinity
    bool numa = false;   ///< NUMA alignment
    bool none() const { return !wishes && !kinds && !level && !apart && !numa; }
  };
  static constexpr uint8_t kAllKinds = 0xff;

  /// A placement of `j` on what is free now, or nothing. Good until the next call.
  Pieces find(const View& now, const Plan& plan, JobId j) { return find(now, plan, j, Relax{}); }
  Pieces find(const View& now, const Plan& plan, JobId j, Relax relax) { return find(now, plan.cluster(), plan.index(), j, relax); }
  /// The same on a cluster of the policy's own: as it will be, or as it might be.
  Pieces find(const View& now, const Cluster& cluster, const NodeIndex& index, JobId j, Relax relax);
  /// Why find() had nothing: no_gpus, fragmented, or the first of level, anti-affinity, type, driver, label, cpu, memory, other resources
  /// that alone prevents it.
  Reason why(const View& now, const Plan& plan, JobId j);
  /// False when jobs of shape `s`, which fitted nowhere before some nodes gave devices back, fit nowhere now either: only those nodes
  /// are looked at. True when that cannot be told.
  bool may_fit(const View& now, const Plan& plan, ShapeId s, std::span<const NodeId> gave_back, Relax relax);
  /// Which GPUs inside a node, instead of the placer's own choice.
  void set_devices(Devices how) { devices_.set(how); }

 protected:
  /// A node and how many of its GPUs are free. kNone: no node.
  struct Spot {
    uint32_t count = 0;
    NodeId node = kNone;
  };
  /// What one task (or with Nodes::one all of them) wants of a node.
  struct Want {
    uint32_t gpus = 0;                    ///< whole ones
    bool nothing = true;                  ///< not even one that no node limits
    bool amounts = false;                 ///< something besides whole GPUs that some node limits
    Resources need;                       ///< of those kinds; kGpu: the largest share of one GPU
    std::vector<const TaskGroup*> shares; ///< with Nodes::one: all groups, when shares of them have to lie side by side
    std::vector<const TaskGroup*> typed;  ///< groups that wish for a kind of node
    struct Aligned {
      uint32_t gpus, tasks;
    };
    std::vector<Aligned> aligned;         ///< tasks with GPUs, group by group, when some of several GPUs wish for NUMA alignment
    uint8_t wishes = kAllWishes;          ///< those of their wishes that count
  };
  /// First spot at or after `from` in the placer's order that the job does not use yet and that holds `w`.
  virtual Spot seek(const Want& w, Spot from) const = 0;
  /// Where the order begins.
  virtual Spot begin(const Want& w) const = 0;
  /// What follows `s` in the order, used or not.
  virtual Spot after(Spot s) const { return {s.count, s.node + 1}; }
  /// Place of a spot in the order: smaller first.
  virtual uint64_t rank(Spot s) const = 0;
  /// Whether the first node in order stays first while it fills up.
  virtual bool stays() const { return true; }
  /// The levels that a job is held to and tries first, from those it wishes for; kNone: none.
  virtual uint32_t required_level(uint32_t wish, uint32_t /*gpus*/) const { return wish; }
  virtual uint32_t preferred_level(uint32_t wish) const { return wish; }
  /// Whether, of several domains that could hold a job, the one with the most free GPUs comes first.
  virtual bool emptiest_domain_first() const { return false; }
  /// Called before a job is placed (task 0) and before each further task; true: the order is another one now.
  virtual bool draw(const View&, JobId, unsigned /*task*/) { return false; }

  const Topology& topology() const { return topology_; }
  const Cluster& cluster() const { return *cluster_; }
  const NodeIndex& index() const { return *index_; }
  uint32_t nodes() const { return nodes_; }
  uint32_t most_gpus() const { return most_gpus_; }
  /// Lowest node >= `from` with exactly `count` GPUs free that holds `w` and is not used yet, or kNone.
  NodeId next(const Want& w, uint32_t count, NodeId from) const;
  /// Lowest node >= `from` whatever its count, or kNone.
  Spot lowest(const Want& w, NodeId from) const;

  /// A shape's wants, drawn up when it is first met.
  struct Ask {
    bool built = false, simple = false;  // simple: one group, one task, one node, GPUs only
    bool limited = false, typed = false;
    uint32_t required = kNone, preferred = kNone;  // levels; required may be one that the topology does not have
    std::vector<TaskGroup> kinds;  // the groups' wishes for a kind of node, and nothing else of them
    uint32_t gpus = 0, least_gpus = 0;
    int64_t least_milli = 0;
    std::vector<Want> groups;  // one task of each
    Want all, least;           // all tasks together, at their maximum and minimum
  };
  struct Used {  // a node that has some of the job's tasks already
    NodeId node = 0;
    uint32_t gpus = 0, slots = 0;  // free GPUs; tasks that one piece can still count
    uint32_t slices = kNone;       // first of its GPUs that are cut
    size_t mask = 0;               // into masks_, while must_align_: its free GPUs
    Resources left;
  };
  struct Slice {  // a GPU cut into shares, before the job or by it
    uint32_t gpu, next;
    int32_t left;
  };
  struct Chosen {
    NodeId node;
    uint32_t group, tasks, gpus;
    uint32_t gpu = kNone;  // of a share
    uint32_t milli = 0;
  };
  static constexpr uint32_t kTasksOfPiece = std::numeric_limits<uint16_t>::max();
  // ---- for placers that choose in a way of their own
  /// Whether choose() places jobs whose tasks choose nodes, and those that want one node.
  virtual bool chooses() const { return false; }
  /// Places all of a job on what is free now: put_all() on one node, or take() on nodes that use_once() gave. False: it does not fit.
  /// Only nodes from lo() to hi() may be used, and with `one_node` one of them.
  virtual bool choose(const View&, JobId, ShapeId, const Shape&, const Ask&, bool /*most*/, bool /*one_node*/) { return false; }
  NodeId lo() const { return lo_; }
  NodeId hi() const { return hi_; }
  /// Whether some nodes may not be used, as the job is tried in one domain.
  bool restricted() const { return lo_ != index_->begin() || hi_ != index_->end(); }
  /// Which cut GPU of a node that the job uses a share goes to: its place among slices, or kNone for the lowest free GPU.
  virtual uint32_t slice_for(const Used& u, uint32_t milli);
  bool holds(NodeId n, const Want& w) const;
  bool suits(NodeId n, const Want& w) const;
  uint64_t fits(const Used& u, const Want& w) const;
  uint32_t use_once(NodeId n) { return stamp_[n] == call_ ? slot_[n] : use(n, cluster_->free_now_count(n)); }
  void take(uint32_t u, uint32_t group, const TaskGroup& g, const Want& w, uint32_t tasks);
  bool put_all(NodeId n, const Shape& s, bool most, bool shares);
  bool place_group(const View& now, JobId j, const TaskGroup& g, uint32_t group, const Want& w, uint32_t tasks, bool each);
  Used& used(uint32_t u) { return used_[u]; }
  uint32_t used_count() const { return uint32_t(used_.size()); }
  const Slice& slice(uint32_t i) const { return slices_[i]; }
  uint32_t free_gpu(const Used& u) const;

 private:
  struct Waiting {  // a used node with room for more
    uint64_t rank;
    uint32_t used;
    bool operator<(const Waiting& o) const { return rank > o.rank; }
  };
  const Ask& ask(const View& now, ShapeId s);
  /// What is to be placed.
  struct Request {
    const View& now;
    JobId job;
    const Shape& shape;
    const Ask& ask;
    bool most;  // with its maximum of tasks
    Relax relax;
    const Want& sum() const { return most ? ask.all : ask.least; }
  };
  static uint64_t tasks_of(const Request& t);
  bool place(const Request& t);
  bool place_by_level(const Request& t);
  bool place_at(const Request& t, size_t level);
  bool place_below(const Request& t, size_t level);
  bool place_within(const Request& t, bool one_node);
  bool place_one(const Request& t, NodeId n);
  bool search(const Request& t);
  bool place_whole(const Shape& s, const Want& w);
  Want relaxed(const Want& w, Relax r) const;
  NodeId next_suited(NodeId n, const Want& w) const;
  bool broken(NodeId n) const;
  bool align_all(NodeId n, const Want& w, size_t level, uint32_t domain) const;
  uint32_t align(NodeId n, size_t level, uint32_t domain, std::span<uint64_t> free, uint32_t gpus, uint32_t tasks) const;
  uint32_t best_gpu(NodeId n, uint32_t milli) const;
  uint32_t use(NodeId n, uint32_t free);
  bool packs(NodeId n, const Want& w, bool most) const;
  uint32_t take_share(Used& u, uint32_t milli);
  void choose_shares(Used& u, uint32_t group, uint32_t milli, uint32_t tasks) {
    for (; tasks; tasks--) chosen_.push_back({u.node, group, 1, 0, take_share(u, milli), milli});
  }
  void emit();

  uint32_t nodes_, most_gpus_;
  const Topology& topology_;
  mutable DevicePicker devices_;
  NodeId lo_ = 0, hi_ = 0;        // nodes that may be used
  size_t inside_level_ = 0;       // GPUs are taken inside this domain alone, unless it is kNone
  uint32_t inside_ = kNone;
  uint32_t apart_ = 0;            // anti-affinity of the job at hand
  Numa numa_ = Numa::none;        // alignment of the job at hand
  bool must_align_ = false;       // and nodes that do not offer it are no choice
  bool limit_ = false;            // a search for unequal tasks came to its limit
  std::vector<std::pair<int64_t, uint32_t>> domains_;
  std::vector<uint64_t> picked_;
  const Cluster* cluster_ = nullptr;
  const NodeIndex* index_ = nullptr;
  std::vector<NodeId> runs_;     // first nodes of runs of one kind
  std::vector<Ask> asks_;        // by shape
  std::vector<uint32_t> stamp_;  // by node: the last job that uses it, as a number of calls
  std::vector<uint32_t> slot_;   // by node: its place in used_, while its stamp is good
  uint32_t call_ = 0;
  std::vector<Used> used_;
  std::vector<Slice> slices_;  // of used nodes
  mutable std::vector<int32_t> lefts_;
  bool most_ = true;           // the job is placed with its maximum of tasks
  std::vector<Waiting> heap_;
  std::vector<Chosen> chosen_;
  Want relaxed_;
  std::vector<uint64_t> mask_, masks_;
  mutable std::vector<uint64_t> free_, one_;
  std::vector<Piece> out_;
};

/// Names of the placers.
std::span<const PartInfo> placers();
/// The placer called `name`.
std::unique_ptr<Placer> make_placer(std::string_view name, const PolicyInput& in);
/// The same without parameters, for a trace without jobs.
std::unique_ptr<Placer> make_placer(std::string_view name, const Topology& t, uint64_t seed);

}  // namespace muster
