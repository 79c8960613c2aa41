#include "parts/estimate.hpp"

namespace muster {

namespace {
constexpr PartInfo kEstimates[] = {
    {"trace", "what the user stated, whole; jobs without a statement come last"},
    {"exact", "the true run time left (the textbook's assumption)", false, true},
};
}  // namespace

std::span<const PartInfo> estimates() { return kEstimates; }

Estimate estimate_called(std::string_view name) { return Estimate(&choose(kEstimates, name, "estimate", {}) - kEstimates); }

}  // namespace muster
