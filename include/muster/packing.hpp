// Whether unequal tasks fit nodes that have different things left: bin packing, exactly or up to a limit.
#pragma once
#include <span>
#include <vector>

#include "muster/resources.hpp"

namespace muster {

/// Equal tasks. need[kGpu] counts too: whole GPUs times 1000.
struct PackingItems {
  uint32_t count = 0;
  Resources need;
};
/// Equal nodes.
struct PackingBins {
  uint32_t count = 0;
  Resources room;
  uint32_t suits = ~uint32_t{0};  ///< bit i: they are of a kind that items i can use
};
/// One node and how many of each sort of items it takes.
struct PackingFill {
  uint32_t bins = 0;  ///< which bins
  std::vector<uint32_t> items;
};
enum class Packing : uint8_t { fits, no, limit };

/// Puts all items into bins, `one_each`: no bin takes two. At most 32 sorts of items. Exact for up to 8 sorts or 32 items, unless 300,000 steps do
/// not decide it; else at most 100,000 steps are taken. Bins are filled one by one in the order given, each with a set of items to which
/// none can be added, larger items first.
Packing pack_items(std::span<const PackingItems> items, std::span<const PackingBins> bins, bool one_each, std::vector<PackingFill>& out);

}  // namespace muster
