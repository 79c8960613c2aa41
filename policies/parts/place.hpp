// The placers, one function each.
#pragma once
#include "parts/placer.hpp"

namespace muster {

std::unique_ptr<Placer> make_pack(const PolicyInput& in);
std::unique_ptr<Placer> make_spread(const PolicyInput& in);
std::unique_ptr<Placer> make_first(const PolicyInput& in);
std::unique_ptr<Placer> make_random(const PolicyInput& in);
std::unique_ptr<Placer> make_uniform(const PolicyInput& in);
std::unique_ptr<Placer> make_fgd(const PolicyInput& in);
std::unique_ptr<Placer> make_best_fit(const PolicyInput& in);
std::unique_ptr<Placer> make_dot_product(const PolicyInput& in);
std::unique_ptr<Placer> make_gpu_packing(const PolicyInput& in);
std::unique_ptr<Placer> make_gpu_clustering(const PolicyInput& in);
std::unique_ptr<Placer> make_volcano_binpack(const PolicyInput& in);
std::unique_ptr<Placer> make_most_allocated(const PolicyInput& in);
std::unique_ptr<Placer> make_least_allocated(const PolicyInput& in);
std::unique_ptr<Placer> make_capacity_ratio(const PolicyInput& in);
std::unique_ptr<Placer> make_consolidate(const PolicyInput& in);
std::unique_ptr<Placer> make_topology_required(const PolicyInput& in);
std::unique_ptr<Placer> make_topology_preferred(const PolicyInput& in);

}  // namespace muster
