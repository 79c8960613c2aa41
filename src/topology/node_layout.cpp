#include "muster/node_layout.hpp"

#include <algorithm>

namespace muster {

const NodeLayout& NodeLayouts::draw(NodeId n) {
  const GpuId base = topology_.first_gpu(n);
  const uint32_t gpus = topology_.gpus_of(n);
  const size_t top = topology_.node_level(), levels = topology_.levels().size() - top;
  std::vector<uint32_t> key;
  for (size_t l = 0; l < levels && gpus; l++)
    for (uint32_t end = 0; end < gpus; key.push_back(end)) {
      const Domain& d = topology_.domains(top + l)[topology_.domain_of_gpu(top + l, base + end)];
      end = d.gpu_end - base;
    }
  const size_t at = size_t(std::find(keys_.begin(), keys_.end(), key) - keys_.begin());
  layout_of_[n] = uint32_t(at);
  if (at < keys_.size()) return layouts_[at];
  NodeLayout& y = layouts_.emplace_back();
  y.levels_.resize(levels), y.number_ = uint32_t(at);
  size_t next = 0;
  for (size_t l = 0; l < levels; l++)
    for (uint32_t from = 0; from < gpus; from = key[next++]) {
      NodeLayout::Level& level = y.levels_[l];
      level.parts.push_back({from, key[next], l ? y.levels_[l - 1].of_gpu[from] : 0, bits_between(from / 64, from, key[next])});
      level.of_gpu.resize(key[next], uint32_t(level.parts.size() - 1));
    }
  keys_.push_back(std::move(key));
  return y;
}

}  // namespace muster
