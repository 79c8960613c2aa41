#include "parts/estimate.hpp"

namespace muster {

namespace {
constexpr PartInfo kEstimates[] = {
    {"trace", "what the user stated, whole; jobs without a statement come last"},
    {"exact", "the true run time left (the textbook's assumption)", false, true},
};

class Trace final : public Estimate {
 public:
  Duration of(const View& now, JobId j) override { return now.estimate(j); }
};

class Exact final : public Estimate {
 public:
  Duration of(const View& now, JobId j) override { return now.oracle_left(j); }
};

template <class E> std::unique_ptr<Estimate> make(const PolicyInput&) { return std::make_unique<E>(); }
constexpr std::unique_ptr<Estimate> (*kMake[])(const PolicyInput&) = {make<Trace>, make<Exact>};
}  // namespace

std::span<const PartInfo> estimates() { return kEstimates; }

std::unique_ptr<Estimate> make_estimate(std::string_view name, const PolicyInput& in) {
  return kMake[&choose(kEstimates, name, "estimate", {}) - kEstimates](in);
}

}  // namespace muster
