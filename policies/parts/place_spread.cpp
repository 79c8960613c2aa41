#include "parts/place.hpp"

namespace muster {

namespace {
/// Most free GPUs first, then lowest index: each task on the node that is emptiest at that moment.
class Spread final : public Placer {
 public:
  using Placer::Placer;

 private:
  Spot begin(const Want& w) const override { return {index().most() < w.gpus ? kNone : index().most(), 0}; }
  Spot seek(const Want& w, Spot from) const override {
    if (from.count == kNone) return {};
    for (uint32_t c = from.count, n = from.node;; c--, n = 0) {
      if (const NodeId at = next(w, c, n); at != kNone) return {c, at};
      if (c <= w.gpus) return {};
    }
  }
  uint64_t rank(Spot s) const override { return uint64_t(~s.count) << 32 | s.node; }
  bool stays() const override { return false; }
  bool emptiest_domain_first() const override { return true; }
};
}  // namespace

std::unique_ptr<Placer> make_spread(const PolicyInput& in) { return std::make_unique<Spread>(in.topology); }

}  // namespace muster
