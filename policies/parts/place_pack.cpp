#include "parts/place.hpp"

namespace muster {

namespace {
/// Best fit: fewest free GPUs first, then lowest index.
class Pack final : public Placer {
 public:
  using Placer::Placer;

 private:
  Spot begin(const Want& w) const override { return {index().count_from(w.gpus), 0}; }
  Spot seek(const Want& w, Spot from) const override {
    for (uint32_t c = from.count, n = from.node; c != kNone; c = index().count_from(c + 1), n = 0)
      if (const NodeId at = next(w, c, n); at != kNone) return {c, at};
    return {};
  }
  uint64_t rank(Spot s) const override { return uint64_t(s.count) << 32 | s.node; }
};
}  // namespace

std::unique_ptr<Placer> make_pack(const PolicyInput& in) { return std::make_unique<Pack>(in.topology); }

}  // namespace muster
