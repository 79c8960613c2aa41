// Who holds what over time, from records alone.
#pragma once
#include <vector>

#include "muster/record.hpp"

namespace muster {

/// What of each node can be used at once, rebuilt record by record. A claim counts as held: nobody else may have it.
/// Records tell additions and removals by GPUs, so a node without any is taken to be there, and a fault of all GPUs of a node at once is one of the node.
class Occupancy {
 public:
  void begin(const Header& h);
  /// Nodes whose free amounts may have changed are added to touched().
  void see(const Record& r);
  const std::vector<NodeId>& touched() const { return touched_; }
  void clear_touched() {
    for (const NodeId n : touched_) stale_[n] = 0;
    touched_.clear();
  }

  unsigned words(NodeId n) const { return unsigned(first_[n + 1] - first_[n]); }
  /// GPUs that are whole, idle and in order.
  uint64_t free(NodeId n, unsigned w) const { return usable(n) ? all(n, w) & ~(at(n, w).taken | at(n, w).draining | at(n, w).bad | at(n, w).shared) : 0; }
  unsigned free_count(NodeId n) const {
    unsigned c = 0;
    for (unsigned w = 0; w < words(n); w++) c += unsigned(std::popcount(free(n, w)));
    return c;
  }
  /// Thousandths of a GPU of the node that can be used at once.
  int64_t left(NodeId n, unsigned gpu) const;
  /// Of a kind beside GPUs; not below 0. Kinds that the node does not limit: as much as anybody may ask.
  int64_t free_amount(NodeId n, size_t kind) const;
  bool usable(NodeId n) const { return off_[n] == 0; }
  /// GPUs out of order or on nodes that take no work, installed ones only.
  int64_t unusable_gpus() const { return unusable_; }
  const Topology& topology() const { return *topology_; }

 private:
  struct Word {
    uint64_t taken = 0, draining = 0, bad = 0, shared = 0;
  };
  struct Holding {
    std::vector<Piece> held;
    std::vector<std::vector<Piece>> drains;
    bool was_draining = false;
  };
  enum Off : uint8_t { kCordoned = 1, kRemoved = 2, kDown = 4 };
  uint64_t all(NodeId n, unsigned w) const {
    const unsigned left = topology_->gpus_of(n) - 64 * w;
    return left >= 64 ? ~uint64_t{0} : (uint64_t{1} << left) - 1;
  }
  Word& at(NodeId n, unsigned w) { return words_[first_[n] + w]; }
  const Word& at(NodeId n, unsigned w) const { return words_[first_[n] + w]; }
  void touch(NodeId n) {
    if (!stale_[n]) stale_[n] = 1, touched_.push_back(n);
  }
  Holding& holding(JobId j);
  void set(JobId j, Pieces p);
  void apply(JobId j, Pieces p, bool on, bool drains);
  void devices(const Record& r);
  void switch_off(NodeId n, uint8_t flag, bool on);
  int64_t unusable_of(NodeId n) const;

  const Topology* topology_ = nullptr;
  const Workload* workload_ = nullptr;
  std::vector<size_t> first_;  // by node: its first word
  std::vector<Word> words_;
  std::vector<uint8_t> off_, stale_;
  std::vector<JobId> holder_;    // by GPU: who holds all of it
  struct Shares {
    int64_t milli = 0;
    int32_t count = 0;
  };
  std::vector<Shares> used_;     // by GPU: held or draining as shares; empty until there are any
  std::vector<int64_t> amount_;  // by node and kind from 1 on: free
  std::vector<uint32_t> slot_;   // by job, into holdings_
  std::vector<Holding> holdings_;
  std::vector<uint32_t> free_slots_;
  std::vector<NodeId> touched_;
  int64_t unusable_ = 0;
};

}  // namespace muster
