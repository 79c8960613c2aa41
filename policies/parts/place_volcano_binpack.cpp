#include "parts/place.hpp"
#include "parts/place_weigh.hpp"

namespace muster {

namespace {
/// Volcano's binpack plugin (commit ed72c7c8, volcano::binpack_score): 100 x sum w (used + request) / capacity / sum w, over the kinds that
/// the task asks for. A node that has none of a kind, or does not limit it, has it in the divisor only. Scores that differ by less than a
/// billionth of a point are equal; Volcano compares doubles.
class VolcanoBinpack final : public WeighingPlacer {
 public:
  using WeighingPlacer::WeighingPlacer;

 private:
  int64_t score(const State& s, const Task& t) override {
    constexpr int64_t kPoints = 100'000'000'000, kFiner = 1'000'000;
    Int128 sum = 0;
    int64_t weights = 0;
    for (const Load& l : loads(s, t)) {
      if (l.request == 0) continue;
      weights += l.weight;
      if (l.capacity > 0 && l.capacity < Cluster::kPlenty) sum += Int128{kPoints} * kFiner * l.weight * (l.used + l.request) / l.capacity;
    }
    return weights ? int64_t((sum / weights + kFiner / 2) / kFiner) : 0;
  }
};
}  // namespace

std::unique_ptr<Placer> make_volcano_binpack(const PolicyInput& in) { return std::make_unique<VolcanoBinpack>(in); }

}  // namespace muster
