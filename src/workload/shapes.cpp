// Shapes of rows on a cluster, and names in another order.
#include "muster/job.hpp"
#include "muster/topology.hpp"

namespace muster {

Names Names::permuted(const std::vector<uint32_t>& order) const {
  Names out;
  out.reserve(size(), text_.size());
  for (const uint32_t i : order) out.add((*this)[i]);
  return out;
}

void fit_shapes(Workload& w, const Topology& t) {
  for (auto& s : w.shapes) {
    const bool only_gpus = s.nodes == Nodes::one && s.groups.size() == 1 && s.groups[0].max_tasks == 1;
    if (only_gpus && s.total_gpus > t.most_gpus()) s.nodes = Nodes::whole;
  }
}

}  // namespace muster
