// How the cells are built, named and counted at start-up.
#include "parts/cells.hpp"

#include <algorithm>
#include <map>

#include "parts/node_view.hpp"

namespace muster {

namespace {
std::string at(const std::string& where) { return where.empty() ? std::string() : where + ": "; }
}  // namespace

struct CellForest::Builder {
  const HivedConfig& config;
  CellForest& f;
  std::map<std::string, int32_t> pinned;  // id: physical cell
  std::map<std::string, int32_t, std::less<>> node_ids, chain_ids;

  const HivedConfig::Type* type(const std::string& name) const { return config.type(name); }

  /// Types from `top` down to the leaf, by level.
  void levels(Chain& c, const std::string& top, const std::string& where) {
    std::vector<const HivedConfig::Type*> down;
    std::string name = top;
    while (const HivedConfig::Type* t = type(name)) {
      if (down.size() > 64) throw InputError(at(where) + "cell type " + top + " contains itself");
      down.push_back(t);
      name = t->child;
    }
    c.top = int32_t(down.size()) + 1;
    c.types.assign(size_t(c.top) + 1, {});
    c.multi_node.assign(size_t(c.top) + 1, false);
    c.types[1] = name;
    for (size_t i = 0; i < down.size(); i++) {
      const auto l = size_t(c.top) - i;
      c.types[l] = down[i]->name;
      if (!down[i]->is_node) continue;
      if (c.node_level)
        throw InputError(at(where) + "cell type " + top + " has node-level types inside each other: " + c.types[size_t(c.node_level)] +
                         " and " + down[i]->name);
      c.node_level = int32_t(l);
    }
    if (!c.node_level) throw InputError(at(where) + "top-level cell type " + top + " is neither a node nor made of nodes (isNodeLevel)");
    for (int32_t l = c.node_level + 1; l <= c.top; l++) c.multi_node[size_t(l)] = true;
  }

  int32_t name(const std::string& s) {
    if (s.empty()) return -1;
    f.names_.push_back(s);
    return int32_t(f.names_.size() - 1);
  }

  int32_t grow(size_t n) {
    if (f.cells_.size() + n > 50'000'000) throw InputError("more than 50,000,000 cells");
    f.cells_.resize(f.cells_.size() + n);
    f.infos_.resize(f.cells_.size());
    return int32_t(f.cells_.size() - n);
  }

  /// Fills in cell `id`, whose level, parent and number are set, and builds what is below.
  void physical(int32_t id, Chain& chain, int32_t chain_id, const HivedConfig::Cell* given, int32_t node) {
    const int32_t level = f.cells_[size_t(id)].level;
    chain.full[size_t(level)].push_back(id);
    CellInfo& c = f.infos_[size_t(id)];
    c.tree = chain_id;
    c.name = given ? name(given->address) : -1;
    if (given && !given->pinned.empty()) {
      if (!pinned.emplace(given->pinned, id).second)
        throw InputError(at(given->where) + "pinnedCellId " + given->pinned + " names another cell already");
      c.pinned = true;
    }
    if (given && !given->type.empty() && given->type != chain.types[size_t(level)])
      throw InputError(at(given->where) + "cell type " + given->type + " where " + chain.types[size_t(level)] + " belongs");
    if (level == chain.node_level) {
      const std::string own = c.name >= 0 ? f.names_[size_t(c.name)] : std::to_string(c.number);
      const auto [it, fresh] = node_ids.emplace(own, int32_t(f.nodes_.size()));
      if (fresh) f.nodes_.push_back({own, {}, 0});
      node = it->second;
    }
    c.node = node;
    if (level == 1) {
      if (given && !given->children.empty()) throw InputError(at(given->where) + "a leaf has no children");
      if (c.name >= 0) {
        const std::string& own = f.names_[size_t(c.name)];
        if (own.empty() || own.size() > 9 || !std::all_of(own.begin(), own.end(), [](char d) { return d >= '0' && d <= '9'; }))
          throw InputError(at(given->where) + "the address of a leaf is a number, found \"" + own + "\"");
      }
      f.nodes_[size_t(node)].leaves.push_back(id);
      return;
    }
    const HivedConfig::Type& t = *type(chain.types[size_t(level)]);
    const auto n = given && !given->children.empty() ? int32_t(given->children.size()) : t.count;
    const int32_t base = (level == chain.node_level ? 0 : f.infos_[size_t(id)].number) * t.count;
    const int32_t first = grow(size_t(n));
    f.cells_[size_t(id)].first = first, f.cells_[size_t(id)].children = n;
    for (int32_t j = 0; j < n; j++) {
      Cell& child = f.cells_[size_t(first + j)];
      child.parent = id, child.level = level - 1, child.root = f.cells_[size_t(id)].root;
      f.infos_[size_t(first + j)].number = base + j;
    }
    int32_t leaves = 0;
    for (int32_t j = 0; j < n; j++) {
      physical(first + j, chain, chain_id, given && !given->children.empty() ? &given->children[size_t(j)] : nullptr, node);
      leaves += f.cells_[size_t(first + j)].leaves;
    }
    f.cells_[size_t(id)].leaves = leaves;
    if (level > chain.node_level) f.infos_[size_t(id)].node = f.infos_[size_t(first)].node;
  }

