#include <algorithm>

#include "muster/fragmentation.hpp"
#include "parts/place.hpp"
#include "parts/place_score.hpp"

namespace muster {

namespace {
/// Fragmentation gradient descent (Weng et al., USENIX ATC 2023; the artifact's FGDScore): the node, and for a share the GPU, whose
/// fragmentation F_n(M) grows least, for the classes M that make up 95 % of the trace's tasks. The score is the whole part of
/// 100 / (1 + exp(-d)), d being the GPUs by which F_n(M) shrinks; it is found among exact thresholds of d.
class Fgd final : public ScoringPlacer {
 public:
  explicit Fgd(const PolicyInput& in) : ScoringPlacer(in), fragmentation_(task_classes(in.workload)) {
    for (const NodeKind& k : in.topology.kinds()) types_.push_back(fragmentation_.type(k.gpu_type));
    for (int k = 1; k < 100; k++)  // d > log(k / (100 - k)) gives k at least
      least_.push_back(portable_log(double(k) / double(100 - k)) * double(kMilli) * double(fragmentation_.tasks()));
  }

 private:
  int64_t score(const State& s, const Task& t) override {
    const uint32_t type = types_[topology().kind_id(s.node)];
    NodeLeft left = left_of(s);
    const int64_t before = fragmentation_.sum(left, type);
    left.cpu -= t.cpu;
    if (t.milli) return best_card(s, left, t, before, type).score;
    left.whole -= t.gpus;
    return scale(before - fragmentation_.sum(left, type));
  }
  uint32_t card(const State& s, const Task& t) override {
    const uint32_t type = types_[topology().kind_id(s.node)];
    NodeLeft left = left_of(s);
    const int64_t before = fragmentation_.sum(left, type);
    left.cpu -= t.cpu;
    return best_card(s, left, t, before, type).gpu;
  }
  static NodeLeft left_of(const State& s) { return {s.cpu, {}, s.whole, s.parts}; }
  int64_t scale(int64_t d) const { return std::upper_bound(least_.begin(), least_.end(), double(d)) - least_.begin(); }

  struct Best {
    int64_t score = -1;
    uint32_t gpu = kNone;
  };
  /// The GPU of the highest score, the lowest number among equals. `left`: the node without the task's CPUs.
  Best best_card(const State& s, NodeLeft left, const Task& t, int64_t before, uint32_t type) {
    Best best;
    const auto offer = [&](uint32_t gpu, NodeLeft after) {
      const int64_t score = scale(before - fragmentation_.sum(after, type));
      if (score > best.score || (score == best.score && gpu < best.gpu)) best = {score, gpu};
    };
    parts_.assign(s.parts.begin(), s.parts.end());
    left.parts = parts_;
    for (size_t i = 0; i < parts_.size(); i++) {
      if (parts_[i] < t.milli || std::find(s.parts.begin(), s.parts.begin() + ptrdiff_t(i), s.parts[i]) != s.parts.begin() + ptrdiff_t(i)) continue;
      parts_[i] -= t.milli;
      offer(s.gpus[i], left);
      parts_[i] += t.milli;
    }
    if (s.whole) {
      parts_.push_back(int32_t(kMilli) - t.milli);
      left.parts = parts_, left.whole--;
      offer(s.lowest, left);
    }
    return best;
  }

  Fragmentation fragmentation_;
  std::vector<uint32_t> types_;  // by kind of node
  std::vector<double> least_;
  std::vector<int32_t> parts_;
};
}  // namespace

std::unique_ptr<Placer> make_fgd(const PolicyInput& in) { return std::make_unique<Fgd>(in); }

}  // namespace muster
