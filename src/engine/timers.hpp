// Future events: what is due when, and in which order at one instant.
#pragma once
#include <algorithm>
#include <vector>

#include "muster/types.hpp"

namespace muster {

/// The order at one instant. Submits come between `scripted` and `wake`; claimed jobs begin and the policy's pass follow after.
enum class Rank : uint8_t { finish, limit, drained, ready, repair, fault, cancel, gave_back, scripted, wake };

/// A future event: 16 bytes. The sequence number doubles as generation: its subject remembers the last one it armed, others are stale.
struct Timer {
  static constexpr unsigned kSeqBits = 28;
  Time at;
  uint64_t key;  // rank:4 seq:28 subject:32
  Rank rank() const { return Rank(key >> 60); }
  uint32_t seq() const { return uint32_t(key >> 32) & ((1u << kSeqBits) - 1); }
  uint32_t subject() const { return uint32_t(key); }
  // One 128-bit comparison without a branch on the data; times are never negative.
  friend bool operator<(const Timer& a, const Timer& b) {
    __extension__ using Wide = unsigned __int128;
    return (Wide(uint64_t(a.at)) << 64 | a.key) < (Wide(uint64_t(b.at)) << 64 | b.key);
  }
};

/// 4-ary heap of timers; equal times by rank, then first in first out.
class TimerQueue {
 public:
  bool empty() const { return heap_.empty(); }
  const Timer& top() const { return heap_[0]; }
  size_t size() const { return heap_.size(); }
  /// The next sequence number would not fit: renumber() first.
  bool full() const { return seq_ + 1 >= limit_; }
  /// Sequence numbers start over below `limit`: tests make it small.
  void set_limit(uint32_t limit) { limit_ = limit; }
  uint32_t push(Time at, Rank rank, uint32_t subject) {
    const Timer x{at, uint64_t(rank) << 60 | uint64_t(++seq_) << 32 | subject};
    size_t i = heap_.size();
    heap_.push_back(x);
    for (size_t up; i && x < heap_[up = (i - 1) / 4]; i = up) heap_[i] = heap_[up];
    heap_[i] = x;
    return seq_;
  }
  Timer pop() {
    const Timer out = heap_[0], last = heap_.back();
    heap_.pop_back();
    const size_t n = heap_.size();
    size_t i = 0;
    for (size_t c; (c = 4 * i + 1) < n; i = c) {
      if (c + 4 <= n) {  // four children: two independent comparisons, then one; no branch on the data
        const size_t a = c + size_t(heap_[c + 1] < heap_[c]), b = c + 2 + size_t(heap_[c + 3] < heap_[c + 2]);
        c = heap_[b] < heap_[a] ? b : a;
      } else {
        const size_t first = c;
        for (size_t k = first + 1; k < n; k++) c = heap_[k] < heap_[c] ? k : c;
      }
      if (!(heap_[c] < last)) break;
      heap_[i] = heap_[c];
    }
    if (n) heap_[i] = last;
    return out;
  }
  /// Drops stale timers and numbers the others anew in their order. `owner(timer)` is where its subject keeps the number it armed, or
  /// null when the timer needs none.
  template <class F>
  void renumber(F owner) {
    std::erase_if(heap_, [&](const Timer& t) {
      const uint32_t* seq = owner(t);
      return seq && *seq != t.seq();
    });
    std::sort(heap_.begin(), heap_.end());  // a sorted array is a heap; seq is unique, so the order is total
    std::vector<Timer*> by_seq;
    for (Timer& t : heap_) by_seq.push_back(&t);
    std::sort(by_seq.begin(), by_seq.end(), [](const Timer* a, const Timer* b) { return a->seq() < b->seq(); });
    seq_ = 0;
    for (Timer* t : by_seq) {
      uint32_t* seq = owner(*t);
      t->key = (t->key & ~(uint64_t((1u << Timer::kSeqBits) - 1) << 32)) | uint64_t(++seq_) << 32;
      if (seq) *seq = seq_;
    }
    if (full()) throw std::logic_error("more live timers than sequence numbers");
  }

 private:
  std::vector<Timer> heap_;
  uint32_t seq_ = 0, limit_ = 1u << Timer::kSeqBits;
};

}  // namespace muster
