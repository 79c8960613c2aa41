#include "parts/place_pack.hpp"

#include "parts/place.hpp"

namespace muster {

std::unique_ptr<Placer> make_pack(const PolicyInput& in) { return std::make_unique<Pack>(in.topology); }

}  // namespace muster
