#include "topology/import/shape.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

namespace muster::import {
namespace {

/// Numbers parts by first GPU, so that equal divisions have equal numbers.
std::vector<uint32_t> numbered(const std::vector<uint32_t>& of_gpu) {
  std::map<uint32_t, uint32_t> number;
  std::vector<uint32_t> r;
  for (const uint32_t part : of_gpu) r.push_back(number.try_emplace(part, uint32_t(number.size())).first->second);
  return r;
}

TopologySpec::Vertex vertex(const std::vector<Partition>& levels, size_t at, const std::vector<uint32_t>& gpus,
                            std::vector<uint32_t>& order) {
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
  std::vector<uint32_t> before(gpus);
  for (Partition& p : partitions) {
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> cut;
    for (uint32_t g = 0; g < gpus; g++) p.of_gpu[g] = cut.try_emplace({before[g], p.of_gpu[g]}, uint32_t(cut.size())).first->second;
    before = p.of_gpu = numbered(p.of_gpu);
    const size_t parts = std::set<uint32_t>(p.of_gpu.begin(), p.of_gpu.end()).size();
    if (parts <= 1 || parts == gpus) continue;
    if (kept.empty() || kept.back().of_gpu != p.of_gpu) kept.push_back(std::move(p));
    else if (kept.back().rank < p.rank) kept.back() = std::move(p);
  }
  NodeShape s;
  for (const Partition& p : kept) s.levels.push_back(p.level);
  std::vector<uint32_t> all(gpus);
  std::iota(all.begin(), all.end(), 0U);
  s.node = vertex(kept, 0, all, s.order);
  return s;
}

NodeShape node_shape(uint32_t gpus, const std::vector<Container>& containers) {
  // Smallest first, so that what is inside a container comes before it.
  std::vector<const Container*> order;
  for (const Container& c : containers)
    if (c.gpus.size() > 1) order.push_back(&c);
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) { return a->gpus.size() < b->gpus.size(); });
  // Height of a PCI container above the GPUs, counting only those with more GPUs than the ones inside.
  std::vector<uint32_t> inner_height(gpus), inner_size(gpus);
  uint32_t highest = 0;
  const auto single = [&] {
    std::vector<uint32_t> r(gpus);
    std::iota(r.begin(), r.end(), 0U);
    return r;
  };
  struct Level {
    uint32_t height;
    const Container* container;
  };
  std::vector<Level> pci;
  for (const Container* c : order) {
    if (c->kind != Container::pci) continue;
    uint32_t height = 0;
    bool same = false;
    for (const uint32_t g : c->gpus) height = std::max(height, inner_height[g]), same = same || inner_size[g] == c->gpus.size();
    if (same) continue;
    height++;
    highest = std::max(highest, height);
    for (const uint32_t g : c->gpus) inner_height[g] = height, inner_size[g] = uint32_t(c->gpus.size());
    pci.push_back({height, c});
  }
  const auto label = [](std::vector<uint32_t>& of_gpu, const Container& c) {
    const uint32_t first = *std::min_element(c.gpus.begin(), c.gpus.end());
    for (const uint32_t g : c.gpus) of_gpu[g] = first;
  };
  std::vector<Partition> partitions;
  for (const auto& [kind, name, rank] :
       {std::tuple(Container::socket, "socket", 1), std::tuple(Container::numa, "numa", 0), std::tuple(Container::bridge, "bridge", 0)}) {
    Partition p{name, single(), rank};
    bool any = false;
    for (const Container* c : order)
      if (c->kind == kind) label(p.of_gpu, *c), any = true;
    if (!any) continue;
    partitions.push_back(std::move(p));
  }
  for (uint32_t height = highest; height > 0; height--) {
    Partition p{height == 1 ? "switch" : height == 2 ? "complex" : "complex" + std::to_string(height), single(), height == 1 ? 3 : 2};
    for (const Level& l : pci)
      if (l.height <= height) label(p.of_gpu, *l.container);
    partitions.push_back(std::move(p));
  }
  return node_shape(gpus, std::move(partitions));
}

bool set_nvlink(NodeLinks& links, const std::vector<std::vector<uint32_t>>& counts) {
  constexpr int64_t kOneLink = 25'000;  // MB/s
  constexpr uint64_t kMostLinks = 18;
  const auto n = uint32_t(counts.size());
  uint32_t least = kNone, most = 0;
  for (uint32_t a = 0; a < n; a++)
    for (uint32_t b = a + 1; b < n; b++) {
      const uint32_t count = std::max(counts[a][b], counts[b][a]);
      least = std::min(least, count), most = std::max(most, count);
      if (count) links.pairs.push_back({a, b, count});
    }
  if (n > 1) links.nvlink = most ? NodeLinks::NvLink::pairs : NodeLinks::NvLink::none;
  if (n > 1 && least == most && uint64_t{most} * (n - 1) > kMostLinks) links.nvlink = NodeLinks::NvLink::all, links.pairs.clear();
  if (most) links.nvlink_rate.mb_s = links.nvlink == NodeLinks::NvLink::all ? most * kOneLink : kOneLink;
  return most > 0;
}

std::string renumbering(const NodeShape& shape) {
  std::string s =
      "GPUs are renumbered, since those of a domain are neighbours: gpu0 to gpu" + std::to_string(shape.order.size() - 1) + " are ";
  for (size_t i = 0; i < shape.order.size(); i++) s += (i ? ", GPU" : "GPU") + std::to_string(shape.order[i]);
  return s;
}

}  // namespace muster::import
