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
  bool empty() const { return size_ == 0; }
  const Timer& top() const { return reinterpret_cast<const Timer*>(lines_.data())[kRoot]; }
  size_t size() const { return size_; }
  /// The next sequence number would not fit: renumber() first.
  bool full() const { return seq_ + 1 >= limit_; }
  /// Sequence numbers start over below `limit`: tests make it small.
  void set_limit(uint32_t limit) { limit_ = limit; }
  uint32_t push(Time at, Rank rank, uint32_t subject) {
    const Timer x{at, uint64_t(rank) << 60 | uint64_t(++seq_) << 32 | subject};
    size_t i = kRoot + size_++;
    if (i >= 4 * lines_.size()) lines_.resize(2 * lines_.size());
    Timer* heap = entries();
    for (size_t up; i > kRoot && x < heap[up = i / 4 + 2]; i = up) heap[i] = heap[up];
    heap[i] = x;
    return seq_;
  }
  Timer pop() {
    Timer* heap = entries();
    const size_t n = kRoot + --size_;  // one past the last
    const Timer out = heap[kRoot], last = heap[n];
    size_t i = kRoot;
    for (size_t c; (c = 4 * (i - 2)) < n; i = c) {
      if (c + 4 <= n) {  // four children: two independent comparisons, then one; no branch on the data
        for (size_t k = 0; k < 4; k++) __builtin_prefetch(heap + 4 * (c - 2 + k));
        const size_t a = c + size_t(heap[c + 1] < heap[c]), b = c + 2 + size_t(heap[c + 3] < heap[c + 2]);
        c = heap[b] < heap[a] ? b : a;
      } else {
        const size_t first = c;
        for (size_t k = first + 1; k < n; k++) c = heap[k] < heap[c] ? k : c;
      }
      if (!(heap[c] < last)) break;
      heap[i] = heap[c];
    }
    heap[i] = last;
    return out;
  }
  /// Drops stale timers and numbers the others anew in their order. `owner(timer)` is where its subject keeps the number it armed, or
  /// null when the timer needs none.
  template <class F>
  void renumber(F owner) {
    Timer* begin = entries() + kRoot;
    Timer* end = std::remove_if(begin, begin + size_, [&](const Timer& t) {
      const uint32_t* seq = owner(t);
      return seq && *seq != t.seq();
    });
    size_ = size_t(end - begin);
    std::sort(begin, end);  // a sorted array is a heap; seq is unique, so the order is total
    std::vector<Timer*> by_seq;
    for (Timer* t = begin; t != end; t++) by_seq.push_back(t);
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
  // Four children fill one cache line: the root is entry 3, the children of entry i are 4 (i - 2) and the three after it.
  struct alignas(64) Line {
    Timer timer[4];
  };
  static constexpr size_t kRoot = 3;
  Timer* entries() { return reinterpret_cast<Timer*>(lines_.data()); }
  std::vector<Line> lines_ = std::vector<Line>(2);
  size_t size_ = 0;
  uint32_t seq_ = 0, limit_ = 1u << Timer::kSeqBits;
};

}  // namespace muster