  void physical_cells() {
    for (size_t i = 0; i < config.cells.size(); i++) {
      const HivedConfig::Cell& given = config.cells[i];
      auto it = chain_ids.find(given.type);
      if (it == chain_ids.end()) {
        if (!type(given.type)) {
          std::vector<std::string_view> known;
          for (const HivedConfig::Type& t : config.types) known.push_back(t.name);
          const std::string nearest = nearest_name(given.type, known);
          throw InputError(at(given.where) + "no cell type is called " + given.type +
                           (nearest.empty() ? "" : "; did you mean " + nearest + "?"));
        }
        Chain chain;
        chain.name = given.type;
        levels(chain, given.type, given.where);
        chain.full.resize(size_t(chain.top) + 1);
        f.chains_.push_back(std::move(chain));
        it = chain_ids.emplace(given.type, int32_t(f.chains_.size()) - 1).first;
      }
      const int32_t id = grow(1);
      Cell& c = f.cells_[size_t(id)];
      c.level = f.chains_[size_t(it->second)].top, c.root = id;
      f.infos_[size_t(id)].number = int32_t(i);
      physical(id, f.chains_[size_t(it->second)], it->second, &given, -1);
    }
  }

  void virtual_cell(int32_t id, VirtualTree& tree, int32_t tree_id, const Chain& chain) {
    const Cell& c = f.cells_[size_t(id)];
    f.infos_[size_t(id)].is_physical = false, f.infos_[size_t(id)].tree = tree_id;
    const int32_t level = c.level, number = c.parent == kNoCell ? 0 : f.infos_[size_t(id)].number, root = c.root;
    tree.full[size_t(level)].push_back(id);
    if (level == 1) return;
    const int32_t n = type(chain.types[size_t(level)])->count;
    const int32_t first = grow(size_t(n));
    f.cells_[size_t(id)].first = first, f.cells_[size_t(id)].children = n;
    int32_t leaves = 0;
    for (int32_t j = 0; j < n; j++) {
      Cell& child = f.cells_[size_t(first + j)];
      child.parent = id, child.level = level - 1, child.root = root;
      f.infos_[size_t(first + j)].number = number * n + j;
    }
    for (int32_t j = 0; j < n; j++) {
      virtual_cell(first + j, tree, tree_id, chain);
      leaves += f.cells_[size_t(first + j)].leaves;
    }
    f.cells_[size_t(id)].leaves = leaves;
  }

  void virtual_root(int32_t tree_id, int32_t level, int32_t number) {
    VirtualTree& tree = f.trees_[size_t(tree_id)];
    if (tree.top() < level) tree.full.resize(size_t(level) + 1), tree.roots.resize(size_t(level) + 1);
    const int32_t id = grow(1);
    Cell& c = f.cells_[size_t(id)];
    c.level = level, c.root = id;
    f.infos_[size_t(id)].number = number;
    tree.roots[size_t(level)].push_back(id);
    virtual_cell(id, tree, tree_id, f.chains_[size_t(tree.chain)]);
  }

