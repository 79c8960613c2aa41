#include "parts/order.hpp"

#include <algorithm>

namespace muster {

namespace {
constexpr PartInfo kOrders[] = {
    {"fifo", "earliest submit first"}, {"sjf", "shortest run time first", true}, {"ljf", "longest run time first", true},
    {"largest", "most GPUs first"},    {"smallest", "fewest GPUs first"},        {"priority", "highest priority first"},
};
constexpr int64_t kLast = kNever - 1;
}  // namespace

std::span<const PartInfo> orders() { return kOrders; }

Order order_called(std::string_view name) { return Order(&choose(kOrders, name, "order", {}) - kOrders); }

int64_t order_key(Order o, Estimate e, const View& now, JobId j) {
  switch (o) {
    case Order::fifo: return 0;
    case Order::sjf: return std::min(estimated(e, now, j), kLast);
    case Order::ljf: {
      const Duration d = estimated(e, now, j);
      return d == kNever ? kLast : -d;
    }
    case Order::largest: return -now.shape(j).total_milli();
    case Order::smallest: return now.shape(j).total_milli();
    case Order::priority: return -int64_t(now.priority(j));
  }
  return 0;
}

}  // namespace muster
