// From virtual leaves to physical ones.
#include <algorithm>

#include "parts/hived.hpp"

namespace muster {

namespace {
/// The children of a cell, as a list.
struct Children {
  const Cell& of;
  int32_t size() const { return of.children; }
  int32_t operator[](int32_t i) const { return of.first + i; }
};
}  // namespace

int32_t Hived::vertex_for(int32_t cell) {
  vertex_of_[size_t(cell)] = int32_t(vertices_.size());
  vertices_.push_back({cell});
  return int32_t(vertices_.size()) - 1;
}

/// Maps the chosen virtual leaves; the placement has the result. Lazily preempts what sits on them, and takes that back on failure.
bool Hived::map_all(int32_t chain, const std::vector<int32_t>& leaves, const std::vector<char>& suggested) {
  undone_.clear();
  for (const int32_t v : leaves) {
    const int32_t x = at(v).bound;
    if (x == kNoCell || LeafState(at(x).state) != LeafState::used) continue;
    const int32_t g = at(x).user;
    if (!groups_[size_t(g)].can_lazy || groups_[size_t(g)].virtual_ < 0) continue;
    undone_.push_back({g, lazy(g)});
  }
  // What has to be bound: trees whose tops are unbound roots, or hang below a bound cell.
  vertices_.clear(), tops_.clear(), parents_.clear(), kids_.clear(), candidates_at_.clear();
  visited_.clear();
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
      visited_.push_back(c);
      below = at_c;
      const int32_t parent = at(c).parent;
      if (parent == kNoCell) {
        tops_.push_back(at_c);
        break;
      }
      if (at(parent).bound == kNoCell) continue;
      const auto it = std::find(parents_.begin(), parents_.end(), parent);
      const auto i = size_t(it - parents_.begin());
      if (it == parents_.end()) {
        parents_.push_back(parent);
        if (members_.size() < parents_.size()) members_.emplace_back();
        members_[i].clear();
      }
      members_[i].push_back(at_c);
      break;
    }
  }
  const size_t mark = journal().size();
  suggested_ = &suggested;
  const bool ok = map_rest(chain);
  suggested_ = nullptr;
  journal().back_to(mark);  // what was done to the free lists was only a what-if
  if (ok) {
    placement_.clear();
    for (const int32_t v : leaves) {
      const int32_t x = at(v).bound != kNoCell ? at(v).bound : mapped_[size_t(v)];
      placement_.push_back({x, v, at(at(v).root).level});
    }
  }
  for (const int32_t c : visited_) vertex_of_[size_t(c)] = -1;
  if (!ok) {
    for (size_t i = undone_.size(); i-- > 0;) {
      unlazy(undone_[i].group, undone_[i].virtual_);
      lazied.pop_back();
    }
    return false;
  }
  for (const Undone& u : undone_) blocks_.give(journal(), u.virtual_);
  return true;
}

template <class List> bool Hived::map_these(std::initializer_list<int32_t> vertices, const List& list) {
  return map_these(std::span<const int32_t>(vertices.begin(), vertices.size()), list);
}
template <class List> bool Hived::map_these(std::span<const int32_t> vertices, const List& list) {
  const size_t mark = kids_.size();
  kids_.insert(kids_.end(), vertices.begin(), vertices.end());
  const bool ok = map(mark, list);
  kids_.resize(mark);
  return ok;
}

bool Hived::map_rest(int32_t chain_id) {
  Chain& chain = forest.edit_chain(chain_id);
  std::vector<int32_t>& wanted = wanted_;
  wanted = chain.all_free;
  for (const int32_t v : tops_) {
    const int32_t level = at(vertices_[size_t(v)].cell).level;
    int32_t l = level;
    while (l <= chain.top && chain.free[size_t(l)].empty()) l++;
    if (l > chain.top) return false;
    if (buddy(v, l, chain)) wanted[size_t(level)]--;
    else if (!relaxed(v, chain, wanted)) return false;
  }
  for (size_t i = 0; i < parents_.size(); i++)
    if (!map_these(std::span<const int32_t>(members_[i]), Children{at(at(parents_[i]).bound)})) return false;
  return true;
}

bool Hived::any_suggested(int32_t c) const {
  if (suggested_->empty()) return true;
  if (forest.single_node(c)) return (*suggested_)[size_t(forest.info(c).node)] != 0;
  for (int32_t i = 0; i < at(c).children; i++)
    if (any_suggested(at(c).first + i)) return true;
  return false;
}

bool Hived::usable(int32_t c) const { return at(c).bound == kNoCell && !(at(c).bad && forest.single_node(c)) && any_suggested(c); }

