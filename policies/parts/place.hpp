// The placers, one function each.
#pragma once
#include "parts/placer.hpp"

namespace muster {

std::unique_ptr<Placer> make_pack(const Topology& t, uint64_t seed);
std::unique_ptr<Placer> make_spread(const Topology& t, uint64_t seed);
std::unique_ptr<Placer> make_first(const Topology& t, uint64_t seed);
std::unique_ptr<Placer> make_random(const Topology& t, uint64_t seed);

}  // namespace muster
