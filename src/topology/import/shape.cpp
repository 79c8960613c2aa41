#include "topology/import/shape.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace muster::import {
namespace {

/// Numbers parts by first GPU, so that equal divisions have equal numbers.
std::vector<uint32_t> numbered(const std::vector<uint32_t>& of_gpu) {
  std::map<uint32_t, uint32_t> number;
  std::vector<uint32_t> r;
  for (const uint32_t part : of_gpu) r.push_back(number.try_emplace(part, uint32_t(number.size())).first->second);
  return r;
}

TopologySpec::Vertex vertex(const std::vector<Partition>& levels, size_t at, const std::vector<uint32_t>& gpus, std::vector<uint32_t>& order) {
  TopologySpec::Vertex v;
  if (at == levels.size()) {
    v.gpus = uint32_t(gpus.size());
    order.insert(order.end(), gpus.begin(), gpus.end());
    return v;
  }
  std::map<uint32_t, std::vector<uint32_t>> parts;  // numbered by first GPU, hence in that order
  for (const uint32_t g : gpus) parts[levels[at].of_gpu[g]].push_back(g);
  for (const auto& [part, inside] : parts) v.children.push_back(vertex(levels, at + 1, inside, order));
  return v;
}

}  // namespace

bool NodeShape::renumbered() const { return !std::is_sorted(order.begin(), order.end()); }

NodeShape node_shape(uint32_t gpus, std::vector<Partition> partitions) {
  std::vector<Partition> kept;
  for (Partition& p : partitions) {
    p.of_gpu = numbered(p.of_gpu);
    const size_t parts = std::set<uint32_t>(p.of_gpu.begin(), p.of_gpu.end()).size();
    if (parts <= 1 || parts == gpus) continue;
    if (kept.empty() || kept.back().of_gpu != p.of_gpu)
      kept.push_back(std::move(p));
    else if (kept.back().rank < p.rank)
      kept.back() = std::move(p);
  }
  NodeShape s;
  for (const Partition& p : kept) s.levels.push_back(p.level);
  std::vector<uint32_t> all(gpus);
  std::iota(all.begin(), all.end(), 0U);
  s.node = vertex(kept, 0, all, s.order);
  return s;
}

std::string renumbering(const NodeShape& shape) {
  std::string s = "GPUs are renumbered, since those of a domain are neighbours: gpu0 to gpu" + std::to_string(shape.order.size() - 1) + " are ";
  for (size_t i = 0; i < shape.order.size(); i++) s += (i ? ", GPU" : "GPU") + std::to_string(shape.order[i]);
  return s;
}

}  // namespace muster::import
