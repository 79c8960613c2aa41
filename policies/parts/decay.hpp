// Usage that fades with a half-life, in whole numbers: the same digits on every machine.
#pragma once
#include "muster/types.hpp"

namespace muster {

/// What an amount is worth some time later: half after each half-life. Factors are whole numbers of 2^-62, from square roots alone.
class Decay {
 public:
  /// `half_life` above 0; kNever: nothing fades.
  explicit Decay(Duration half_life);
  struct Step {
    int64_t factor;  ///< what is left of the old, in 2^-62
    Int128 worth;    ///< of a rate of one that went on all the time: ticks, counted at the end
  };
  /// Of `d` ticks.
  Step over(Duration d) const;
  /// amount x factor, rounded down.
  static Int128 left(Int128 amount, int64_t factor);

 private:
  Duration half_life_;
  int64_t roots_[40];  // 2^(-1/2), 2^(-1/4), ...
};

}  // namespace muster