/// Appends to the stack of candidates the cells that may be bound, least opportunistic work first.
template <class List> void Hived::push_usable(const List& list) {
  const size_t mark = candidates_at_.size();
  bool work = false;
  for (int32_t i = 0; i < list.size(); i++) {
    if (!usable(list[i])) continue;
    candidates_at_.push_back(list[i]);
    work |= at(list[i]).opportunistic != 0;
  }
  if (work)
    std::stable_sort(candidates_at_.begin() + ptrdiff_t(mark), candidates_at_.end(),
                     [&](int32_t a, int32_t b) { return at(a).opportunistic < at(b).opportunistic; });
}

/// The first of them; most often there is no opportunistic work and the search ends at once.
template <class List> int32_t Hived::first_usable(const List& list) const {
  int32_t best = kNoCell;
  for (int32_t i = 0; i < list.size(); i++) {
    const int32_t c = list[i];
    if ((best != kNoCell && at(c).opportunistic >= at(best).opportunistic) || !usable(c)) continue;
    if (at(c).opportunistic == 0) return c;
    best = c;
  }
  return best;
}

/// Whether what is to be bound below the vertex can be bound in `cell`; then mapped_ has it.
bool Hived::suits(int32_t vertex, int32_t cell) {
  const Vertex& v = vertices_[size_t(vertex)];
  mapped_[size_t(v.cell)] = cell;
  if (at(cell).level == 1 || v.first < 0) return true;
  const size_t mark = kids_.size();
  for (int32_t k = v.first; k >= 0; k = vertices_[size_t(k)].next) kids_.push_back(k);
  const bool ok = map(mark, Children{at(cell)});
  kids_.resize(mark);
  return ok;
}

/// A different candidate for each vertex on the stack from `mark` on: the first such choice, vertices in order, candidates in order.
template <class List> bool Hived::map(size_t mark, const List& list) {
  const size_t end = kids_.size(), first = candidates_at_.size();
  if (end == mark + 1) {
    const int32_t c = first_usable(list);
    if (c == kNoCell) return false;
    if (suits(kids_[mark], c)) return true;
  }
  push_usable(list);
  const size_t last = candidates_at_.size();
  bool ok = last - first >= end - mark;
  for (size_t i = mark; ok && i < end; i++) {
    size_t j = first;
    for (; j < last; j++) {
      const int32_t c = candidates_at_[j];
      if (c < 0 || !suits(kids_[i], c)) continue;
      candidates_at_[j] = ~c;  // taken
      break;
    }
    if (j < last) continue;
    for (j = first; j < last; j++) candidates_at_[j] = std::max(candidates_at_[j], ~candidates_at_[j]);
    ok = match({kids_.begin() + ptrdiff_t(mark), kids_.begin() + ptrdiff_t(end)},
               {candidates_at_.begin() + ptrdiff_t(first), candidates_at_.begin() + ptrdiff_t(last)});
    break;
  }
  candidates_at_.resize(first);
  return ok;
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
  if (level == at(vertices_[size_t(v)].cell).level) {
    if (!map_these({v}, list)) return false;
    list.drop(journal(), mapped_[size_t(vertices_[size_t(v)].cell)]);
    return true;
  }
  const auto split = [&](int32_t c) {
    CellList& below = chain.free[size_t(level - 1)];
    for (int32_t i = 0; i < at(c).children; i++) below.push(journal(), at(c).first + i);
    if (buddy(v, level - 1, chain)) {
      list.drop(journal(), c);
      return true;
    }
    below.clear(journal());
    return false;
  };
  const int32_t first = first_usable(list);
  if (first == kNoCell) return false;
  if (split(first)) return true;
  const size_t mark = candidates_at_.size();
  push_usable(list);
  const std::vector<int32_t> cells(candidates_at_.begin() + ptrdiff_t(mark), candidates_at_.end());
  candidates_at_.resize(mark);
  return std::any_of(cells.begin() + 1, cells.end(), split);
}

/// Splits something higher although useless cells are free nearer by, as long as the other VCs' guarantees allow it.
bool Hived::relaxed(int32_t v, Chain& chain, const std::vector<int32_t>& wanted) {
  const int32_t cur = at(vertices_[size_t(v)].cell).level;
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
      chain.free[size_t(l)].drop(journal(), taken.back());
    }
    spare[size_t(l)] -= n;
    for (int32_t k = l; k > cur; k--) {
      std::vector<int32_t> below;
      for (const int32_t c : taken)
        for (int32_t i = 0; i < at(c).children; i++) below.push_back(at(c).first + i);
      taken = std::move(below);
    }
    CellList& list = chain.free[size_t(cur)];
    list.put_in_front(journal(), taken);
    if (!map_these({v}, list)) continue;
    list.drop(journal(), mapped_[size_t(vertices_[size_t(v)].cell)]);
    return true;
  }
  return false;
}

}  // namespace muster
