// Waiting jobs in order.
#pragma once
#include <algorithm>

#include "muster/id_set.hpp"
#include "muster/winner_tree.hpp"

namespace muster {

/// Jobs by (key, id). A queue without keys (order fifo) is a bitmap, any other a winner tree: O(log n) with a large base either way.
class JobQueue {
 public:
  JobQueue(bool keyed, size_t jobs) : members_(std::max<size_t>(jobs, 1)), keys_(keyed ? std::max<size_t>(jobs, 1) : 1), keyed_(keyed) {}
  void insert(JobId j, int64_t key) {
    members_.insert(j);
    if (keyed_) keys_.set(j, key);
  }
  void erase(JobId j) {
    members_.erase(j);
    if (keyed_) keys_.set(j, WinnerTree::kOut);
  }
  bool contains(JobId j) const { return members_.contains(j); }
  /// Smallest key, then smallest id; kNone when empty.
  JobId first() const {
    if (!keyed_) return members_.first();
    return keys_.empty() ? kNone : keys_.winner();
  }

 private:
  IdSet members_;
  WinnerTree keys_;
  bool keyed_;
};

}  // namespace muster
