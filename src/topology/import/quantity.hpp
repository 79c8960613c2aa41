// Quantities as Kubernetes writes them.
#pragma once
#include <optional>
#include <string_view>

#include "muster/types.hpp"

namespace muster::import {

/// "7900m", "512Gi", "1e3" in thousandths; rounds down. Empty when it is none, or negative.
std::optional<Int128> quantity(std::string_view s);

}  // namespace muster::import
