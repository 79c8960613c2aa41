// What it costs a task to reach across the NUMA domains of its node.
#pragma once
#include "model/table.hpp"

namespace muster {

/// A factor on the time of jobs one of whose tasks has GPUs of several NUMA domains: the level "numa", else "socket". Published costs are
/// 30 to 50 per cent, a factor of 1.3 to 1.5; 1 is none.
class NumaCrossing {
 public:
  static Parameter parameter() { return {"numa_crossing", "1", "times longer when a task has GPUs of several NUMA domains", {}}; }
  NumaCrossing(const Topology& t, const Config& given);
  /// Millionths of the time without a crossing.
  int64_t factor(const Shape& s, Pieces at) const { return factor_ == kFullSpeed ? kFullSpeed : crosses(s, at) ? factor_ : kFullSpeed; }

 private:
  bool crosses(const Shape& s, Pieces at) const;
  const Topology& topology_;
  size_t level_;
  int64_t factor_;
};

}  // namespace muster
