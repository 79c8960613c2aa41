// Whom a workload may push out, and in which order: classical and fair-sharing preemption.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "parts/quota_tree.hpp"

namespace muster::kueue {

/// Which workloads of a queue (or of other queues of the cohort) a workload may push out.
enum class Whom : uint8_t {
  never,
  lower,                 ///< of lower priority
  lower_or_newer_equal,  ///< or of equal priority and queued later
  any,
};

/// A queue's rules.
struct Rules {
  Whom within = Whom::never;           ///< withinClusterQueue
  Whom reclaim = Whom::never;          ///< reclaimWithinCohort
  bool borrow = false;                 ///< borrowWithinCohort: may push out lower priorities even where it ends up borrowing
  std::optional<int32_t> borrow_most;  ///< maxPriorityThreshold
};

/// An amount of a column of the quota tree.
struct Amount {
  uint32_t column;
  int64_t amount;
};

struct Workload {
  uint32_t queue = kNone;
  int32_t priority = 0;
  int32_t boost = 0;     ///< added to the priority where candidates are ordered
  Time queued = 0;       ///< when it came into its queue
  Time reserved = 0;     ///< when it was given its quota
  bool evicted = false;  ///< on its way out already
  uint32_t local_queue = kNone;
  int64_t local_usage = 0;    ///< past usage of its local queue, for admission fair sharing
  uint32_t uid = kNone;          ///< decides what nothing else does
  std::vector<Amount> usage;  ///< a column once
};

enum class Why : uint8_t { in_queue, reclaim, fair_sharing, reclaim_while_borrowing };
/// As the system writes them: "InClusterQueue", "InCohortReclamation", "InCohortFairSharing", "InCohortReclaimWhileBorrowing".
std::string_view to_text(Why w);

struct Victim {
  uint32_t workload;
  Why why;
  friend bool operator==(const Victim&, const Victim&) = default;
};

/// Strategies of fair sharing, tried in this order.
struct FairStrategies {
  bool final_share = true;    ///< LessThanOrEqualToFinalShare: the taker's new share <= the giver's share after it
  bool initial_share = true;  ///< LessThanInitialShare: the taker's new share < the giver's share before it
};

/// Finds victims on a quota tree that holds the usage of all admitted workloads; it is left as it was found.
/// Rules: Kueue, commit ff69552e (0.20-devel): pkg/scheduler/preemption.
class Victims {
 public:
  /// `rules` by node of the tree; `workloads` of which `admitted[node]` hold quota.
  Victims(QuotaTree& tree, std::span<const Rules> rules, std::span<const Workload> workloads,
          std::span<const std::vector<uint32_t>> admitted)
      : tree_(tree), rules_(rules), workloads_(workloads), admitted_(admitted) {}
  /// Admission fair sharing: of one queue, workloads of the local queue that used most go first.
  void admission_fair_sharing(bool on) { local_usage_ = on; }

  /// Victims for `in`, whose contested columns are `contested`; empty when none would help.
  std::vector<Victim> classical(const Workload& in, std::span<const uint32_t> contested);
  std::vector<Victim> fair(const Workload& in, std::span<const uint32_t> contested, FairStrategies strategies);

  /// Order of candidates for a workload of `queue`: evicted first, other queues first, (most used local queue), lower priority, latest
  /// reservation, lower number.
  bool before(uint32_t a, uint32_t b, uint32_t queue) const;
  /// Whether it fits now; `borrowing`: it may end above what its queue owns.
  bool fits(const Workload& in, bool borrowing) const;

 private:
  struct Candidate {
    uint32_t workload;
    uint32_t meets;  ///< common ancestor with the taker; kNone in its own queue
    Why why;
    bool never_borrow = false;  ///< only while the taker does not borrow
  };
  bool allowed(const Workload& in, const Workload& w, Whom whom) const;
  bool uses(const Workload& w, std::span<const uint32_t> contested) const;
  bool within_nominal(uint32_t node, std::span<const uint32_t> contested) const;
  void collect_below(const Workload& in, std::span<const uint32_t> contested, uint32_t root, uint32_t node, uint32_t skip, bool advantage,
                     std::vector<Candidate>& out) const;
  bool still_borrows(const Candidate& c, const Workload& in, std::span<const uint32_t> contested) const;
  void remove(uint32_t w);
  void restore(uint32_t w);
  void fill_back(const Workload& in, bool borrowing, std::vector<Victim>& victims, bool counted);
  bool fits_counted(const Workload& in);
  class Tournament;

  QuotaTree& tree_;
  std::span<const Rules> rules_;
  std::span<const Workload> workloads_;
  std::span<const std::vector<uint32_t>> admitted_;
  bool local_usage_ = false;
};

}  // namespace muster::kueue
