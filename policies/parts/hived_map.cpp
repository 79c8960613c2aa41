// From virtual leaves to physical ones.
#include <algorithm>

#include "parts/hived.hpp"

namespace muster {

int32_t Hived::vertex_for(int32_t cell) {
  vertex_of_[size_t(cell)] = int32_t(vertices_.size());
  vertices_.push_back({cell});
  return int32_t(vertices_.size()) - 1;
}

/// Maps the chosen virtual leaves; the placement has the result. Lazily preempts what sits on them, and takes that back on failure.
bool Hived::map_all(int32_t chain, const std::vector<int32_t>& leaves, const std::vector<char>& suggested) {
  std::vector<Undone> undone;
  for (const int32_t v : leaves) {
    const int32_t x = at(v).bound;
    if (x == kNoCell || LeafState(at(x).state) != LeafState::used) continue;
    const int32_t g = at(x).user;
    if (!groups_[size_t(g)].can_lazy || groups_[size_t(g)].virtual_ < 0) continue;
    undone.push_back({g, lazy(g)});
  }
  // What has to be bound: trees whose tops are unbound roots, or hang below a bound cell.
  vertices_.clear(), tops_.clear(), parents_.clear(), members_.clear();
  std::vector<int32_t> visited;
  for (const int32_t v : leaves) {
    int32_t below = -1;
    for (int32_t c = v; at(c).bound == kNoCell; c = at(c).parent) {
      const bool seen = vertex_of_[size_t(c)] >= 0;
      const int32_t at_c = seen ? vertex_of_[size_t(c)] : vertex_for(c);
      if (below >= 0) {
        Vertex& p = vertices_[size_t(at_c)];
        (p.last < 0 ? p.first : vertices_[size_t(p.last)].next) = below;
        p.last = below;
      }
      if (seen) break;
      visited.push_back(c);
      below = at_c;
      const int32_t parent = at(c).parent;
      if (parent == kNoCell) {
        tops_.push_back(at_c);
        break;
      }
      if (at(parent).bound == kNoCell) continue;
      const auto it = std::find(parents_.begin(), parents_.end(), parent);
      const auto i = size_t(it - parents_.begin());
      if (it == parents_.end()) parents_.push_back(parent), members_.emplace_back();
      members_[i].push_back(at_c);
      break;
    }
  }
  const size_t mark = journal().size();
  suggested_ = &suggested;
  const bool ok = map_rest(chain, suggested);
  suggested_ = nullptr;
  journal().back_to(mark);  // what was done to the free lists was only a what-if
  if (ok) {
    placement_.clear();
    for (const int32_t v : leaves) {
      const int32_t x = at(v).bound != kNoCell ? at(v).bound : mapped_[size_t(v)];
      placement_.push_back({x, v, at(at(v).root).level});
    }
  }
  for (const int32_t c : visited) vertex_of_[size_t(c)] = -1;
  if (!ok) {
    for (size_t i = undone.size(); i-- > 0;) {
      unlazy(undone[i].group, undone[i].virtual_);
      lazied.pop_back();
    }
    return false;
  }
  for (const Undone& u : undone) blocks_.give(journal(), u.virtual_);
  return true;
}

bool Hived::map_rest(int32_t chain_id, const std::vector<char>&) {
  Chain& chain = forest.edit_chain(chain_id);
  std::vector<int32_t> wanted = chain.all_free;
  for (const int32_t v : tops_) {
    const int32_t level = at(vertices_[size_t(v)].cell).level;
    int32_t l = level;
    while (l <= chain.top && chain.free[size_t(l)].empty()) l++;
    if (l > chain.top) return false;
    if (buddy(v, l, chain)) wanted[size_t(level)]--;
    else if (!relaxed(v, chain, wanted)) return false;
  }
  for (size_t i = 0; i < parents_.size(); i++) {
    const Cell& x = at(at(parents_[i]).bound);
    std::vector<int32_t> children;
    for (int32_t j = 0; j < x.children; j++) children.push_back(x.first + j);
    if (!map(std::vector<int32_t>(members_[i]), children)) return false;
  }
  return true;
}

/// Cells that may be bound, least opportunistic work first.
template <class List> void Hived::usable(const List& list, int32_t n, std::vector<int32_t>& out) const {
  out.clear();
  const std::function<bool(int32_t)> any_suggested = [&](int32_t c) {
    if (suggested_->empty()) return true;
    if (forest.single_node(c)) return (*suggested_)[size_t(at(c).node)] != 0;
    for (int32_t i = 0; i < at(c).children; i++)
      if (any_suggested(at(c).first + i)) return true;
    return false;
  };
  for (int32_t i = 0; i < n; i++) {
    const int32_t c = list[i];
    if (at(c).bound == kNoCell && !(at(c).bad && forest.single_node(c)) && any_suggested(c)) out.push_back(c);
  }
  std::stable_sort(out.begin(), out.end(), [&](int32_t a, int32_t b) { return at(a).opportunistic < at(b).opportunistic; });
}

bool Hived::suits(int32_t vertex, int32_t cell) {
  const Vertex& v = vertices_[size_t(vertex)];
  mapped_[size_t(v.cell)] = cell;
  if (at(cell).level == 1) return true;
  std::vector<int32_t> kids, children;
  for (int32_t k = v.first; k >= 0; k = vertices_[size_t(k)].next) kids.push_back(k);
  for (int32_t i = 0; i < at(cell).children; i++) children.push_back(at(cell).first + i);
  return map(kids, children);
}

/// A different candidate for each vertex: the first such choice, vertices in order, candidates in order.
bool Hived::map(const std::vector<int32_t>& vertices, const std::vector<int32_t>& list) {
  std::vector<int32_t> candidates;
  usable(list, int32_t(list.size()), candidates);
  if (candidates.size() < vertices.size()) return false;
  std::vector<char> taken(candidates.size(), 0);
  for (const int32_t v : vertices) {
    size_t j = 0;
    while (j < candidates.size() && (taken[j] || !suits(v, candidates[j]))) j++;
    if (j == candidates.size()) return match(vertices, candidates);
    taken[j] = 1;
  }
  return true;
}

/// The same when taking the first that suits does not do: candidate j stays with vertex i if the vertices after it can still be matched.
bool Hived::match(const std::vector<int32_t>& vertices, const std::vector<int32_t>& candidates) {
  const size_t n = vertices.size(), m = candidates.size();
  std::vector<std::vector<char>> can(n, std::vector<char>(m));
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < m; j++) can[i][j] = suits(vertices[i], candidates[j]);
  std::vector<int32_t> of(m, -1);  // the vertex that has candidate j
  std::vector<char> fixed(m, 0), seen;
  const std::function<bool(size_t)> augment = [&](size_t i) {
    for (size_t j = 0; j < m; j++) {
      if (!can[i][j] || fixed[j] || seen[j]) continue;
      seen[j] = 1;
      if (of[j] < 0 || augment(size_t(of[j]))) {
        of[j] = int32_t(i);
        return true;
      }
    }
    return false;
  };
  for (size_t i = 0; i < n; i++) {
    seen.assign(m, 0);
    if (!augment(i)) return false;
  }
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < m; j++) {
      if (!can[i][j] || fixed[j]) continue;
      const std::vector<int32_t> before = of;
      const int32_t other = of[j];
      for (int32_t& o : of)
        if (o == int32_t(i)) o = -1;
      of[j] = int32_t(i);
      fixed[j] = 1;
      seen.assign(m, 0);
      if (other < 0 || other == int32_t(i) || augment(size_t(other))) break;
      fixed[j] = 0;
      of = before;
    }
  }
  for (size_t j = 0; j < m; j++)
    if (of[j] >= 0) suits(vertices[size_t(of[j])], candidates[j]);
  return true;
}

