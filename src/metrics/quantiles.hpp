// Mean, nearest-rank percentiles and maximum of values kept exactly.
#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "metrics/window.hpp"
#include "muster/report.hpp"

namespace muster {

/// A set of durations. Zeros, the commonest value by far in queue and restart times, are counted, not stored.
class Ticks {
 public:
  /// Room for so many, so that a long run does not move them again and again.
  void expect(size_t n) { values_.reserve(n); }
  void add(Duration d) {
    if (d == 0) zeros_++;
    else values_.push_back(d);
    sum_ += d;
  }
  size_t size() const { return zeros_ + values_.size(); }
  /// Adds NAME_mean_s, _p50_s, _p90_s, _p99_s and _max_s; null without values. Reorders what is kept.
  void report(Report& out, const std::string& name, Better better) {
    const double per_second = double(kSecond);
    out.add(name + "_mean_s", divide(sum_, Int128(size()) * kSecond), "s", better);
    const auto at = [&](const char* which, size_t rank) {  // rank from 1
      out.add(name + which, rank == 0 ? std::numeric_limits<double>::quiet_NaN() : double(value(rank)) / per_second, "s", better);
    };
    sorted_from_ = 0;
    at("_p50_s", rank(50)), at("_p90_s", rank(90)), at("_p99_s", rank(99)), at("_max_s", size());
  }

 private:
  // Nearest rank: the smallest value that at least p per cent of all do not exceed.
  size_t rank(size_t p) const { return (size() * p + 99) / 100; }
  // Ranks are asked in rising order, so all below the last one asked is settled already.
  Duration value(size_t rank) {
    if (rank <= zeros_) return 0;
    const size_t i = rank - 1 - zeros_;
    std::nth_element(values_.begin() + std::ptrdiff_t(sorted_from_), values_.begin() + std::ptrdiff_t(i), values_.end());
    sorted_from_ = i;
    return values_[i];
  }
  std::vector<Duration> values_;
  size_t zeros_ = 0, sorted_from_ = 0;
  Int128 sum_ = 0;
};

}  // namespace muster
