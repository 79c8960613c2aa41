#include "muster/place_finder.hpp"

#include "parts/placer.hpp"

namespace muster {

PlaceFinder::PlaceFinder(std::string_view placer, const Topology& t, uint64_t seed) : placer_(make_placer(placer, t, seed)) {}
PlaceFinder::~PlaceFinder() = default;
Pieces PlaceFinder::find(const View& now, const Plan& plan, JobId j) { return placer_->find(now, plan, j); }
Reason PlaceFinder::why(const View& now, const Plan& plan, JobId j) { return placer_->why(now, plan, j); }

}  // namespace muster
