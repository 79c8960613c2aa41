// Where the GPUs of a placement meet in the tree.
#pragma once
#include "muster/share.hpp"
#include "muster/topology.hpp"

namespace muster {

/// Level of what no domain but the whole cluster has in it.
inline constexpr size_t kCluster = ~size_t{0};

/// The lowest and the highest GPU that a placement touches, shares included.
struct GpuSpan {
  GpuId first = kNone, last = 0;
  bool empty() const { return first == kNone; }
  bool single() const { return first == last; }
};
inline GpuSpan gpu_span(const Topology& t, Pieces p) {
  GpuSpan s;
  for (const Piece& q : p) {
    const uint64_t mask = q.mask();
    if (!mask) continue;
    const GpuId base = t.first_gpu(q.node) + 64u * q.word;
    s.first = std::min(s.first, base + unsigned(std::countr_zero(mask)));
    s.last = std::max(s.last, base + unsigned(std::bit_width(mask)) - 1);
  }
  return s;
}

/// Level of the lowest domain that has all of them: an index into Topology::levels(); levels().size() for one GPU or none; kCluster. The GPUs of a
/// domain are an interval, so the two at the ends decide.
inline size_t meet(const Topology& t, GpuSpan s) {
  size_t level = t.levels().size();
  if (s.empty() || s.single()) return level;
  while (level-- > 0)
    if (t.domain_of_gpu(level, s.first) == t.domain_of_gpu(level, s.last)) return level;
  return kCluster;
}
inline size_t meet(const Topology& t, Pieces p) { return meet(t, gpu_span(t, p)); }

/// "switch", "rack"; what is above all levels is the "cluster", and below them the "gpu".
inline std::string_view level_name(const Topology& t, size_t level) {
  return level == kCluster ? "cluster" : level == t.levels().size() ? "gpu" : std::string_view(t.levels()[level]);
}

}  // namespace muster
