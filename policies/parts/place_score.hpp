// Placers that give each node that holds a task a score.
#pragma once
#include "muster/random.hpp"
#include "muster/winner_tree.hpp"
#include "parts/placer.hpp"

namespace muster {

inline constexpr PartParameter kScoringParameters[] = {
    kDevicesParameter,
    {"tie", "index", "which of equal nodes: index, the lowest; permutation, the first in a random order of all that the seed draws once"}};

/// Each task goes to the node with the highest score among those that hold it; of equal ones to the lowest index, or with tie `permutation` to
/// the first in a random order of all nodes that the seed draws once. A job whose tasks want one node is scored as one task of all they
/// want together (as its first task, when some share GPUs); jobs on wholly free nodes are placed as every placer does.
///
/// Scores are kept for each kind of request in a tournament over the nodes and worked out anew only for nodes that have changed, so that a
/// job costs what changed since the last one of its kind.
class ScoringPlacer : public Placer {
 public:
  explicit ScoringPlacer(const PolicyInput& in);

 protected:
  /// What a task wants. A share is of one GPU, with `gpus` 0.
  struct Task {
    int64_t cpu = 0;  // milli-CPUs
    uint32_t gpus = 0;
    int32_t milli = 0;
    Resources need = {};  // of the other kinds that some node limits
    int64_t total_milli() const { return int64_t{gpus} * kMilli + milli; }
  };
  /// What a node has left.
  struct State {
    NodeId node = 0;
    uint32_t installed = 0, whole = 0;  // GPUs; those that are wholly free
    uint32_t lowest = kNone;            // the lowest of them
    int64_t cpu = 0;                    // milli-CPUs; Cluster::kPlenty where they are not limited
    Resources left = {};                // CPUs, memory and named kinds; kGpu is not filled in
    int64_t milli = 0;                  // of all its GPUs
    std::vector<int32_t> parts;         // what is left of GPUs in part use, by number of the GPU
    std::vector<uint32_t> gpus;         // their numbers
  };
  /// Higher is better. Only for nodes that hold the task.
  virtual int64_t score(const State& s, const Task& t) = 0;
  /// The GPU of the node for a share. By default the one with the least left that holds it, a free one last, then lowest number.
  virtual uint32_t card(const State& s, const Task& t);
  /// Which of the nodes that hold a task. `keys`: by place in the order of nodes, WinnerTree::kOut for those that do not hold it.
  virtual uint32_t pick(const WinnerTree& keys, uint32_t /*nodes*/) { return keys.winner(); }
  const Topology& topology() const { return in_topology_; }
  const View& now() const { return *now_; }
  /// Milli-CPUs of the largest node that limits them, at least 1.
  Int128 most_cpus() const;
  /// Milli-GPUs of the largest node, at least 1000.
  int64_t most_milli() const { return std::max<int64_t>(most_gpus(), 1) * kMilli; }

  // Of a job that is looked at without its wishes, to learn why it waits, only whether it fits is of interest.
  Spot begin(const Want&) const override { return {0, 0}; }
  Spot seek(const Want& w, Spot from) const override { return lowest(w, from.node); }
  uint64_t rank(Spot s) const override { return s.node; }

 private:
  struct Line {  // a kind of request
    Task task;
    WinnerTree keys;
    uint64_t from = 0;            // change number up to which the keys are right
    std::vector<NodeId> touched;  // nodes whose keys were changed while a job was placed
    bool built = false;
  };
  bool chooses() const override { return true; }
  bool choose(const View& now, JobId j, ShapeId id, const Shape& s, const Ask& a, bool most, bool one_node) override;
  bool choose_group(Line& l, const Want& w, const TaskGroup& g, uint32_t group, uint32_t tasks, bool each);
  uint32_t slice_for(const Used& u, uint32_t milli) override;
  Line& line(ShapeId id, uint32_t group, bool most, const Task& t, const Want& w);
  void look(Line& l, const Want& w, NodeId n);
  const State& state(NodeId n);
  const State& state(const Used& u);
  NodeId first(Line& l);

  const Topology& in_topology_;
  const View* now_ = nullptr;
  std::vector<uint32_t> place_;  // of each node in the order of ties
  std::vector<NodeId> node_at_;
  std::vector<uint32_t> inner_;  // places of the nodes of one domain that hold a task
  /// One for each cluster that is asked about: the run's, and those of a policy's own, which live as long as it.
  struct Side {
    const Cluster* cluster;
    const NodeIndex* index;
    std::vector<std::vector<std::pair<uint32_t, std::unique_ptr<Line>>>> lines;  // by shape: group and whether most
  };
  std::vector<Side> sides_;
  State state_;
  Task task_;  // being placed
  std::vector<NodeId> changed_;
  std::vector<uint32_t> seen_;
  uint32_t round_ = 0;
};

}  // namespace muster
