// Earliest deadline; priority, which may grow with the wait.
#include <algorithm>

#include "parts/order.hpp"

namespace muster {

namespace {

class Edf final : public Order {
 public:
  int64_t key(const View& now, Estimate&, JobId j) override { return std::min(now.job(j).deadline, kLast); }
};

/// With aging, a job gains a point for each `aging` of time since its submit. All gain alike, so their order stays: it is that of
/// submit - priority x aging.
class ByPriority final : public Order {
 public:
  explicit ByPriority(Duration aging) : aging_(aging) {}
  int64_t key(const View& now, Estimate&, JobId j) override {
    const int64_t p = now.priority(j);
    if (aging_ == 0) return -p;
    return int64_t(std::clamp<Int128>(Int128(now.job(j).submit) - Int128(p) * aging_, -kLast, kLast));
  }
  bool by_priority() const override { return true; }

 private:
  Duration aging_;
};

}  // namespace

const PartParameter kPriorityParameters[1] = {{"aging", "0", "time since submit that is worth one point of priority; 0: none"}};

std::unique_ptr<Order> make_edf(const PolicyInput&) { return std::make_unique<Edf>(); }

std::unique_ptr<Order> make_priority(const PolicyInput& in) {
  const Config* aging = in.parameters.find("aging");
  return std::make_unique<ByPriority>(aging ? aging->as_duration() : 0);
}

}  // namespace muster
