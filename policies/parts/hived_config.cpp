#include "parts/hived_config.hpp"

#include <array>

namespace muster {

namespace {

std::string at(const Config& c) { return c.where.empty() ? std::string() : c.where + ": "; }

const Config& want(const Config& in, std::string_view key, Config::Kind kind, const char* what) {
  const Config* c = in.find(key);
  if (!c) throw InputError(at(in) + "want " + std::string(key) + ": " + what);
  if (c->kind != kind) throw InputError(at(*c) + "want " + what);
  return *c;
}

bool empty(const Config* c) { return !c || !c->given() || (c->kind == Config::Kind::text && c->value.empty()); }

HivedConfig::Cell cell(const Config& c, bool top) {
  static constexpr std::array<std::string_view, 4> kKnown = {"cellType", "cellAddress", "pinnedCellId", "cellChildren"};
  if (c.kind != Config::Kind::object) throw InputError(at(c) + "want a cell: {cellType, cellAddress, pinnedCellId, cellChildren}");
  c.only(kKnown);
  HivedConfig::Cell out;
  out.where = c.where;
  if (const Config* t = c.find("cellType"); !empty(t)) out.type = t->as_text();
  else if (top) throw InputError(at(c) + "want cellType: the type of a top-level cell");
  if (const Config* a = c.find("cellAddress"); !empty(a)) out.address = a->value;
  if (const Config* p = c.find("pinnedCellId"); !empty(p)) out.pinned = p->value;
  if (const Config* children = c.find("cellChildren"); !empty(children)) {
    if (children->kind != Config::Kind::list) throw InputError(at(*children) + "want a list of cells");
    for (const auto& [none, child] : children->fields) out.children.push_back(cell(child, false));
  }
  return out;
}

}  // namespace

HivedConfig read_hived_vcs(const Config& c) {
  HivedConfig out;
  if (c.kind != Config::Kind::object) throw InputError(at(c) + "want a HiveD configuration: {physicalCluster, virtualClusters}");
  static constexpr std::array<std::string_view, 12> kKnown = {"physicalCluster",
                                                              "virtualClusters",
                                                              "chainOrder",
                                                              "kubeApiServerAddress",
                                                              "kubeConfigFilePath",
                                                              "webServerAddress",
                                                              "forcePodBindThreshold",
                                                              "waitingPodSchedulingBlockMilliSec",
                                                              "enablePreemption",
                                                              "$schema",
                                                              "name",
                                                              "note"};
  c.only(kKnown);
  for (const auto& [name, vc] : want(c, "virtualClusters", Config::Kind::object, "an object: NAME: {virtualCells, pinnedCells}").fields) {
    static constexpr std::array<std::string_view, 2> kVc = {"virtualCells", "pinnedCells"};
    HivedConfig::Vc v;
    v.name = name;
    vc.only(kVc);
    if (const Config* cells = vc.find("virtualCells"); !empty(cells))
      for (const auto& [none, q] : cells->fields) {
        static constexpr std::array<std::string_view, 2> kQuota = {"cellType", "cellNumber"};
        q.only(kQuota);
        const Config* path = q.find("cellType");
        const Config* count = q.find("cellNumber");
        if (empty(path) || empty(count)) throw InputError(at(q) + "want cellType and cellNumber");
        v.cells.push_back({std::string(path->as_text()), int32_t(count->as_integer(0, 100'000'000)), q.where});
      }
    if (const Config* pins = vc.find("pinnedCells"); !empty(pins))
      for (const auto& [none, p] : pins->fields) {
        static constexpr std::array<std::string_view, 1> kPin = {"pinnedCellId"};
        p.only(kPin);
        const Config* id = p.find("pinnedCellId");
        if (empty(id)) throw InputError(at(p) + "want pinnedCellId");
        v.pinned.push_back({id->value, p.where});
      }
    out.vcs.push_back(std::move(v));
  }
  if (const Config* order = c.find("chainOrder"); !empty(order))
    for (const auto& [leaf, chains] : order->fields) {
      HivedConfig::ChainOrder o;
      o.leaf_type = leaf;
      for (const auto& [none, chain] : chains.fields) o.chains.push_back(chain.value);
      out.chain_order.push_back(std::move(o));
    }
  return out;
}

HivedConfig read_hived(const Config& c) {
  HivedConfig out = read_hived_vcs(c);
  const Config& physical = want(c, "physicalCluster", Config::Kind::object, "{cellTypes, physicalCells}");
  static constexpr std::array<std::string_view, 5> kPhysical = {"cellTypes", "physicalCells", "skuTypes", "leafCellTypes", "gpuTypes"};
  physical.only(kPhysical);
  const Config& types = want(physical, "cellTypes", Config::Kind::object, "an object: NAME: {childCellType, childCellNumber, isNodeLevel}");
  for (const auto& [name, t] : types.fields) {
    static constexpr std::array<std::string_view, 3> kType = {"childCellType", "childCellNumber", "isNodeLevel"};
    if (t.kind != Config::Kind::object) throw InputError(at(t) + "want {childCellType, childCellNumber, isNodeLevel}");
    t.only(kType);
    HivedConfig::Type type;
    type.name = name;
    const Config* child = t.find("childCellType");
    const Config* count = t.find("childCellNumber");
    if (empty(child) || empty(count)) throw InputError(at(t) + "want childCellType and childCellNumber");
    type.child = child->as_text();
    type.count = int32_t(count->as_integer(1, 1'000'000));
    if (const Config* n = t.find("isNodeLevel"); !empty(n)) type.is_node = n->as_boolean();
    out.types.push_back(std::move(type));
  }
  for (const auto& [none, one] : want(physical, "physicalCells", Config::Kind::list, "a list of cells").fields)
    out.cells.push_back(cell(one, true));
  return out;
}

}  // namespace muster
