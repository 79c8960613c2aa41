// Slots whose only part so far is to do nothing.
#pragma once
#include "parts/part.hpp"

namespace muster {

std::span<const PartInfo> quotas();  ///< who may use how much: nobody is limited

}  // namespace muster
