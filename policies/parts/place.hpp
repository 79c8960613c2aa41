// The placers, one function each.
#pragma once
#include "parts/placer.hpp"

namespace muster {

std::unique_ptr<Placer> make_pack(const PlacerInput& in);
std::unique_ptr<Placer> make_spread(const PlacerInput& in);
std::unique_ptr<Placer> make_first(const PlacerInput& in);
std::unique_ptr<Placer> make_random(const PlacerInput& in);
std::unique_ptr<Placer> make_consolidate(const PlacerInput& in);
std::unique_ptr<Placer> make_topology_required(const PlacerInput& in);
std::unique_ptr<Placer> make_topology_preferred(const PlacerInput& in);

}  // namespace muster
