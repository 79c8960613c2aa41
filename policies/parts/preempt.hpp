// Who makes way for whom.
#pragma once
#include "parts/blocked.hpp"

namespace muster {

std::span<const PartInfo> preemptions();

/// The form of `list` in which jobs later in the order make way for earlier ones. `stop`: nobody overtakes a job that does not fit even so.
std::unique_ptr<Policy> make_preempting(ListParts p, bool stop);

}  // namespace muster
