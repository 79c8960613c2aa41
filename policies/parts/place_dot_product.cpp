#include <algorithm>

#include "parts/place.hpp"
#include "parts/place_score.hpp"

namespace muster {

namespace {
/// Least dot product of what the task wants and what the node has left, CPUs and GPUs each as a part of the largest node's (Tetris, Grandl et al.,
/// SIGCOMM 2014, turned to packing; DotProductScore of the artifact of FGD with dimensions merged, normalised by the maximum): the whole part of
/// 100 x (1 - (CPUs x CPUs + GPUs x GPUs) / 2).
class DotProduct final : public ScoringPlacer {
 public:
  explicit DotProduct(const PolicyInput& in) : ScoringPlacer(in), cpus_(most_cpus()), gpus_(most_milli()) {}

 private:
  int64_t score(const State& s, const Task& t) override {
    const Int128 cpu = topology().kind(s.node).limits_cpu ? Int128{s.cpu} * t.cpu : 0, gpu = Int128{s.milli} * t.total_milli();
    const Int128 all = 2 * cpus_ * cpus_ * gpus_ * gpus_;
    return int64_t(100 * (all - cpu * gpus_ * gpus_ - gpu * cpus_ * cpus_) / all);
  }
  Int128 cpus_, gpus_;
};
}  // namespace

std::unique_ptr<Placer> make_dot_product(const PolicyInput& in) { return std::make_unique<DotProduct>(in); }

}  // namespace muster
