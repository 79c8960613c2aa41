#include "parts/place.hpp"

namespace muster {

namespace {
constexpr PartInfo kPlacers[] = {
    {"pack", "best fit: the node with fewest free GPUs, then lowest index"},
    {"spread", "the node with most free GPUs, then lowest index"},
    {"first", "first fit: the node of lowest index"},
    {"random", "the first node that fits from a random one on; seeded"},
};
constexpr std::unique_ptr<Placer> (*kMake[])(const Topology&, uint64_t) = {make_pack, make_spread, make_first, make_random};
}  // namespace

std::span<const PartInfo> placers() { return kPlacers; }

std::unique_ptr<Placer> make_placer(std::string_view name, const Topology& t, uint64_t seed) {
  return kMake[&choose(kPlacers, name, "place", {}) - kPlacers](t, seed);
}

}  // namespace muster
