#include "parts/place.hpp"

namespace muster {

namespace {
/// First fit: lowest index.
class First final : public Placer {
 public:
  using Placer::Placer;

 private:
  Spot begin(const Want&) const override { return {0, 0}; }
  Spot seek(const Want& w, Spot from) const override { return lowest(w, from.node); }
  uint64_t rank(Spot s) const override { return s.node; }
};
}  // namespace

std::unique_ptr<Placer> make_first(const PolicyInput& in) { return std::make_unique<First>(in.topology); }

}  // namespace muster
