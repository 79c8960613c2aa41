// The span of time a run is judged over.
#pragma once
#include <algorithm>

#include "muster/record.hpp"

namespace muster {

/// From the first submit to the last end of a job that ran, drains included.
struct Window {
  Time begin = kNever, end = kNever;

  /// Whether the job of an end record ever held its devices. A job that is done, failed or ran out of time did, even for no time at all.
  static bool ran(const Record& r) {
    return r.state == State::done || r.state == State::failed || r.state == State::timed_out || (r.time && r.time->total() > r.time->queue());
  }
  /// Returns whether the end moved to this record.
  bool see(const Record& r) {
    if (r.what == What::submit && begin == kNever) begin = r.at;
    if (r.what != What::drained && !(r.what == What::end && ran(r))) return false;
    end = r.at;
    return true;
  }
  bool known() const { return begin != kNever && end != kNever; }
  Duration length() const { return known() ? end - begin : 0; }
};

/// Adds amount x time, lazily: `now` is the integral up to the last change.
struct Integral {
  int64_t amount = 0;
  Time since = 0;
  Int128 now = 0;

  void advance(Time t) { now += Int128{amount} * (t - since), since = t; }
  void change(Time t, int64_t by) { advance(t), amount += by; }
};

/// The one division of a mean; NaN when there is nothing to divide by.
inline double divide(Int128 sum, Int128 by) { return by == 0 ? std::numeric_limits<double>::quiet_NaN() : double(sum) / double(by); }

}  // namespace muster
