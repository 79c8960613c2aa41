#include "parts/place.hpp"
#include "parts/place_allocated.hpp"

namespace muster {

namespace {
/// Kubernetes' NodeResourcesFit with the strategy MostAllocated: favours nodes that are full (bin-packing).
class MostAllocated final : public AllocatedPlacer {
 public:
  using AllocatedPlacer::AllocatedPlacer;

 private:
  int64_t points(int64_t used, int64_t capacity) const override { return 100 * used / capacity; }
};
}  // namespace

std::unique_ptr<Placer> make_most_allocated(const PolicyInput& in) { return std::make_unique<MostAllocated>(in); }

}  // namespace muster
