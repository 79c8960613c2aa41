// Exact fractions for shares that are computed, not counted.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "muster/types.hpp"

namespace muster {

/// A fraction in lowest terms, den above 0, at least 0 as long as nothing larger is subtracted. Throws InputError when it passes 127 bits.
class Fraction {
 public:
  Fraction(Int128 n = 0) : num_(n) {}  // NOLINT: whole numbers are fractions
  Fraction(Int128 num, Int128 den) : num_(num), den_(den) { reduce(); }

  Int128 num() const { return num_; }
  Int128 den() const { return den_; }
  Fraction operator+(const Fraction& o) const { return sum(o, false); }
  Fraction operator-(const Fraction& o) const { return sum(o, true); }
  Fraction operator*(const Fraction& o) const {
    const Int128 g = gcd(num_, o.den_), h = gcd(o.num_, den_);
    Fraction f;
    f.num_ = times(num_ / g, o.num_ / h), f.den_ = times(den_ / h, o.den_ / g);
    return f;
  }
  /// The other one is not 0.
  Fraction operator/(const Fraction& o) const { return *this * inverse(o); }
  Fraction& operator+=(const Fraction& o) { return *this = *this + o; }
  Fraction& operator-=(const Fraction& o) { return *this = *this - o; }
  friend bool operator==(const Fraction& a, const Fraction& b) { return a.num_ == b.num_ && a.den_ == b.den_; }
  friend bool operator<(const Fraction& a, const Fraction& b) {
    const Int128 g = gcd(a.den_, b.den_);
    return times(a.num_, b.den_ / g) < times(b.num_, a.den_ / g);
  }
  friend bool operator<=(const Fraction& a, const Fraction& b) { return !(b < a); }
  bool zero() const { return num_ == 0; }
  /// Itself when its denominator is at most 2^55, else the next lower multiple of 2^-55: what it is computed with further stays in range.
  Fraction rounded() const {
    constexpr int kBits = 55;
    if (den_ <= Int128{1} << kBits) return *this;
    Int128 n = num_ / den_, rest = num_ % den_;
    for (int i = 0; i < kBits; i++) {
      rest *= 2, n *= 2;
      if (rest >= den_) rest -= den_, n++;
    }
    return {n, Int128{1} << kBits};
  }
  int64_t floor() const { return int64_t(num_ / den_ - (num_ % den_ < 0)); }
  double value() const { return double(num_) / double(den_); }
  /// "2.5", "5/3", "7"; at most 18 digits a number. Nothing when it is no such text or is below 0.
  static std::optional<Fraction> parse(std::string_view text) {
    const size_t slash = text.find('/');
    if (slash != std::string_view::npos) {
      const auto a = parse(text.substr(0, slash)), b = parse(text.substr(slash + 1));
      if (!a || !b || b->zero()) return std::nullopt;
      return *a / *b;
    }
    Int128 n = 0, d = 1;
    int digits = 0;
    bool point = false;
    for (const char c : text) {
      if (c == '.' && !point) {
        point = true;
      } else if (c >= '0' && c <= '9' && digits++ < 18) {
        n = n * 10 + (c - '0');
        if (point) d *= 10;
      } else {
        return std::nullopt;
      }
    }
    if (digits == 0) return std::nullopt;
    return Fraction(n, d);
  }
  /// "5/3", "2".
  std::string text() const { return den_ == 1 ? digits(num_) : digits(num_) + "/" + digits(den_); }

 private:
  static Int128 gcd(Int128 a, Int128 b) {
    if (a < 0) a = -a;
    while (b != 0) {
      const Int128 r = a % b;
      a = b, b = r;
    }
    return a == 0 ? 1 : a;
  }
  static Int128 times(Int128 a, Int128 b) {
    Int128 r;
    if (__builtin_mul_overflow(a, b, &r)) too_large();
    return r;
  }
  [[noreturn]] static void too_large() { throw InputError("exact fractions of these numbers pass 127 bits; rounder numbers help"); }
  static Fraction inverse(const Fraction& o) {
    Fraction f;
    f.num_ = o.num_ < 0 ? -o.den_ : o.den_, f.den_ = o.num_ < 0 ? -o.num_ : o.num_;
    return f;
  }
  Fraction sum(const Fraction& o, bool minus) const {
    const Int128 g = gcd(den_, o.den_);
    const Int128 a = times(num_, o.den_ / g), b = times(o.num_, den_ / g);
    Int128 r;
    if (minus ? __builtin_sub_overflow(a, b, &r) : __builtin_add_overflow(a, b, &r)) too_large();
    return {r, times(den_, o.den_ / g)};
  }
  void reduce() {
    const Int128 g = gcd(num_, den_);
    num_ /= g, den_ /= g;
  }
  static std::string digits(Int128 v) {
    std::string s;
    const bool minus = v < 0;
    do s.insert(s.begin(), char('0' + int(v < 0 ? -(v % 10) : v % 10)));
    while ((v /= 10) != 0);
    return minus ? "-" + s : s;
  }
  Int128 num_ = 0, den_ = 1;
};

}  // namespace muster
