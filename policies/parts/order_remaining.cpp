// Shortest remaining time, least remaining service.
#include <algorithm>
#include <numeric>

#include "parts/order.hpp"

namespace muster {

namespace {

/// By what a job is believed to have left. While it computes that shrinks as fast as it runs: an estimate by the clock, the truth by its
/// speed.
class Remaining final : public Order {
 public:
  /// `unit`: milli-GPUs that service counts in; 0: it is run time alone.
  explicit Remaining(int64_t unit) : unit_(unit) {}
  int64_t key(const View& now, Estimate& e, JobId j) override {
    const Duration left = e.left(now, j);
    if (left == kNever) return kLast;
    const Int128 key = Int128(left) * weight(now, j);
    return key < kLast ? int64_t(key) : kLast;
  }
  bool slopes() const override { return true; }
  Line placed(const View& now, Estimate& e, JobId j) override {
    const int64_t k = key(now, e, j);
    return {k, k == kLast ? 0 : -e.pace(now, j) * weight(now, j)};
  }

 private:
  int64_t weight(const View& now, JobId j) const { return unit_ ? now.shape(j).total_milli() / unit_ : 1; }
  int64_t unit_;
};

}  // namespace

std::unique_ptr<Order> make_srtf(const PolicyInput&) { return std::make_unique<Remaining>(0); }
std::unique_ptr<Order> make_srsf(const PolicyInput& in) {
  int64_t unit = 0;  // what all requests are multiples of: with whole GPUs alone a key stays small
  for (const Shape& s : in.workload.shapes) unit = std::gcd(unit, s.total_milli());
  return std::make_unique<Remaining>(std::max<int64_t>(unit, 1));
}

}  // namespace muster
