// A cluster and its virtual clusters as HiveD is configured.
#pragma once
#include <string>
#include <vector>

#include "muster/config.hpp"

namespace muster {

/// Cell types, physical cells and the virtual clusters' quotas. Names are HiveD's; rules: hived.md of docs/policies.
struct HivedConfig {
  /// A kind of cell: so many children of another kind. A kind that is only ever a child is a leaf: one GPU.
  struct Type {
    std::string name, child;
    int32_t count = 0;
    bool is_node = false;
  };
  /// A physical cell. Children that are not listed are generated; a list is taken as it stands.
  struct Cell {
    std::string type;     ///< at the top only
    std::string address;  ///< own part; empty: numbered
    std::string pinned;   ///< id by which a virtual cluster may own just this cell
    std::vector<Cell> children;
    std::string where;
  };
  struct Quota {
    std::string path;  ///< "TOP. ... .TYPE": the chain first, the type of the cells owned last
    int32_t count = 0;
    std::string where;
  };
  struct Pin {
    std::string id, where;
  };
  struct Vc {
    std::string name;
    std::vector<Quota> cells;
    std::vector<Pin> pinned;
  };
  struct ChainOrder {
    std::string leaf_type;
    std::vector<std::string> chains;
  };
  std::vector<Type> types;
  std::vector<Cell> cells;
  std::vector<Vc> vcs;
  std::vector<ChainOrder> chain_order;  ///< in which order the chains of a leaf type are tried; left out: as configured
  const Type* type(std::string_view name) const {
    for (const Type& t : types)
      if (t.name == name) return &t;
    return nullptr;
  }
};

/// From HiveD's own file (YAML, or the same keys in JSON): physicalCluster {cellTypes, physicalCells}, virtualClusters. Keys that are of
/// its web server or of Kubernetes are passed over. Throws InputError.
HivedConfig read_hived(const Config& c);
/// The same without physicalCluster: only the virtual clusters and chainOrder.
HivedConfig read_hived_vcs(const Config& c);

}  // namespace muster
