#include <algorithm>

#include "parts/place.hpp"
#include "parts/place_score.hpp"

namespace muster {

namespace {
/// Jobs of one size together (Gandiva, Xiao et al., OSDI 2018; GpuClusteringScore of the artifact of FGD). Sizes are a share, 1, 2, ... GPUs a
/// task: a node with jobs of the task's size alone scores 75, with its and other sizes 50, an idle one 25, with other sizes 0; to
/// that 25 x (GPUs of the largest node - GPUs left here) / GPUs of the largest node. A task without a GPU scores 0 everywhere.
class GpuClustering final : public ScoringPlacer {
 public:
  explicit GpuClustering(const PolicyInput& in) : ScoringPlacer(in), most_(most_milli()) {}

 private:
  int64_t score(const State& s, const Task& t) override {
    if (t.total_milli() == 0) return 0;
    const uint64_t own = tag(t.gpus), tags = sizes_on(s.node);
    const int64_t tier = tags == own ? 75 : (tags & own) ? 50 : tags == 0 ? 25 : 0;
    return tier + 25 * (most_ - s.milli) / most_;
  }
  static uint64_t tag(uint32_t gpus) { return uint64_t{1} << std::min(gpus, 63u); }  // bit 0: shares
  /// The size a job with whole GPUs was scored as.
  static uint32_t size_of(const Shape& s) {
    return s.nodes == Nodes::one && s.total_milli() == int64_t{s.total_gpus} * kMilli ? s.total_gpus : s.groups[0].gpus;
  }
  /// Sizes of the jobs that hold GPUs of the node, as bits.
  uint64_t sizes_on(NodeId n) const {
    uint64_t tags = 0;
    const GpuId first = topology().first_gpu(n), end = first + topology().gpus_of(n);
    for (GpuId g = first; g < end; g++) {
      // On a cluster as it will be a GPU may be held for somebody who is no job.
      if (const JobId j = cluster().holder(g); j < now().jobs()) tags |= tag(size_of(now().shape(j)));
      if (const SharedGpu* x = cluster().shared(g); x && !x->jobs.empty()) tags |= tag(0);
    }
    return tags;
  }
  int64_t most_;
};
}  // namespace

std::unique_ptr<Placer> make_gpu_clustering(const PolicyInput& in) { return std::make_unique<GpuClustering>(in); }

}  // namespace muster
