// Exact shares: no rounding decides.
#pragma once
#include <limits>
#include <numeric>
#include <string>

#include "muster/types.hpp"

namespace muster {

/// num/den, num at least 0. A den below 0 marks who has weight 0: after every other, and among themselves as if the sign were not there.
/// Compared by products of 128 bits.
struct UserShare {
  int64_t num = 0, den = 1;

  bool weightless() const { return den < 0; }
  friend constexpr bool operator==(const UserShare& a, const UserShare& b) {
    return (a.den < 0) == (b.den < 0) && Int128{a.num} * b.den == Int128{b.num} * a.den;
  }
  friend constexpr bool operator<(const UserShare& a, const UserShare& b) {
    if ((a.den < 0) != (b.den < 0)) return b.den < 0;
    const Int128 left = Int128{a.num} * b.den, right = Int128{b.num} * a.den;
    return a.den < 0 ? right < left : left < right;
  }
  /// "2/3", "1", "0", in lowest terms.
  std::string text() const {
    const int64_t d = den < 0 ? -den : den, g = std::gcd(num, d);
    return d == g ? std::to_string(num / g) : std::to_string(num / g) + "/" + std::to_string(d / g);
  }
};

}  // namespace muster

/// max(): more than every share.
template <> struct std::numeric_limits<muster::UserShare> {
  static constexpr bool is_specialized = true;
  static constexpr muster::UserShare max() noexcept { return {std::numeric_limits<int64_t>::max(), -1}; }
};
