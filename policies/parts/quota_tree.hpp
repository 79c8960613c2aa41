// Queues that own a share, lend what they do not use and take it back.
#pragma once
#include <span>
#include <vector>

#include "muster/types.hpp"

namespace muster {

/// How much of something borrowed a node of a quota tree holds, against what there was to lend: compared exactly, never as a double.
class BorrowedShare {
 public:
  BorrowedShare() = default;
  /// `borrowed` of `lendable`, divided by `weight` thousandths. A weight of 0 is above every finite share; two such compare without it.
  BorrowedShare(int64_t borrowed, int64_t lendable, int64_t weight) : borrowed_(borrowed), lendable_(lendable), weight_(weight) {}
  bool zero() const { return borrowed_ == 0; }
  /// Thousandths of what could be lent, over the weight, rounded up: what a person is shown. INT64_MAX for a weight of 0.
  int64_t shown() const;
  friend bool operator<(const BorrowedShare& a, const BorrowedShare& b);
  friend bool operator==(const BorrowedShare& a, const BorrowedShare& b) { return !(a < b) && !(b < a); }
  friend bool operator<=(const BorrowedShare& a, const BorrowedShare& b) { return !(b < a); }

 private:
  int64_t borrowed_ = 0, lendable_ = 1, weight_ = 1000;
};

/// A tree of queues with, for each column (a resource, or a resource of one flavor), what a node owns, how much it may borrow and lend, and
/// what is used below it. Any depth. What a node does not keep for itself (its lending limit) belongs to its parent's subtree too; usage
/// beyond what it keeps is counted there. Rules: Kueue, commit ff69552e (0.20-devel), cohort quotas.
/// Amounts are integers of the caller's unit. Adding and removing usage are exact inverses, so that a what-if is undone by its inverse.
class QuotaTree {
 public:
  static constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max() / 4;
  struct Quota {
    int64_t nominal = 0;
    int64_t borrowing = kUnlimited;  ///< most above what its subtree owns
    int64_t lending = kUnlimited;    ///< most of what its subtree owns that others may use
  };

  /// `resource_of[c]` is the resource that column `c` counts: shares add up the columns of a resource.
  explicit QuotaTree(std::vector<uint32_t> resource_of);
  /// A node below `parent` (kNone: a root); `quotas` one a column. Returns its number.
  uint32_t add(uint32_t parent, std::span<const Quota> quotas, int64_t weight_thousandths = 1000);
  /// New quotas; usage stays, and may be above them.
  void set(uint32_t node, std::span<const Quota> quotas);

  size_t nodes() const { return parent_.size(); }
  size_t columns() const { return resource_of_.size(); }
  uint32_t parent(uint32_t n) const { return parent_[n]; }
  std::span<const uint32_t> children(uint32_t n) const { return children_[n]; }
  uint32_t root_of(uint32_t n) const;
  int64_t usage(uint32_t n, size_t c) const { return at(n, c).usage; }
  /// What the node and all below it own, less what those below keep.
  int64_t subtree(uint32_t n, size_t c) const { return at(n, c).subtree; }
  const Quota& quota(uint32_t n, size_t c) const { return at(n, c).quota; }

  /// What the node could still take; below 0 when somebody holds more than is there.
  int64_t available(uint32_t n, size_t c) const;
  /// The same in an empty tree.
  int64_t potential(uint32_t n, size_t c) const;
  /// What it keeps for itself and has not used.
  int64_t local_available(uint32_t n, size_t c) const { return std::max<int64_t>(0, at(n, c).local - at(n, c).usage); }
  /// Whether it holds more than its subtree owns, with `more` on top.
  bool borrows(uint32_t n, size_t c, int64_t more = 0) const { return at(n, c).usage + more > at(n, c).subtree; }
  /// Dominant resource share: the largest over resources of what is borrowed against what the parent could lend. A root has none.
  BorrowedShare share(uint32_t n) const;
  /// The resource that share() speaks of (the lowest-numbered of equals), or kNone.
  uint32_t dominant(uint32_t n) const;

  void use(uint32_t n, size_t c, int64_t amount);
  void free(uint32_t n, size_t c, int64_t amount);

 private:
  struct Cell {
    Quota quota;
    int64_t subtree = 0, local = 0, usage = 0;
  };
  const Cell& at(uint32_t n, size_t c) const { return cells_[n * columns() + c]; }
  Cell& at(uint32_t n, size_t c) { return cells_[n * columns() + c]; }
  void refresh(uint32_t n);
  std::pair<BorrowedShare, uint32_t> largest(uint32_t n) const;

  std::vector<uint32_t> resource_of_;
  uint32_t resources_ = 0;
  std::vector<uint32_t> parent_;
  std::vector<std::vector<uint32_t>> children_;
  std::vector<int64_t> weight_;
  std::vector<Cell> cells_;
};

}  // namespace muster