  void virtual_clusters() {
    std::map<std::string, std::string> owner;  // of pinned ids
    f.tree_of_.assign(config.vcs.size(), std::vector<int32_t>(f.chains_.size(), -1));
    for (size_t v = 0; v < config.vcs.size(); v++) {
      const HivedConfig::Vc& vc = config.vcs[v];
      f.vcs_.push_back(vc.name);
      int32_t number = 0;
      for (const HivedConfig::Quota& q : vc.cells) {
        const std::string top = q.path.substr(0, q.path.find('.')), last = q.path.substr(q.path.rfind('.') + 1);
        const auto it = chain_ids.find(top);
        if (it == chain_ids.end()) throw InputError(at(q.where) + "virtual cluster " + vc.name + ": no physical cell is of type " + top);
        const Chain& chain = f.chains_[size_t(it->second)];
        const int32_t level = chain.level_of(last);
        if (level < 0) throw InputError(at(q.where) + "virtual cluster " + vc.name + ": " + top + " has no " + last + " in it");
        int32_t& tree = f.tree_of_[v][size_t(it->second)];
        if (tree < 0) {
          tree = int32_t(f.trees_.size());
          f.trees_.push_back({});
          f.trees_.back().vc = int32_t(v), f.trees_.back().chain = it->second;
        }
        for (int32_t i = 0; i < q.count; i++) virtual_root(tree, level, number++);
      }
      for (const HivedConfig::Pin& p : vc.pinned) {
        const auto it = pinned.find(p.id);
        if (it == pinned.end())
          throw InputError(at(p.where) + "virtual cluster " + vc.name + ": no physical cell has pinnedCellId " + p.id);
        if (!owner.emplace(p.id, vc.name).second)
          throw InputError(at(p.where) + "pinned cell " + p.id + " belongs to " + owner[p.id] + " already");
        f.trees_.push_back({});
        VirtualTree& tree = f.trees_.back();
        tree.vc = int32_t(v), tree.chain = f.infos_[size_t(it->second)].tree, tree.pinned = p.id, tree.pinned_cell = it->second;
        virtual_root(int32_t(f.trees_.size()) - 1, f.cells_[size_t(it->second)].level, number++);
      }
    }
  }

  /// Whether the quotas can be cut out of the cells: a chain at a time, from the top down.
  void check_quotas() {
    for (Chain& c : f.chains_) {
      const auto top = size_t(c.top);
      std::vector<int64_t> wanted(top + 1, 0);
      for (size_t v = 0; v < f.vcs_.size(); v++)
        for (size_t l = 1; l <= top; l++) wanted[l] += c.vc_free[v][l];
      int64_t there = int64_t(c.full[top].size());
      for (size_t l = top; l >= 1; l--) {
        if (wanted[l] > there)
          throw InputError("the virtual clusters own " + std::to_string(wanted[l]) + " cells of " + c.types[l] + " in " + c.name +
                           ", where only " + std::to_string(there) + (l == top ? " are" : " are left after larger cells"));
        there = (there - wanted[l]) * (l > 1 ? c.kids[l] : 0);
      }
    }
  }

