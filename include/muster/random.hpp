// Random numbers that are the same on every machine, compiler and optimisation level.
#pragma once
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace muster {

/// Natural logarithm of a positive finite number to about 1e-15, from exactly rounded operations only: libm differs between machines.
inline double portable_log(double x) {
  constexpr double kLn2 = 0.693147180559945309417;
  const uint64_t bits = std::bit_cast<uint64_t>(x);
  int64_t e = int64_t(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & 0x000fffffffffffffU) | 0x3ff0000000000000U);
  if (m > 1.4142135623730951) m *= 0.5, e++;
  // log m = 2 artanh s with |s| < 0.172
  const double s = (m - 1) / (m + 1), q = s * s;
  double sum = 0;
  for (int k = 23; k >= 1; k -= 2) sum = sum * q + 1.0 / k;
  return 2 * s * sum + double(e) * kLn2;
}

/// e to the power of x, |x| at most 700, to about 1e-15; as portable_log.
inline double portable_exp(double x) {
  constexpr double kLn2 = 0.693147180559945309417, kHigh = 0x1.62e42fee00000p-1, kLow = 0x1.a39ef35793c76p-33;
  const double scaled = x / kLn2;
  const int64_t k = int64_t(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
  const double r = x - double(k) * kHigh - double(k) * kLow;
  double sum = 1;
  for (int i = 14; i >= 1; i--) sum = 1 + sum * r / i;
  return sum * std::bit_cast<double>(uint64_t(k + 1023) << 52);
}

/// A stream of random numbers: xoshiro256** (Blackman and Vigna 2018), seeded by splitmix64. Every purpose has its own stream, named, so
/// that drawing more for one changes no other.
class Random {
 public:
  Random(uint64_t seed, std::string_view name) {
    uint64_t h = 0xcbf29ce484222325U;  // FNV-1a
    for (const char c : name) h = (h ^ uint8_t(c)) * 0x100000001b3U;
    uint64_t x = seed ^ h;
    for (auto& s : s_) {
      x += 0x9e3779b97f4a7c15U;
      uint64_t z = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
      s = z ^ (z >> 31);
    }
  }
  uint64_t next() {
    const uint64_t out = std::rotl(s_[1] * 5, 7) * 9, t = s_[1] << 17;
    s_[2] ^= s_[0], s_[3] ^= s_[1], s_[1] ^= s_[2], s_[0] ^= s_[3];
    s_[2] ^= t, s_[3] = std::rotl(s_[3], 45);
    return out;
  }
  /// A whole number below n, n > 0, each equally likely (Lemire 2019).
  uint64_t below(uint64_t n) {
    __extension__ using Wide = unsigned __int128;
    Wide m = Wide(next()) * n;
    if (uint64_t(m) < n)
      for (const uint64_t least = (0 - n) % n; uint64_t(m) < least;) m = Wide(next()) * n;
    return uint64_t(m >> 64);
  }
  /// In [0, 1), a multiple of 2^-53.
  double unit() { return double(next() >> 11) * 0x1p-53; }
  /// Exponentially distributed with mean 1.
  double exponential() { return -portable_log(1 - unit()); }
  /// Normally distributed with mean 0 and deviation 1 (polar method; the second of each pair is thrown away).
  double normal() {
    for (;;) {
      const double a = 2 * unit() - 1, b = 2 * unit() - 1, q = a * a + b * b;
      if (q > 0 && q < 1) return a * std::sqrt(-2 * portable_log(q) / q);
    }
  }

 private:
  std::array<uint64_t, 4> s_{};
};

}  // namespace muster
