// Who comes first in the queue.
#pragma once
#include "parts/estimate.hpp"

namespace muster {

/// Orders of a queue. Equal keys: earlier submit, then trace order (which is the order of job ids).
enum class Order : uint8_t { fifo, sjf, ljf, largest, smallest, priority };

std::span<const PartInfo> orders();
Order order_called(std::string_view name);

/// The order's key of `j`: smaller first. Always below WinnerTree::kOut.
int64_t order_key(Order o, Estimate e, const View& now, JobId j);

}  // namespace muster