  void counts() {
    for (Chain& c : f.chains_) {
      const auto n = size_t(c.top) + 1;
      c.kids.assign(n, 0), c.all_free.assign(n, 0), c.left.assign(n, 0), c.doomed_cells.assign(n, 0);
      c.has_quota.assign(f.vcs_.size(), false);
      for (size_t l = 1; l < n; l++) c.kids[l] = f.cells_[size_t(c.full[l][0])].children;
      for (size_t l = 0; l < n; l++) c.free.emplace_back(f.place_), c.bad_free.emplace_back(f.bad_place_);
      c.left[n - 1] = int32_t(c.full[n - 1].size());
      for (size_t l = n - 2; l >= 1; l--) c.left[l] = c.left[l + 1] * c.kids[l + 1];
      for (size_t v = 0; v < f.vcs_.size(); v++) {
        c.vc_free.emplace_back(n, 0);
        c.doomed.emplace_back();
        for (size_t l = 0; l < n; l++) c.doomed.back().emplace_back(f.doomed_place_);
      }
    }
    for (VirtualTree& t : f.trees_) {
      Chain& c = f.chains_[size_t(t.chain)];
      c.has_quota[size_t(t.vc)] = true;
      for (size_t l = 1; l < t.roots.size(); l++) {
        c.vc_free[size_t(t.vc)][l] += int32_t(t.roots[l].size());
        c.all_free[l] += int32_t(t.roots[l].size());
      }
      t.unused.reserve(t.roots.size());
      for (size_t l = 0; l < t.roots.size(); l++) t.unused.emplace_back(t.roots[l].size());
      f.root_position_.resize(f.cells_.size(), -1);
      for (size_t l = 1; l < t.roots.size(); l++)
        for (size_t i = 0; i < t.roots[l].size(); i++) {
          f.root_position_[size_t(t.roots[l][i])] = int32_t(i);
          t.unused[l].insert(f.journal_, int32_t(i));
        }
    }
    f.root_position_.resize(f.cells_.size(), -1);
  }
};

CellForest::CellForest(const HivedConfig& config) {
  Builder b{config, *this, {}, {}, {}};
  if (config.cells.empty()) throw InputError("a cluster has at least one physical cell");
  b.physical_cells();
  first_virtual_ = int32_t(cells_.size());
  b.virtual_clusters();
  for (std::vector<int32_t>* places : {&place_, &bad_place_, &doomed_place_}) places->assign(cells_.size(), -1);
  b.counts();
  b.check_quotas();
  for (Chain& c : chains_)
    for (const int32_t top : c.full[size_t(c.top)]) c.free[size_t(c.top)].push(journal_, top);
  for (VirtualTree& t : trees_) {
    if (t.pinned_cell == kNoCell) continue;
    take_root(t.pinned_cell, t.vc, false);
    bind(t.pinned_cell, t.roots[size_t(t.top())][0]);
  }
  journal_.forget();
}

CellForest::~CellForest() = default;

int32_t CellForest::find_vc(std::string_view name) const {
  for (size_t i = 0; i < vcs_.size(); i++)
    if (vcs_[i] == name) return int32_t(i);
  return -1;
}

int32_t CellForest::find_node(std::string_view name) const {
  for (size_t i = 0; i < nodes_.size(); i++)
    if (nodes_[i].name == name) return int32_t(i);
  return -1;
}

int32_t CellForest::pinned_tree(int32_t vc, std::string_view id) const {
  for (size_t t = 0; t < trees_.size(); t++)
    if (trees_[t].vc == vc && !trees_[t].pinned.empty() && trees_[t].pinned == id) return int32_t(t);
  return -1;
}

std::string CellForest::address(int32_t c) const {
  const CellInfo& x = infos_[size_t(c)];
  const std::string own = x.name >= 0 ? names_[size_t(x.name)] : std::to_string(x.number);
  if (const int32_t p = cells_[size_t(c)].parent; p != kNoCell) return address(p) + "/" + own;
  return x.is_physical ? own : vcs_[size_t(trees_[size_t(x.tree)].vc)] + "/" + own;
}

int32_t CellForest::leaf_index(int32_t leaf) const {
  const CellInfo& x = infos_[size_t(leaf)];
  return x.name >= 0 ? int32_t(std::stol(names_[size_t(x.name)])) : x.number;
}

const Chain& CellForest::chain_of(int32_t c) const {
  const CellInfo& x = infos_[size_t(c)];
  return chains_[size_t(x.is_physical ? x.tree : trees_[size_t(x.tree)].chain)];
}

const std::string& CellForest::type(int32_t c) const { return chain_of(c).types[size_t(cells_[size_t(c)].level)]; }

void CellList::put_in_front(Journal& j, const std::vector<int32_t>& some) {
  std::vector<int32_t> all = some;
  for (int32_t i = 0; i < size_; i++) all.push_back(cells_[size_t(i)]);
  for (size_t i = 0; i < all.size(); i++) put(j, int32_t(i), all[i]);
  j.set(size_, int32_t(all.size()));
}

}  // namespace muster
