#include "parts/estimate.hpp"

#include <algorithm>

namespace muster {

namespace {
constexpr PartInfo kEstimates[] = {
    {"trace", "what the user stated, whole; jobs without a statement come last"},
    {"exact", "the true run time left (the textbook's assumption)", false, true},
    {"stated", "what the user stated, else the time limit, else the true run time left", false, true},
};

class Trace final : public Estimate {
 public:
  Duration of(const View& now, JobId j) override { return now.estimate(j); }
};

class Exact final : public Estimate {
 public:
  Duration of(const View& now, JobId j) override { return now.oracle_left(j); }
};

class Stated final : public Estimate {
 public:
  Duration of(const View& now, JobId j) override {
    const Job& job = now.job(j);
    const Duration d = std::min(now.estimate(j), job.time_limit);
    return d == kNever ? now.oracle_left(j) : d;
  }
};

template <class E> std::unique_ptr<Estimate> make(const PolicyInput&) { return std::make_unique<E>(); }
constexpr std::unique_ptr<Estimate> (*kMake[])(const PolicyInput&) = {make<Trace>, make<Exact>, make<Stated>};
}  // namespace

std::span<const PartInfo> estimates() { return kEstimates; }

std::unique_ptr<Estimate> make_estimate(std::string_view name, const PolicyInput& in) {
  return kMake[&choose(kEstimates, name, "estimate", {}) - kEstimates](in);
}

}  // namespace muster
