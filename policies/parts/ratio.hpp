// Fractions of integers, compared without rounding and without overflow.
#pragma once
#include <compare>

#include "muster/types.hpp"

namespace muster {

/// A fraction with a denominator above 0, not reduced. Compared exactly, by the expansion into continued fractions: no product is formed.
struct Ratio {
  Int128 over = 0, under = 1;
  friend std::strong_ordering operator<=>(Ratio a, Ratio b) {
    for (bool swapped = false;; swapped = !swapped) {
      const auto split = [](Ratio& r) {  // takes the floor off
        Int128 whole = r.over / r.under;
        if (r.over % r.under < 0) whole--;
        r.over -= whole * r.under;
        return whole;
      };
      const Int128 x = split(a), y = split(b);
      const auto turned = [&](bool less) { return less != swapped ? std::strong_ordering::less : std::strong_ordering::greater; };
      if (x != y) return turned(x < y);
      if (a.over == 0 && b.over == 0) return std::strong_ordering::equal;
      if (a.over == 0) return turned(true);
      if (b.over == 0) return turned(false);
      a = {a.under, a.over}, b = {b.under, b.over};  // the reciprocals compare the other way round
    }
  }
  friend bool operator==(Ratio a, Ratio b) { return (a <=> b) == 0; }
  /// floor(x * this + 1/2), for x and the fraction from 0 up.
  int64_t times_half_up(int64_t x) const { return int64_t((2 * x * over + under) / (2 * under)); }
  int64_t times_up(int64_t x) const { return int64_t((x * over + under - 1) / under); }
  int64_t times_down(int64_t x) const { return int64_t(x * over / under); }
};

}  // namespace muster
