// The id with the smallest key.
#pragma once
#include <algorithm>
#include <bit>
#include <vector>

#include "muster/types.hpp"

namespace muster {

/// Winner tree, 8 children a cache line: the id with the smallest key, ties to the lowest id; also the leftmost id with key <= x.
/// All operations are O(log8 n).
class WinnerTree {
 public:
  static constexpr int64_t kOut = std::numeric_limits<int64_t>::max();  ///< key of an id that takes no part
  explicit WinnerTree(size_t n = 1) {
    do levels_.emplace_back((n = (n + 7) / 8));
    while (n > 1);
  }
  int64_t key(uint32_t i) const { return levels_[0][i >> 3].key[i & 7]; }
  int64_t best() const { return levels_.back()[0].least(); }
  bool empty() const { return best() == kOut; }
  size_t capacity() const { return levels_[0].size() * 8; }
  void set(uint32_t id, int64_t key) {
    for (auto& level : levels_) {
      Line& line = level[id >> 3];
      if (line.key[id & 7] == key) return;
      line.key[id & 7] = key;
      key = line.least();
      id >>= 3;
    }
  }
  /// Id of the smallest key. The tree must not be empty().
  uint32_t winner() const { return leftmost(best()); }
  /// Lowest id with key <= x, or kNone.
  uint32_t leftmost(int64_t x) const {
    uint32_t i = 0;
    for (size_t d = levels_.size(); d--;) {
      const unsigned m = levels_[d][i].at_most(x);
      if (!m) return kNone;
      i = i << 3 | unsigned(std::countr_zero(m));
    }
    return i;
  }
  /// Room for ids below `n`; keys are kept.
  void grow(size_t n) {
    if (n <= capacity()) return;
    WinnerTree bigger(std::max(n, 8 * capacity()));
    for (uint32_t i = 0; i < capacity(); i++)
      if (key(i) != kOut) bigger.set(i, key(i));
    *this = std::move(bigger);
  }

 private:
  struct alignas(64) Line {
    int64_t key[8] = {kOut, kOut, kOut, kOut, kOut, kOut, kOut, kOut};
    int64_t least() const {
      int64_t m = key[0];
      for (int i = 1; i < 8; i++) m = std::min(m, key[i]);
      return m;
    }
    unsigned at_most(int64_t x) const {
      unsigned m = 0;
      for (unsigned i = 0; i < 8; i++) m |= unsigned(key[i] <= x) << i;
      return m;
    }
  };
  std::vector<std::vector<Line>> levels_;
};

}  // namespace muster
