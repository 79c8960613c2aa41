// A number of equal pods on a tree of domains: Kueue's topology-aware scheduling.
#pragma once
#include <span>
#include <utility>
#include <vector>

#include "muster/types.hpp"

namespace muster::kueue {

/// Domains by level from the top; the last level are leaves. Numbers inside a level are in the order of their names.
struct DomainTree {
  std::vector<std::vector<uint32_t>> parent;  ///< by level, then domain: its domain one level up (kNone at the top level)
};

struct TopologyRequest {
  enum class Mode : uint8_t {
    required,       ///< one domain of the level
    preferred,      ///< the lowest level above it that has one domain, else several at the top
    unconstrained,  ///< anywhere, leaving as little free as may be
  } mode = Mode::unconstrained;
  size_t level = 0;  ///< of required and preferred
  /// Groups of `size` pods that stay in one domain of `level`; the coarsest first, each inside the one before.
  struct Slice {
    size_t level;
    int64_t size;
  };
  std::vector<Slice> slices;
  int64_t pods = 1;
};

/// Which leaves take how many pods (in order of leaf), given what each could hold; empty when it cannot be met, or contradicts itself.
/// `least_free`: unconstrained requests take the smallest rest first (TASProfileMixed, the default since Kueue 0.15).
/// Rules: Kueue, commit ff69552e, TAS without balanced placement.
std::vector<std::pair<uint32_t, int64_t>> assign(const DomainTree& tree, std::span<const int64_t> leaf_capacity,
                                                 const TopologyRequest& request, bool least_free = true);

}  // namespace muster::kueue
