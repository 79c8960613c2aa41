// An ordered set of dense ids.
#pragma once
#include <bit>
#include <cstddef>
#include <vector>

#include "muster/types.hpp"

namespace muster {

/// Ordered set of dense ids: a bitmap with 64-ary summaries. Insert, erase, first and next touch at most a word a level
/// (four levels for 16 million ids). Inserting what is there and erasing what is not are no-ops.
class IdSet {
 public:
  IdSet() : IdSet(1) {}
  explicit IdSet(size_t n) {
    do levels_.emplace_back((n = (n + 63) / 64), 0);
    while (n > 1);
  }
  bool contains(uint32_t i) const { return levels_[0][i >> 6] >> (i & 63) & 1; }
  /// Whether ids below `n` may be inserted.
  bool holds(size_t n) const { return levels_[0].size() * 64 >= n; }
  bool empty() const { return levels_.back()[0] == 0; }
  uint32_t first() const { return next(0); }
  /// Smallest member >= i, or kNone.
  uint32_t next(uint32_t i) const {
    for (size_t d = 0; d < levels_.size(); d++, i = (i >> 6) + 1) {
      if ((i >> 6) >= levels_[d].size()) return kNone;
      if (const uint64_t m = levels_[d][i >> 6] & (~uint64_t{0} << (i & 63))) {
        for (i = (i & ~63u) | unsigned(std::countr_zero(m)); d; d--) i = i << 6 | unsigned(std::countr_zero(levels_[d - 1][i]));
        return i;
      }
    }
    return kNone;
  }
  /// Largest member, or kNone.
  uint32_t last() const {
    if (empty()) return kNone;
    uint32_t i = 0;
    for (size_t d = levels_.size(); d--;) i = i << 6 | (63u - unsigned(std::countl_zero(levels_[d][i])));
    return i;
  }
  void insert(uint32_t i) {
    for (auto& level : levels_) {
      uint64_t& word = level[i >> 6];
      const bool was = word != 0;
      word |= uint64_t{1} << (i & 63);
      if (was) return;
      i >>= 6;
    }
  }
  void erase(uint32_t i) {
    for (auto& level : levels_) {
      if (level[i >> 6] &= ~(uint64_t{1} << (i & 63))) return;
      i >>= 6;
    }
  }

 private:
  std::vector<std::vector<uint64_t>> levels_;
};

}  // namespace muster
