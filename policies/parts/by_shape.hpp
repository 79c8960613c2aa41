// Jobs that wait in many queues at once.
#pragma once
#include <map>
#include <set>
#include <vector>

#include "muster/policy.hpp"

namespace muster {

/// A queue's waiting jobs by shape, in order of priority (bigger first), then submission. Jobs of one shape fit or fail together, so that a
/// pass looks at the first of each shape. All queues of a policy share the table of who waits as what.
class ByShape {
 public:
  struct Key {
    int32_t priority;
    JobId job;  ///< ids are in order of submission
    bool operator<(const Key& o) const { return priority != o.priority ? priority > o.priority : job < o.job; }
  };
  /// What a job waits as.
  class Table {
   public:
    explicit Table(size_t jobs) : priority_(jobs), waits_(jobs) {}
    bool contains(JobId j) const { return waits_[j]; }

   private:
    friend class ByShape;
    std::vector<int32_t> priority_;
    std::vector<uint8_t> waits_;
  };

  void insert(Table& t, JobId j, ShapeId s, int32_t priority) {
    by_shape_[s].insert({priority, j});
    t.priority_[j] = priority, t.waits_[j] = 1;
    size_++;
  }
  void erase(Table& t, JobId j, ShapeId s) {
    const auto at = by_shape_.find(s);
    at->second.erase({t.priority_[j], j});
    if (at->second.empty()) by_shape_.erase(at);
    t.waits_[j] = 0;
    size_--;
  }
  size_t size() const { return size_; }
  const std::map<ShapeId, std::set<Key>>& by_shape() const { return by_shape_; }
  /// The first job in order among shapes that `open` admits, or kNone.
  template <class F> JobId first(F open) const {
    const Key* best = nullptr;
    for (const auto& [shape, jobs] : by_shape_)
      if ((!best || *jobs.begin() < *best) && open(shape)) best = &*jobs.begin();
    return best ? best->job : kNone;
  }

 private:
  std::map<ShapeId, std::set<Key>> by_shape_;
  size_t size_ = 0;
};

}  // namespace muster
