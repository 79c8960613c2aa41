#include <algorithm>

#include "parts/place.hpp"
#include "parts/place_score.hpp"

namespace muster {

namespace {
/// Least left over of CPUs and GPUs, each as a part of the largest node's, weighed alike (BestFitScore of the artifact of FGD, USENIX ATC 2023):
/// the whole part of 100 x (1 - (CPUs left after / most + GPUs left after / most) / 2). CPUs that are not limited count as none left.
class BestFit final : public ScoringPlacer {
 public:
  explicit BestFit(const PolicyInput& in) : ScoringPlacer(in), cpus_(most_cpus()), gpus_(most_milli()) {}

 private:
  int64_t score(const State& s, const Task& t) override {
    const Int128 cpu = topology().kind(s.node).limits_cpu ? s.cpu - t.cpu : 0, gpu = s.milli - t.total_milli();
    return int64_t(100 * (2 * cpus_ * gpus_ - cpu * gpus_ - gpu * cpus_) / (2 * cpus_ * gpus_));
  }
  Int128 cpus_, gpus_;
};
}  // namespace

std::unique_ptr<Placer> make_best_fit(const PolicyInput& in) { return std::make_unique<BestFit>(in); }

}  // namespace muster
