#include <algorithm>

#include "parts/place.hpp"
#include "parts/place_score.hpp"

namespace muster {

namespace {
/// GPUs in use before free ones, nodes in use before idle ones (MLaaS in the Wild, Weng et al., NSDI 2022; GpuPackingScore of the artifact
/// of FGD): a share on a GPU in use scores 100 less a tenth of the per cent left of it, at least 50; free GPUs of a node in use 50 less the GPUs
/// taken, at least 33; an idle node 33 less its GPUs. A task without a GPU scores 0 everywhere.
class GpuPacking final : public ScoringPlacer {
 public:
  using ScoringPlacer::ScoringPlacer;

 private:
  int64_t score(const State& s, const Task& t) override {
    if (t.total_milli() == 0) return 0;
    const auto free = int64_t{s.whole};
    if (s.whole == s.installed) return std::max(33 - free, free);
    int64_t taken = t.gpus;
    if (t.milli) {
      int32_t least = kMilli;
      for (const int32_t left : s.parts)
        if (left >= t.milli) least = std::min(least, left);
      if (least < kMilli) return std::max<int64_t>(100 - least / 10 / 10, 50);
      taken = 1;
    }
    return std::max<int64_t>(50 - taken, 33);
  }
};
}  // namespace

std::unique_ptr<Placer> make_gpu_packing(const PolicyInput& in) { return std::make_unique<GpuPacking>(in); }

}  // namespace muster
