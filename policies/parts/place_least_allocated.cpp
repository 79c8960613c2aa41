#include "parts/place.hpp"
#include "parts/place_allocated.hpp"

namespace muster {

namespace {
/// Kubernetes' NodeResourcesFit with the strategy LeastAllocated: favours nodes that are empty.
class LeastAllocated final : public AllocatedPlacer {
 public:
  using AllocatedPlacer::AllocatedPlacer;

 private:
  int64_t points(int64_t used, int64_t capacity) const override { return 100 * (capacity - used) / capacity; }
};
}  // namespace

std::unique_ptr<Placer> make_least_allocated(const PolicyInput& in) { return std::make_unique<LeastAllocated>(in); }

}  // namespace muster
