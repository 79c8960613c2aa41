// Jobs with a placement, in order.
#pragma once
#include <set>

#include "parts/order.hpp"

namespace muster {

/// Jobs whose keys are straight lines, from the last in order to the first at any time. Lines of one slope never cross, so each slope has a
/// set of its own; there are few slopes (none, full speed, full speed times a number of GPUs).
class Holders {
 public:
  explicit Holders(size_t jobs) : of_(jobs) {}
  bool contains(JobId j) const { return of_[j].lane != kNone; }
  /// Puts `j` in, or gives it another line.
  void insert(Time now, JobId j, Line line, Pieces at) {
    bool share = false;
    for (const Piece& p : at) share |= p.share != Share::whole;
    Of& of = of_[j];
    const Int128 start = Int128(line.key) * kUnit - Int128(line.slope) * now;
    if (of.lane != kNone && lanes_[of.lane].slope == line.slope && of.start == start && of.share == share) return;
    erase(j);
    uint32_t lane = 0;
    while (lane < lanes_.size() && lanes_[lane].slope != line.slope) lane++;
    if (lane == lanes_.size()) lanes_.push_back({line.slope, {}});
    lanes_[lane].jobs.insert({start, j});
    of = {start, lane, share};
    shares_ += share;
  }
  void erase(JobId j) {
    Of& of = of_[j];
    if (of.lane == kNone) return;
    lanes_[of.lane].jobs.erase({of.start, j});
    shares_ -= of.share;
    of = {};
  }
  /// How many of them hold shares of GPUs.
  size_t shares() const { return shares_; }
  /// Whether `v` is later in order than a waiting job `j` with this key.
  bool is_after(Time now, JobId v, int64_t key, JobId j) const {
    const Of& of = of_[v];
    if (of.lane == kNone) return false;
    return after(of.start + lanes_[of.lane].slope * Int128(now), v, Int128(key) * kUnit, j);
  }
  bool last_is_after(Time now, int64_t key, JobId j) const {
    for (const Lane& l : lanes_)
      if (!l.jobs.empty() && after(l.jobs.rbegin()->first + l.slope * Int128(now), l.jobs.rbegin()->second, Int128(key) * kUnit, j)) return true;
    return false;
  }
  /// Hands those later in order than waiting `j` to `f`, the last first, while `f` says so. `f` must not change the set.
  template <class F> void from_last(Time now, int64_t key, JobId j, F f) {
    const Int128 bound = Int128(key) * kUnit;
    next_.clear();
    for (const Lane& l : lanes_) next_.push_back(l.jobs.rbegin());
    for (;;) {
      size_t best = lanes_.size();
      Int128 value = bound;
      JobId who = j;
      for (size_t i = 0; i < lanes_.size(); i++) {
        if (next_[i] == lanes_[i].jobs.rend()) continue;
        const Int128 v = next_[i]->first + lanes_[i].slope * Int128(now);
        if (after(v, next_[i]->second, value, who)) best = i, value = v, who = next_[i]->second;
      }
      if (best == lanes_.size() || !f(who)) return;
      ++next_[best];
    }
  }

 private:
  static constexpr int64_t kUnit = 1'000'000;  // slopes are per million microseconds
  using Set = std::set<std::pair<Int128, JobId>>;
  struct Lane {
    int64_t slope;
    Set jobs;  // by where the line is at time 0
  };
  struct Of {
    Int128 start = 0;
    uint32_t lane = kNone;
    bool share = false;
  };
  static bool after(Int128 a, JobId ja, Int128 b, JobId jb) { return a != b ? a > b : ja > jb; }
  std::vector<Lane> lanes_;
  std::vector<Of> of_;  // by job
  std::vector<Set::const_reverse_iterator> next_;
  size_t shares_ = 0;
};

}  // namespace muster