/// A cell for root `v` from the lowest free level that has one, split down to it.
bool Hived::buddy(int32_t v, int32_t level, Chain& chain) {
  CellList& list = chain.free[size_t(level)];
  std::vector<int32_t> cells;
  if (level == at(vertices_[size_t(v)].cell).level) {
    for (int32_t i = 0; i < list.size(); i++) cells.push_back(list[i]);
    if (!map({v}, cells)) return false;
    list.drop(journal(), forest.edit_cells(), mapped_[size_t(vertices_[size_t(v)].cell)]);
    return true;
  }
  usable(list, list.size(), cells);
  for (const int32_t c : cells) {
    CellList& below = chain.free[size_t(level - 1)];
    for (int32_t i = 0; i < at(c).children; i++) below.push(journal(), forest.edit_cells(), at(c).first + i);
    if (buddy(v, level - 1, chain)) {
      list.drop(journal(), forest.edit_cells(), c);
      return true;
    }
    below.clear(journal());
  }
  return false;
}

/// Splits something higher although useless cells are free nearer by, as long as the other VCs' guarantees allow it.
bool Hived::relaxed(int32_t v, Chain& chain, const std::vector<int32_t>& wanted) {
  const int32_t cur = at(vertices_[size_t(v)].cell).level;
  auto& cells = forest.edit_cells();
  std::vector<int32_t> spare(size_t(chain.top) + 2, 0);
  bool above = false;
  for (int32_t l = chain.top; l > cur; l--) {
    spare[size_t(l)] = chain.free[size_t(l)].size() - wanted[size_t(l)];
    if (above) spare[size_t(l)] += spare[size_t(l + 1)] * chain.kids[size_t(l + 1)];
    if (spare[size_t(l)] < 0) return false;
    above |= !chain.free[size_t(l)].empty();
  }
  for (int32_t l = cur + 1; l <= chain.top; l++) {
    const int32_t n = std::min(chain.free[size_t(l)].size(), spare[size_t(l)]);
    if (n <= 0) continue;
    std::vector<int32_t> taken;
    for (int32_t i = 0; i < n; i++) {
      taken.push_back(chain.free[size_t(l)][0]);
      chain.free[size_t(l)].drop(journal(), cells, taken.back());
    }
    spare[size_t(l)] -= n;
    for (int32_t k = l; k > cur; k--) {
      std::vector<int32_t> below;
      for (const int32_t c : taken)
        for (int32_t i = 0; i < at(c).children; i++) below.push_back(at(c).first + i);
      taken = std::move(below);
    }
    CellList& list = chain.free[size_t(cur)];
    list.put_in_front(journal(), cells, taken);
    std::vector<int32_t> all;
    for (int32_t i = 0; i < list.size(); i++) all.push_back(list[i]);
    if (!map({v}, all)) continue;
    list.drop(journal(), cells, mapped_[size_t(vertices_[size_t(v)].cell)]);
    return true;
  }
  return false;
}

}  // namespace muster
