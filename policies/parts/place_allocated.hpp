// Kubernetes' NodeResourcesFit scores.
#pragma once
#include "parts/place_weigh.hpp"

namespace muster {

/// The whole part of the weighed mean of whole points a kind: CPUs and memory always count, GPUs and named kinds for tasks that ask for
/// them, what the node has none of or does not limit never. A request for nothing is nothing (Kubernetes takes 100 milli-CPUs and 200 MB
/// for it).
class AllocatedPlacer : public WeighingPlacer {
 public:
  using WeighingPlacer::WeighingPlacer;

 protected:
  static bool counts(const Load& l) {
    return l.capacity > 0 && l.capacity < Cluster::kPlenty && (l.request || l.kind == kCpu || l.kind == kMem);
  }

 private:
  /// Points, 0 to 100, of a kind of which `used` is in use with the task.
  virtual int64_t points(int64_t used, int64_t capacity) const = 0;
  int64_t score(const State& s, const Task& t) override {
    int64_t sum = 0, weights = 0;
    for (const Load& l : loads(s, t))
      if (counts(l)) sum += l.weight * points(l.used + l.request, l.capacity), weights += l.weight;
    return weights ? sum / weights : 0;
  }
};

}  // namespace muster
