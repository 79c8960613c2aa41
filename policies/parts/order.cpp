#include "parts/order.hpp"

#include <algorithm>

namespace muster {

namespace {

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

template <class O> std::unique_ptr<Order> make(const PolicyInput&) { return std::make_unique<O>(); }

constexpr std::unique_ptr<Order> (*kMake[])(const PolicyInput&) = {
    make<Fifo>, make<Sjf>, make<Ljf>,       make<Largest>, make<Smallest>, make_priority, make_srtf, make_srsf,
    make_edf,   make_las,  make_tiresias, make_gittins,  make_rr,        make_ftf,      make_multifactor};

}  // namespace

std::span<const PartInfo> orders() {
  static const PartInfo all[] = {
      {"fifo", "earliest submit first"},
      {"sjf", "shortest run time first", true},
      {"ljf", "longest run time first", true},
      {"largest", "most GPUs first"},
      {"smallest", "fewest GPUs first"},
      {"priority", "highest priority first", false, false, kPriorityParameters},
      {"srtf", "shortest remaining run time first", true},
      {"srsf", "least remaining service (run time x GPUs) first", true},
      {"edf", "earliest deadline first; jobs without one last"},
      {"las", "least attained service (GPU time) first, in steps", false, false, kLasParameters},
      {"tiresias", "queues by attained GPU time, first started first in each", false, false, kTiresiasParameters},
      {"gittins", "highest Gittins index first, by attained GPU time", false, false, kGittinsParameters},
      {"rr", "round robin of gangs: a turn is a quantum of run time", false, false, kRrParameters},
      {"ftf", "worst finish-time fairness first", true, false, kFtfParameters},
      {"multifactor", "weighted sum of age, fair share, size and priority, as in Slurm", false, false, kMultifactorParameters},
  };
  return all;
}

std::unique_ptr<Order> make_order(std::string_view name, const PolicyInput& in) {
  return kMake[&choose(orders(), name, "order", {}) - orders().data()](in);
}

}  // namespace muster
