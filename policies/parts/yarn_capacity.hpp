// What over-used queues owe and which containers pay it: YARN's ProportionalCapacityPreemptionPolicy.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "muster/resources.hpp"
#include "parts/ratio.hpp"

namespace muster::yarn {

/// How vectors of resources are compared and scaled. The rows of the published tests are decided by these roundings.
struct Calculator {
  bool dominant = false;      ///< false: the first kind alone counts (memory, there), half up; true: sorted shares, rounded up
  std::vector<size_t> kinds;  ///< kinds of Resources that count, the first one first

  std::strong_ordering compare(const Resources& total, const Resources& a, const Resources& b) const;
  bool less(const Resources& total, const Resources& a, const Resources& b) const { return compare(total, a, b) < 0; }
  const Resources& larger(const Resources& total, const Resources& a, const Resources& b) const { return less(total, a, b) ? b : a; }
  const Resources& smaller(const Resources& total, const Resources& a, const Resources& b) const { return less(total, b, a) ? b : a; }
  /// a / b by what compare() looks at; b above nothing.
  Ratio divide(const Resources& total, const Resources& a, const Resources& b) const;
  /// Each kind times its fraction, rounded as the system does.
  int64_t scaled(int64_t amount, Ratio by) const { return dominant ? by.times_up(amount) : by.times_half_up(amount); }
  Resources scaled(const Resources& r, Ratio by) const;
  Resources scaled_down(const Resources& r, Ratio by) const;
  bool any_above_zero(const Resources& r) const;
};

/// Parameters, with the system's defaults. Fractions in millionths.
struct Settings {
  Duration interval = 3 * kSecond;           ///< monitoring_interval
  Duration wait_before_kill = 15 * kSecond;  ///< max_wait_before_kill
  int64_t per_round = 100'000;               ///< total_preemption_per_round
  int64_t ignored = 100'000;                 ///< max_ignored_over_capacity: the dead zone
  int64_t natural = 200'000;                 ///< natural_termination_factor
  bool balance = false;                      ///< preemption_to_balance
  bool intra = false;                        ///< intra_queue_preemption
  int64_t intra_threshold = 500'000;         ///< minimum-threshold
  int64_t intra_most = 200'000;              ///< max-allowable-limit
  bool priority_first = false;               ///< preemption-order-policy; false: userlimit_first
};

struct Queue {
  uint32_t parent = kNone;
  bool leaf = true;
  Resources guaranteed, most, used, pending, reserved;  ///< pending and reserved of leaves
  bool off = false;                                     ///< preemption disabled, for all below too
  int64_t am_millionths = 0;                            ///< most of the queue's capacity that application masters may hold
  std::vector<uint32_t> apps;                           ///< of a leaf, the oldest first
  Resources user_limit;                                 ///< of each of its users
};

struct Container {
  Resources size;
  bool master = false;    ///< the application master's
  bool reserved = false;  ///< not running yet
};

struct App {
  std::vector<Container> containers;  ///< the oldest first
  Resources pending;
  int32_t priority = 0;  ///< bigger is more important
  uint32_t user = 0;
};

/// A container that is to go.
struct Chosen {
  uint32_t app, container;
  friend bool operator==(const Chosen&, const Chosen&) = default;
  friend auto operator<=>(const Chosen&, const Chosen&) = default;
};

/// One level of the tree's ideal assignment; parents stand before their children in `queues`.
struct Ideal {
  std::vector<Resources> assigned;  ///< by queue
  std::vector<Resources> preempt;   ///< by queue: to be taken, before dead zone and natural termination
};
/// Rules: AbstractPreemptableResourceCalculator (commit e7392ed2), TempQueuePerPartition (4994beff), PreemptableResourceCalculator
/// (3ee41a64). `with_reserved`: the reading of the reserved-container selector; `balance`: leaves may get more than they have.
Ideal ideal_assignment(std::span<const Queue> queues, const Calculator& calculator, const Resources& allowed, bool with_reserved,
                       bool balance);

/// Containers that one run of the policy selects, in order of selection: FIFO, FIFO to balance, intra-queue.
/// Rules: FifoCandidatesSelector (09517262), FifoIntraQueuePreemptionPlugin (0510ceed), IntraQueueCandidatesSelector (3f2e1f44).
std::vector<Chosen> select_containers(std::span<const Queue> queues, std::span<const App> apps, const Calculator& calculator,
                                      const Settings& settings, Ideal* last_ideal = nullptr);

}  // namespace muster::yarn
