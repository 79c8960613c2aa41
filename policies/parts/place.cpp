#include "parts/place.hpp"

#include <iterator>

#include "parts/place_score.hpp"

namespace muster {

namespace {
constexpr PartInfo kPlacers[] = {
    {"pack", "best fit: the node with fewest free GPUs, then lowest index"},
    {"spread", "the node with most free GPUs, then lowest index"},
    {"first", "first fit: the node of lowest index"},
    {"random", "the first node that fits from a random one on; seeded"},
    {"uniform", "any of the nodes that fit, each equally likely; seeded"},
    {"fgd", "fragmentation gradient descent: the node whose fragmentation grows least", false, false, kScoringParameters},
    {"best-fit", "the node with least CPUs and GPUs left over, weighed alike", false, false, kScoringParameters},
    {"dot-product", "the node whose rest is least like the request", false, false, kScoringParameters},
    {"gpu-packing", "GPUs in use before free ones, nodes in use before idle ones", false, false, kScoringParameters},
    {"gpu-clustering", "the node whose jobs are of the same size", false, false, kScoringParameters},
};
constexpr std::unique_ptr<Placer> (*kMake[])(const PolicyInput&) = {make_pack, make_spread,   make_first,       make_random,      make_uniform,
                                                                    make_fgd,  make_best_fit, make_dot_product, make_gpu_packing, make_gpu_clustering};
static_assert(std::size(kMake) == std::size(kPlacers));
}  // namespace

std::span<const PartInfo> placers() { return kPlacers; }

std::unique_ptr<Placer> make_placer(std::string_view name, const PolicyInput& in) {
  return kMake[&choose(kPlacers, name, "place", {}) - kPlacers](in);
}

std::unique_ptr<Placer> make_placer(std::string_view name, const Topology& t, uint64_t seed) {
  static const Workload kNoJobs;
  return make_placer(name, PolicyInput{t, kNoJobs, {}, seed});
}

}  // namespace muster
