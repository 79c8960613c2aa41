#include "parts/none.hpp"

namespace muster {

namespace {
constexpr PartInfo kQuotas[] = {{"none", "nobody is limited"}};
constexpr PartInfo kPreemptions[] = {{"none", "a job that runs is left alone"}};
}  // namespace

std::span<const PartInfo> quotas() { return kQuotas; }
std::span<const PartInfo> preemptions() { return kPreemptions; }

}  // namespace muster
