// What is free from each instant on.
#pragma once
#include <algorithm>
#include <vector>

#include "muster/resources.hpp"
#include "muster/types.hpp"

namespace muster {

/// `t + d`, or never.
inline Time later(Time t, Duration d) { return t > kNever - d ? kNever : t + d; }

/// What a node, or a cluster seen as a counter, has free from now on, as far as is known: a step function in a flat sorted vector.
class Profile {
 public:
  /// From `now` on, `free` for good.
  void reset(Time now, const Resources& free) { steps_.assign(1, {now, free}); }
  /// `r` more in [from, to).
  void add(Time from, Time to, const Resources& r) {
    if (to <= steps_[0].at || from >= to) return;
    const size_t a = split(std::max(from, steps_[0].at)), b = to == kNever ? steps_.size() : split(to);
    for (size_t i = a; i < b; i++) steps_[i].free += r;
  }
  void take(Time from, Time to, const Resources& r) {
    Resources less;
    less -= r;
    add(from, to, less);
  }
  /// Forgets what is past.
  void trim(Time now) {
    size_t past = 0;
    while (past + 1 < steps_.size() && steps_[past + 1].at <= now) past++;
    steps_.erase(steps_.begin(), steps_.begin() + std::ptrdiff_t(past));
    steps_[0].at = std::max(steps_[0].at, now);
  }
  /// The least of each kind that is free in [from, to), at `from` at any rate.
  Resources least(Time from, Time to) const {
    size_t i = 0;
    while (i + 1 < steps_.size() && steps_[i + 1].at <= from) i++;
    Resources r = steps_[i].free;
    for (i++; i < steps_.size() && steps_[i].at < to; i++)
      for (size_t k = 0; k < kMaxKinds; k++) r[k] = std::min(r[k], steps_[i].free[k]);
    return r;
  }
  /// First instant from which on `need` is free for `d`, or kNever.
  Time earliest(Duration d, const Resources& need) const {
    Time since = kNever;
    for (const Step& s : steps_) {
      if (since != kNever && s.at >= later(since, d)) break;
      if (!enough(s.free, need)) since = kNever;
      else if (since == kNever) since = s.at;
    }
    return since;
  }
  /// Instants at which something changes.
  template <class F> void each_time(F f) const {
    for (const Step& s : steps_) f(s.at);
  }
  static bool enough(const Resources& free, const Resources& need) {
    for (size_t k = 0; k < kMaxKinds; k++)
      if (need[k] > 0 && need[k] > free[k]) return false;
    return true;
  }

 private:
  struct Step {
    Time at;
    Resources free;
  };
  size_t split(Time t) {
    const auto at = std::lower_bound(steps_.begin(), steps_.end(), t, [](const Step& s, Time x) { return s.at < x; });
    const auto i = size_t(at - steps_.begin());
    if (at == steps_.end() || at->at != t) steps_.insert(at, Step{t, steps_[i - 1].free});
    return i;
  }
  std::vector<Step> steps_;
};

}  // namespace muster
