#include "parts/hived_topology.hpp"

#include <algorithm>
#include <map>

namespace muster {

namespace {

/// Builds types bottom up; equal domains get equal types.
class TypeNamer {
 public:
  explicit TypeNamer(HivedConfig& config) : config_(config) {}
  std::string of(const std::string& level, const std::string& child, int32_t count, bool node) {
    const auto key = std::make_tuple(level, child, count);
    if (const auto it = known_.find(key); it != known_.end()) return it->second;
    const int32_t number = ++numbers_[level];
    const std::string name = number == 1 ? level : level + "-" + std::to_string(number);
    config_.types.push_back({name, child, count, node});
    return known_.emplace(key, name).first->second;
  }

 private:
  HivedConfig& config_;
  std::map<std::tuple<std::string, std::string, int32_t>, std::string> known_;
  std::map<std::string, int32_t> numbers_;
};

class Cutter {
 public:
  Cutter(const Topology& t, HivedConfig& config) : t_(t), config_(config), types_(config) {
    const size_t levels = t.levels().size();
    children_.resize(levels);
    for (size_t l = 1; l < levels; l++) {
      children_[l - 1].resize(t.domains(l - 1).size());
      for (uint32_t d = 0; d < t.domains(l).size(); d++) children_[l - 1][t.domains(l)[d].parent].push_back(d);
    }
  }

  void all() {
    for (uint32_t d = 0; d < t_.domains(0).size(); d++) {
      HivedConfig::Cell cell;
      if (above(0, d, cell)) config_.cells.push_back(std::move(cell));
    }
  }

 private:
  /// The type of what is inside a domain below the node, or empty when its parts differ.
  std::string inside(size_t level, uint32_t d, const std::string& leaf) {
    const Domain& domain = t_.domains(level)[d];
    const auto gpus = int32_t(domain.gpu_end - domain.gpu_begin);
    if (level + 1 == t_.levels().size()) return gpus ? types_.of(t_.levels()[level], leaf, gpus, false) : std::string();
    std::string type;
    for (const uint32_t child : children_[level][d]) {
      const std::string one = inside(level + 1, child, leaf);
      if (one.empty() || (!type.empty() && one != type)) return {};
      type = one;
    }
    return type.empty() ? type : types_.of(t_.levels()[level], type, int32_t(children_[level][d].size()), false);
  }

  /// Fills in the cell of a domain at or above the node. False: it is none, and what is in it went to the top.
  bool above(size_t level, uint32_t d, HivedConfig::Cell& cell) {
    const Domain& domain = t_.domains(level)[d];
    if (level == t_.node_level()) {
      const NodeId n = domain.node_begin;
      const auto gpus = int32_t(t_.gpus_of(n));
      if (gpus == 0) return false;
      const std::string leaf = t_.kind(n).gpu_type.empty() ? "gpu" : t_.kind(n).gpu_type;
      std::string type;
      int32_t count = 0;
      if (level + 1 < t_.levels().size()) {
        for (const uint32_t child : children_[level][d]) {
          const std::string one = inside(level + 1, child, leaf);
          if (one.empty() || (!type.empty() && one != type)) {
            type.clear();
            break;
          }
          type = one, count++;
        }
      }
      if (type.empty()) type = leaf, count = gpus;
      cell.type = types_.of(t_.levels()[level], type, count, true);
      cell.address = t_.node_name(n);
      return true;
    }
    std::vector<HivedConfig::Cell> parts;
    bool alike = true;
    for (const uint32_t child : children_[level][d]) {
      HivedConfig::Cell part;
      if (!above(level + 1, child, part)) {
        alike &= t_.domains(level + 1)[child].gpu_begin == t_.domains(level + 1)[child].gpu_end;
        continue;
      }
      alike &= parts.empty() || part.type == parts[0].type;
      parts.push_back(std::move(part));
    }
    if (!alike || parts.empty()) {
      for (HivedConfig::Cell& part : parts) config_.cells.push_back(std::move(part));
      return false;
    }
    cell.type = types_.of(t_.levels()[level], parts[0].type, int32_t(parts.size()), false);
    cell.address = domain.name;
    for (HivedConfig::Cell& part : parts) part.type.clear();
    cell.children = std::move(parts);
    return true;
  }

  const Topology& t_;
  HivedConfig& config_;
  TypeNamer types_;
  std::vector<std::vector<std::vector<uint32_t>>> children_;  // [level][domain]
};

}  // namespace

HivedConfig hived_cells(const Topology& t) {
  HivedConfig config;
  Cutter(t, config).all();
  if (config.cells.empty()) throw InputError("policy hived wants a cluster with GPUs");
  return config;
}

LeafMap map_leaves(const CellForest& f, const Topology& t) {
  LeafMap map;
  map.gpu.assign(f.cells().size(), kNone);
  map.leaf.assign(t.gpus(), kNoCell);
  for (const CellForest::Node& node : f.nodes()) {
    std::vector<int32_t> chains;  // of the leaves, in order of appearance
    std::vector<uint32_t> next;
    for (const int32_t x : node.leaves) {
      auto it = std::find(chains.begin(), chains.end(), f.info(x).tree);
      const auto i = size_t(it - chains.begin());
      if (it == chains.end()) chains.push_back(f.info(x).tree), next.push_back(0);
      const std::string name = i == 0 ? node.name : node.name + "." + std::to_string(i + 1);
      const NodeId n = t.find_node(name);
      if (n == kNone) throw InputError("HiveD has cells on node " + name + ", which the topology does not have");
      if (next[i] >= t.gpus_of(n))
        throw InputError("HiveD has more cells on node " + name + " than it has GPUs in the topology (" + std::to_string(t.gpus_of(n)) +
                         ")");
      const GpuId g = t.first_gpu(n) + next[i]++;
      map.gpu[size_t(x)] = g;
      map.leaf[g] = x;
    }
  }
  return map;
}

}  // namespace muster
