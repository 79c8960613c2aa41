// The arithmetic of an iteration that ends in a ring all-reduce. Only + - * / and square roots: the same digits on every machine.
#pragma once
#include <cmath>
#include <cstdint>

#include "muster/types.hpp"

namespace muster {

/// Nanoseconds of an all-reduce of `bytes` round a ring of `gpus`, alpha-beta: each GPU sends 2 (n - 1) messages of bytes / n over the
/// narrowest link, and each message takes the time of the slowest hop besides (Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for
/// clusters of workstations", JPDC 2009).
inline double all_reduce_ns(double bytes, uint32_t gpus, double mb_s, double hop_ns) {
  if (gpus < 2) return 0;
  const double steps = 2.0 * (gpus - 1);
  return steps / gpus * bytes * 1000.0 / mb_s + steps * hop_ns;
}

/// x^y for x > 0 and 0 <= y < 64, by squares and square roots.
inline double power(double x, double y) {
  const auto whole = unsigned(y);
  double result = 1, base = x, root = x, rest = y - whole;
  for (unsigned n = whole; n; n >>= 1, base *= base)
    if (n & 1) result *= base;
  for (int bit = 0; bit < 40 && rest > 0; bit++) {
    root = std::sqrt(root), rest *= 2;
    if (rest >= 1) result *= root, rest -= 1;
  }
  return result;
}

/// Time of an iteration whose communication overlaps its computing: (a^g + b^g)^(1/g). g = 1 is one after the other, a large g the longer of
/// the two (Qiao et al., "Pollux", OSDI 2021).
inline double overlapped(double a, double b, double g) {
  const double longer = a > b ? a : b, shorter = a > b ? b : a;
  if (shorter <= 0 || g == 1) return longer + shorter;
  return longer * power(1 + power(shorter / longer, g), 1 / g);
}

}  // namespace muster
