// Plain buddy allocation: blocks of equal parts at every level, lowest-numbered first.
#pragma once
#include <set>
#include <vector>

#include "muster/types.hpp"

namespace muster {

/// Equal roots, each split level by level into `fan_out` buddies; level 0 is the smallest block, of one unit. A request takes the lowest
/// level whose blocks hold it; when none is free there, the lowest-numbered free block of the next level that has one is split, and its
/// lowest part kept. A block that comes back merges with its buddies as soon as all of them are free, upward as far as that goes.
/// Knuth, The Art of Computer Programming 1, 2.5; with fan-outs other than two: the cells of HiveD (OSDI 2020), without its list order.
class Buddy {
 public:
  /// `fan_out[l]`: into how many blocks of level l one of level l + 1 is split; at least 1 each.
  Buddy(uint64_t roots, std::vector<uint64_t> fan_out);
  struct Block {
    size_t level = 0;
    uint64_t at = 0;    ///< its first unit
    uint64_t size = 0;  ///< units; 0: there was none
  };
  size_t levels() const { return size_.size(); }
  uint64_t size(size_t level) const { return size_[level]; }
  /// A block for `units` units, or one of size 0: too large, or nothing free.
  Block take(uint64_t units);
  void give(const Block& b);
  /// First units of the free blocks of a level, ascending.
  const std::set<uint64_t>& free(size_t level) const { return free_[level]; }

 private:
  std::vector<uint64_t> fan_out_, size_;
  std::vector<std::set<uint64_t>> free_;
};

/// The fan-outs of power-of-two blocks from `least` to `size` units (both powers of two).
std::vector<uint64_t> halves(uint64_t size, uint64_t least);

}  // namespace muster
