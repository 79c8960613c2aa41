#include "parts/order.hpp"

#include <algorithm>

namespace muster {

namespace {
constexpr PartInfo kOrders[] = {
    {"fifo", "earliest submit first"}, {"sjf", "shortest run time first", true}, {"ljf", "longest run time first", true},
    {"largest", "most GPUs first"},    {"smallest", "fewest GPUs first"},        {"priority", "highest priority first"},
};
constexpr int64_t kLast = kNever - 1;

class Fifo final : public Order {
 public:
  int64_t key(const View&, Estimate&, JobId) override { return 0; }
  bool keyed() const override { return false; }
};

class Sjf final : public Order {
 public:
  int64_t key(const View& now, Estimate& e, JobId j) override { return std::min(e.of(now, j), kLast); }
};

class Ljf final : public Order {
 public:
  int64_t key(const View& now, Estimate& e, JobId j) override {
    const Duration d = e.of(now, j);
    return d == kNever ? kLast : -d;
  }
};

class Largest final : public Order {
 public:
  int64_t key(const View& now, Estimate&, JobId j) override { return -now.shape(j).total_milli(); }
};

class Smallest final : public Order {
 public:
  int64_t key(const View& now, Estimate&, JobId j) override { return now.shape(j).total_milli(); }
};

class ByPriority final : public Order {
 public:
  int64_t key(const View& now, Estimate&, JobId j) override { return -int64_t(now.priority(j)); }
  bool by_priority() const override { return true; }
};

template <class O> std::unique_ptr<Order> make(const PolicyInput&) { return std::make_unique<O>(); }
constexpr std::unique_ptr<Order> (*kMake[])(const PolicyInput&) = {make<Fifo>,    make<Sjf>,      make<Ljf>,
                                                                   make<Largest>, make<Smallest>, make<ByPriority>};
}  // namespace

std::span<const PartInfo> orders() { return kOrders; }

std::unique_ptr<Order> make_order(std::string_view name, const PolicyInput& in) {
  return kMake[&choose(kOrders, name, "order", {}) - kOrders](in);
}

}  // namespace muster
