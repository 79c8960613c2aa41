// What becomes of the queue when a job does not fit.
#pragma once
#include "parts/part.hpp"

namespace muster {

enum class Blocked : uint8_t {
  stop,  ///< nobody overtakes it
  skip,  ///< the next in order is tried
  drop,  ///< it is dropped, with the reason, and the next in order is tried
};

std::span<const PartInfo> blocked_choices();
Blocked blocked_called(std::string_view name);

}  // namespace muster
