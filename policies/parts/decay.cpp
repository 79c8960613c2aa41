#include "parts/decay.hpp"

namespace muster {

namespace {
constexpr int64_t kOne = int64_t{1} << 62;

/// floor(sqrt(x * 2^62)) for x up to 2^62: the root in the same units.
int64_t root(int64_t x) {
  const Int128 square = Int128{x} << 62;
  int64_t low = 0;
  for (int64_t bit = kOne; bit > 0; bit >>= 1)
    if (Int128{low + bit} * (low + bit) <= square) low += bit;
  return low;
}
}  // namespace

Decay::Decay(Duration half_life) : half_life_(half_life) {
  int64_t r = kOne / 2;
  for (int64_t& each : roots_) each = r = root(r);
}

Decay::Step Decay::over(Duration d) const {
  if (half_life_ == kNever) return {kOne, d};
  if (d / half_life_ >= 62) return {0, Int128{half_life_} * 1'586'259'972'792 >> 40};
  int64_t f = kOne >> (d / half_life_);
  int64_t rest = d % half_life_;
  for (const int64_t each : roots_) {
    const bool set = rest >= half_life_ - rest;  // twice the rest reaches a half-life
    rest = set ? rest - (half_life_ - rest) : rest * 2;
    if (set) f = int64_t(Int128{f} * each >> 62);
    if (rest == 0) break;
  }
  // The integral of 2^(-t/h) over d is (1 - f) h / ln 2; 1 / ln 2 is 1586259972792 / 2^40.
  return {f, (Int128{kOne - f} * half_life_ >> 62) * 1'586'259'972'792 >> 40};
}

Int128 Decay::left(Int128 amount, int64_t factor) {
  const Int128 high = amount >> 62, low = amount & (kOne - 1);
  return high * factor + (low * factor >> 62);
}

}  // namespace muster
