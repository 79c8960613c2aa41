// Best fit.
#pragma once
#include "parts/placer.hpp"

namespace muster {

/// Best fit: fewest free GPUs first, then lowest index.
class Pack : public Placer {
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

}  // namespace muster
