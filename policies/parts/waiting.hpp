// Waiting jobs in submit order, by what they want and for how long.
#pragma once
#include "muster/id_set.hpp"
#include "muster/policy.hpp"
#include "muster/winner_tree.hpp"
#include "parts/large_pages.hpp"

namespace muster {

/// Jobs that want one node each, in classes of equal wants. Answers which is the first in submit order that a node with so much free can
/// hold, if need be among those that run no longer than so long. Cost: logarithmic in the queue, and a few steps down a tree that halves
/// the classes along the kinds in which they differ most.
class Waiting {
 public:
  Waiting(const Topology& t, const Workload& w);

  bool contains(JobId j) const { return members_.contains(j); }
  JobId first() const { return members_.first(); }
  /// `d`: how long it is believed to run.
  void insert(JobId j, Duration d) {
    members_.insert(j);
    rows_[j].believed = d;
    show(j);
  }
  void erase(JobId j) {
    members_.erase(j);
    hide(j);
  }
  /// The job is a member still, but no answer to first_on().
  void hide(JobId j) { set(j, WinnerTree::kOut); }
  void show(JobId j) { set(j, std::min(rows_[j].believed, WinnerTree::kOut - 1)); }
  /// What it was inserted with last, whether it is a member still or not.
  Duration& believed(JobId j) { return rows_[j].believed; }
  Duration believed(JobId j) const { return rows_[j].believed; }

  /// First job, not hidden, of all classes that `free` of node `n` holds, that runs at most `d`; kNone when there is none.
  JobId first_on(const Cluster& cluster, NodeId n, const Resources& free, Duration d) const {
    JobId best = kNone;
    if (!nodes_.empty()) search(1, cluster, n, free, std::min(d, WinnerTree::kOut - 1), best);
    return best;
  }
  uint32_t class_of(JobId j) const { return rows_[j].of; }
  size_t classes() const { return classes_.size(); }
  /// What a job of class `c` wants of its node: milli-GPUs of whole GPUs, and kinds that some node limits.
  const Resources& want(uint32_t c) const { return classes_[c].want; }
  const std::vector<TaskGroup>& kinds(uint32_t c) const { return classes_[c].kinds; }
  bool suits(const Cluster& cluster, NodeId n, uint32_t c) const {
    for (const TaskGroup& g : classes_[c].kinds)
      if (!cluster.suits(n, g)) return false;
    return true;
  }
  /// Of the jobs of the class that are not hidden: the first, kNone when there is none, and the shortest run time.
  JobId first_of(uint32_t c) const { return classes_[c].first; }
  Duration shortest(uint32_t c) const { return classes_[c].runs.best(); }

 private:
  struct Row {             // of a job
    uint32_t of, place;    // its class, and where it stands there
    Duration believed = 0;
  };
  struct Class {
    Resources want;
    std::vector<TaskGroup> kinds;  // wishes for a kind of node, and nothing else
    std::vector<JobId> jobs;       // all of the run
    WinnerTree runs;               // by place in jobs
    JobId first = kNone;
    uint32_t leaf = 0;
  };
  struct Node {  // of a binary tree over classes
    Resources least;
    JobId first = kNone;
    Duration shortest = WinnerTree::kOut;
  };
  void set(JobId j, Duration d);
  void arrange(std::span<uint32_t> classes, size_t node);
  void search(size_t node, const Cluster& cluster, NodeId n, const Resources& free, Duration d, JobId& best) const;

  IdSet members_;
  std::vector<Row, OnLargePages<Row>> rows_;  // by job
  std::vector<Class> classes_;
  std::vector<uint32_t> leaves_;  // classes, from left to right
  std::vector<Node> nodes_;       // children of i: 2i and 2i + 1
};

}  // namespace muster
