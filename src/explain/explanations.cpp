// The table of explanations.
#include "explain/explanation.hpp"

namespace muster {

std::span<const Explanation> explanations() { return {}; }

}  // namespace muster
