#include "workload/best_level.hpp"

#include <set>

#include "muster/fits.hpp"
#include "topology/meet.hpp"

namespace muster {

BestLevel::BestLevel(const Topology& t) : topology_(t), sorts_(t.levels().size()) {
  for (size_t level = 0; level < sorts_.size(); level++) {
    std::set<std::vector<uint32_t>> seen;  // kinds and numbers of nodes, and the GPUs of a domain inside a node
    std::vector<uint32_t> sort;
    for (uint32_t i = 0; i < t.domains(level).size(); i++) {
      const Domain& d = t.domains(level)[i];
      sort.assign(1, d.gpu_end - d.gpu_begin);
      if (level <= t.node_level()) {
        sort.resize(1 + t.kinds().size());
        for (NodeId n = d.node_begin; n < d.node_end; n++) sort[1 + t.kind_id(n)]++;
      } else {
        sort.push_back(t.kind_id(d.node_begin));
      }
      if (seen.insert(sort).second) sorts_[level].push_back(i);
    }
  }
}

uint32_t BestLevel::domain_of(const Shape& s, size_t level) const {
  if (level >= sorts_.size()) return kNone;
  for (const uint32_t i : sorts_[level]) {
    const Domain& d = topology_.domains(level)[i];
    if (d.gpu_end - d.gpu_begin < s.total_gpus) continue;
    const NodeId end = level <= topology_.node_level() ? d.node_end : d.node_begin + 1;  // below the node: its node as well
    if (never_fits(s, topology_, d.node_begin, end) == Reason::none) return i;
  }
  return kNone;
}

size_t BestLevel::of(const Shape& s) const {
  if (s.total_gpus < 2) return sorts_.size();
  for (size_t level = sorts_.size(); level-- > 0;)
    if (domain_of(s, level) != kNone) return level;
  return kCluster;
}

}  // namespace muster
