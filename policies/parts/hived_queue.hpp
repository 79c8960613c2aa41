// Gangs that wait for HiveD, by what they ask for.
#pragma once
#include <deque>
#include <map>

#include "muster/winner_tree.hpp"
#include "parts/hived.hpp"

namespace muster {

/// Waiting jobs in order, grouped by equal requests: what one of a group was refused, the others would be refused too, until
/// something changes for its virtual cluster. Opportunistic requests are in one bucket, whatever their virtual cluster.
class HivedQueue {
 public:
  struct Class {
    HivedRequest request;
    size_t bucket = 0;
    bool failed = false;
    HivedWait why = HivedWait::none;
    std::vector<std::pair<int64_t, JobId>> heap;  // smallest first; stale entries are passed over
    size_t waiting = 0;
  };
  HivedQueue(size_t jobs, size_t vcs) : key_(jobs, WinnerTree::kOut), class_of_(jobs, kNone), buckets_(vcs + 1) {}

  /// The bucket of opportunistic requests.
  size_t opportunistic() const { return buckets_.size() - 1; }
  /// The class of requests that come in by one door, of one priority and shape, made by `make` when it is met first. A request without a
  /// virtual cluster (`vc` -1) is never inserted.
  template <class F> uint32_t class_for(uint32_t door, int32_t vc, int32_t priority, ShapeId shape, F make) {
    const auto [it, fresh] = ids_.try_emplace({door, priority, shape}, uint32_t(classes_.size()));
    if (fresh) {
      Class& c = classes_.emplace_back();
      c.request = make();
      c.bucket = priority < 0 || vc < 0 ? opportunistic() : size_t(vc);
      buckets_[c.bucket].classes.push_back(it->second);
    }
    return it->second;
  }
  Class& operator[](uint32_t c) { return classes_[c]; }
  uint32_t class_of(JobId j) const { return class_of_[j]; }
  bool contains(JobId j) const { return key_[j] != WinnerTree::kOut; }

  void insert(JobId j, uint32_t c, int64_t key);
  void erase(JobId j);
  /// Job `j` has another key now.
  void rekey(JobId j, int64_t key) {
    const uint32_t c = class_of_[j];
    erase(j);
    insert(j, c, key);
  }
  /// Something was freed for the bucket: what failed there may be tried again.
  void freed(size_t bucket);
  /// Health changed, or a cell came back to the cluster: so may what failed for want of healthy or physical cells, everywhere.
  void freed_cells();
  /// The next job to try and its class; kNone: none is left in this pass.
  JobId next(uint32_t& c);
  /// The class was refused.
  void fail(uint32_t c, HivedWait why);
  /// Nobody of this bucket behind job `j`, which was refused, is tried until something is freed for the bucket or `j` is gone.
  void block(size_t bucket, JobId j) { buckets_[bucket].blocked = j; }

 private:
  struct Bucket {
    std::vector<uint32_t> classes;
    JobId blocked = kNone;
    bool dirty = false;
  };
  struct Head {
    int64_t key;
    JobId job;
    uint32_t cls;
    bool operator<(const Head& o) const { return key != o.key ? key > o.key : job > o.job; }
  };
  JobId head(Class& c);
  bool behind(const Bucket& b, int64_t key, JobId j) const {
    return b.blocked != kNone && (key != key_[b.blocked] ? key > key_[b.blocked] : j > b.blocked);
  }
  void offer(uint32_t c);
  void touch(size_t bucket) {
    if (!buckets_[bucket].dirty) buckets_[bucket].dirty = true, dirty_.push_back(bucket);
  }

  std::vector<int64_t> key_;
  std::vector<uint32_t> class_of_;
  std::map<std::tuple<uint32_t, int32_t, ShapeId>, uint32_t> ids_;
  std::deque<Class> classes_;
  std::vector<Bucket> buckets_;
  std::vector<size_t> dirty_;
  std::vector<uint32_t> unlucky_;  // failed for want of healthy or physical cells
  std::vector<Head> heads_;
  uint32_t last_ = kNone;  // class of the job last handed out
};

}  // namespace muster
