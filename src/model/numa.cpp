#include "model/numa.hpp"

#include <algorithm>

namespace muster {

NumaCrossing::NumaCrossing(const Topology& t, const Config& given)
    : topology_(t), level_(t.levels().size()), factor_(ratio_of(given, "numa_crossing", kFullSpeed, kFullSpeed, 1000 * kFullSpeed)) {
  for (const char* name : {"socket", "numa"}) {
    const auto at = std::find(t.levels().begin(), t.levels().end(), name);
    if (at != t.levels().end() && size_t(at - t.levels().begin()) > t.node_level()) level_ = size_t(at - t.levels().begin());
  }
  if (level_ == t.levels().size() && factor_ != kFullSpeed)
    throw InputError(given.find("numa_crossing")->where + ": the topology has no level numa or socket below the node");
}

/// Tasks of a piece are alike and pack into the domains as well as they can: one crosses when not all of them find room.
bool NumaCrossing::crosses(const Shape& s, Pieces at) const {
  for (size_t i = 0; i < at.size();) {
    const Piece& p = at[i];
    const unsigned each = s.groups[p.group].gpus;
    uint32_t domain = kNone;
    unsigned tasks = 0, here = 0, inside = 0, gpus = 0;
    for (; i < at.size() && at[i].node == p.node && at[i].group == p.group; i++) {  // a large node has a piece every 64 GPUs
      if (at[i].share != Share::whole || each == 0) continue;
      tasks += at[i].tasks;
      for (uint64_t m = at[i].what; m; m &= m - 1) {
        const GpuId g = topology_.first_gpu(p.node) + 64u * at[i].word + unsigned(std::countr_zero(m));
        const uint32_t d = topology_.domain_of_gpu(level_, g);
        if (d != domain) inside += here / each, here = 0, domain = d;
        here++, gpus++;
      }
    }
    if (each == 0) continue;
    inside += here / each;
    // The last node of a row of whole nodes is filled in part; its one task has fewer GPUs than the others.
    if (tasks == 1 && gpus < each) inside = here == gpus;
    if (inside < tasks) return true;
  }
  return false;
}

}  // namespace muster
