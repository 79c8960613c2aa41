// Free lists, bindings, counts and health: everything that changes a cell.
#include <algorithm>
#include <array>

#include "parts/cells.hpp"
#include "parts/node_view.hpp"

namespace muster {

bool CellForest::is_free(int32_t c) const {
  for (;; c = cells_[size_t(c)].parent) {
    const Cell& x = cells_[size_t(c)];
    if (x.bound != kNoCell || x.split()) return false;
    if (x.parent == kNoCell || cells_[size_t(x.parent)].split()) return true;
  }
}

void CellForest::touch(int32_t c) {
  const Cell& x = cells_[size_t(c)];
  if (x.view >= 0) views_[size_t(x.view)]->touch(x.slot);
}

/// A virtual root came into or out of use.
void CellForest::root_changed(int32_t v) {
  const Cell& x = cells_[size_t(v)];
  if (x.parent != kNoCell || v < first_virtual_) return;
  JournaledSet& unused = trees_[size_t(infos_[size_t(v)].tree)].unused[size_t(x.level)];
  const bool is = x.bound == kNoCell && x.priority == kFreePriority;
  if (is != unused.contains(root_position_[size_t(v)])) {
    if (is) unused.insert(journal_, root_position_[size_t(v)]);
    else unused.erase(journal_, root_position_[size_t(v)]);
  }
}

// ---- free lists

/// Takes a free cell out of the free lists, splitting what holds it. Returns the highest level touched.
int32_t CellForest::take_out(int32_t c) {
  auto& lists = chains_[size_t(infos_[size_t(c)].tree)].free;
  for (;;) {
    const int32_t p = cells_[size_t(c)].parent, level = cells_[size_t(c)].level;
    if (p != kNoCell && !cells_[size_t(p)].split()) {
      for (int32_t i = 0; i < cells_[size_t(p)].children; i++) lists[size_t(level)].push(journal_, cells_[size_t(p)].first + i);
      journal_.set(cells_[size_t(p)].state, 1);
      splits++;
      told(CellStep::What::split, p, -1);
      lists[size_t(level)].drop(journal_, c);
      c = p;
    } else {
      lists[size_t(level)].drop(journal_, c);
      return level;
    }
  }
}

/// Puts a cell back, merging buddies that are all free. Returns the highest level touched.
int32_t CellForest::give_back(int32_t c) {
  auto& lists = chains_[size_t(infos_[size_t(c)].tree)].free;
  for (;;) {
    const int32_t p = cells_[size_t(c)].parent, level = cells_[size_t(c)].level;
    CellList& list = lists[size_t(level)];
    bool whole = p != kNoCell;
    for (int32_t i = 0; whole && i < cells_[size_t(p)].children; i++) {
      const int32_t buddy = cells_[size_t(p)].first + i;
      whole = buddy == c || list.has(buddy);
    }
    if (!whole) {
      list.push(journal_, c);
      return level;
    }
    for (int32_t i = 0; i < cells_[size_t(p)].children; i++)
      if (cells_[size_t(p)].first + i != c) list.drop(journal_, cells_[size_t(p)].first + i);
    journal_.set(cells_[size_t(p)].state, 0);
    merges++;
    told(CellStep::What::merge, p, -1);
    c = p;
  }
}

bool CellForest::take_root(int32_t c, int32_t vc, bool as_doomed) {
  const int32_t id = infos_[size_t(c)].tree, level = cells_[size_t(c)].level;
  Chain& chain = chains_[size_t(id)];
  bool safe = true;
  const auto less = [&](int32_t l, int32_t n) {
    journal_.add(chain.left[size_t(l)], -n);
    if (chain.left[size_t(l)] < chain.all_free[size_t(l)]) safe = false;
  };
  journal_.add(chain.vc_free[size_t(vc)][size_t(level)], -1);
  journal_.add(chain.all_free[size_t(level)], -1);
  journal_.add(chain.left[size_t(level)], -1);
  const int32_t up = take_out(c);
  told(as_doomed ? CellStep::What::doom : CellStep::What::take, c, vc);
  int32_t p = cells_[size_t(c)].parent;
  for (int32_t l = level + 1; l <= up; l++, p = cells_[size_t(p)].parent) {
    less(l, 1);
    if (cells_[size_t(p)].bad) chain.bad_free[size_t(l)].drop(journal_, p);
    else doom(id, l);
  }
  if (cells_[size_t(c)].bad) {
    take_bad(c);
    if (!as_doomed) undoom(id, level);
  } else {
    doom(id, level);
  }
  int32_t n = cells_[size_t(c)].children;
  for (int32_t l = level - 1; l >= 1; l--) {
    less(l, n);
    if (!as_doomed) doom(id, l);
    n *= chain.kids[size_t(l)];
  }
  return safe;
}

void CellForest::give_root(int32_t c, int32_t vc, bool as_doomed) {
  const int32_t id = infos_[size_t(c)].tree, level = cells_[size_t(c)].level;
  Chain& chain = chains_[size_t(id)];
  journal_.add(chain.vc_free[size_t(vc)][size_t(level)], 1);
  journal_.add(chain.all_free[size_t(level)], 1);
  journal_.add(chain.left[size_t(level)], 1);
  told(as_doomed ? CellStep::What::undoom : CellStep::What::give, c, vc);
  const int32_t up = give_back(c);
  int32_t p = cells_[size_t(c)].parent;
  for (int32_t l = level + 1; l <= up; l++, p = cells_[size_t(p)].parent) {
    journal_.add(chain.left[size_t(l)], 1);
    if (cells_[size_t(p)].bad) chain.bad_free[size_t(l)].push(journal_, p);
    else undoom(id, l);
  }
  if (cells_[size_t(c)].bad) {
    give_bad(c);
    if (!as_doomed) doom(id, level);
  } else {
    undoom(id, level);
  }
  int32_t n = cells_[size_t(c)].children;
  for (int32_t l = level - 1; l >= 1; l--) {
    journal_.add(chain.left[size_t(l)], n);
    if (!as_doomed) undoom(id, l);
    n *= chain.kids[size_t(l)];
  }
}

// ---- bindings

void CellForest::bind(int32_t x, int32_t v) {
  journal_.set(cells_[size_t(x)].bound, v);
  journal_.set(cells_[size_t(v)].bound, x);
  touch(v);
  root_changed(v);
  told(CellStep::What::bind, x, v);
}

void CellForest::unbind_one(int32_t x) {
  const int32_t v = cells_[size_t(x)].bound;
  if (v == kNoCell) return;
  journal_.set(cells_[size_t(x)].bound, kNoCell);
  journal_.set(cells_[size_t(v)].bound, kNoCell);
  touch(v);
  root_changed(v);
  told(CellStep::What::unbind, x, v);
}

/// Unbinds a leaf, and above it every cell that has no bound child left. A pinned cell stays bound.
void CellForest::unbind_up(int32_t x) {
  for (int32_t v = cells_[size_t(x)].bound; v != kNoCell;) {
    const int32_t at = cells_[size_t(v)].bound;
    if (at == kNoCell || infos_[size_t(at)].pinned) return;
    unbind_one(at);
    v = cells_[size_t(v)].parent;
    if (v == kNoCell) return;
    for (int32_t i = 0; i < cells_[size_t(v)].children; i++)
      if (cells_[size_t(cells_[size_t(v)].first + i)].bound != kNoCell) return;
  }
}

/// Binds a cell to the first unbound child of its parent's virtual cell, so that the VC sees that it is bad.
void CellForest::bind_bad(int32_t x) {
  const int32_t p = cells_[size_t(x)].parent;
  const int32_t u = p == kNoCell ? kNoCell : cells_[size_t(p)].bound;
  if (u == kNoCell) return;
  for (int32_t i = 0; i < cells_[size_t(u)].children; i++)
    if (cells_[size_t(cells_[size_t(u)].first + i)].bound == kNoCell) return bind(x, cells_[size_t(u)].first + i);
}

// ---- leaves in use

/// `by` more leaves (or fewer) of a priority below the highest.
void CellForest::count_lower(int32_t& head, int32_t priority, int32_t by) {
  int32_t* at = &head;
  while (*at >= 0 && pool_[size_t(*at)].priority > priority) at = &pool_[size_t(*at)].next;
  if (*at >= 0 && pool_[size_t(*at)].priority == priority) {
    Use& u = pool_[size_t(*at)];
    journal_.add(u.count, by);
    if (u.count == 0) drop_lower(*at);
    return;
  }
  int32_t fresh = pool_free_;
  if (fresh >= 0) {
    journal_.set(pool_free_, pool_[size_t(fresh)].next);
  } else {
    fresh = pool_used_;
    journal_.add(pool_used_, 1);
    if (size_t(fresh) == pool_.size()) pool_.emplace_back();
  }
  Use& u = pool_[size_t(fresh)];
  journal_.set(u.priority, priority);
  journal_.set(u.count, by);
  journal_.set(u.next, *at);
  journal_.set(*at, fresh);
}

void CellForest::drop_lower(int32_t& at) {
  const int32_t gone = at;
  journal_.set(at, pool_[size_t(gone)].next);
  journal_.set(pool_[size_t(gone)].next, pool_free_);
  journal_.set(pool_free_, gone);
}

void CellForest::tally(int32_t& priority, int32_t& used, int32_t& lower, int32_t p, int32_t by) {
  const int32_t was = used;
  journal_.add(used, by);
  if (was == 0) {
    journal_.set(priority, p);
  } else if (p < priority) {
    count_lower(lower, p, by);
  } else if (p > priority) {
    int32_t top = was;  // at the priority that was highest so far
    for (int32_t u = lower; u >= 0; u = pool_[size_t(u)].next) top -= pool_[size_t(u)].count;
    count_lower(lower, priority, top);
    journal_.set(priority, p);
  } else if (by < 0) {
    int32_t top = used;
    for (int32_t u = lower; u >= 0; u = pool_[size_t(u)].next) top -= pool_[size_t(u)].count;
    if (top > 0) return;
    journal_.set(priority, lower < 0 ? kFreePriority : pool_[size_t(lower)].priority);
    if (lower >= 0) drop_lower(lower);
  }
}

void CellForest::count_one(int32_t c, int32_t priority, int32_t by) {
  Cell& x = cells_[size_t(c)];
  if (priority == kOpportunistic) journal_.add(x.opportunistic, by);
  tally(x.priority, x.used, x.uses, priority, by);
  if (x.view >= 0) {
    NodeView& view = *views_[size_t(x.view)];
    tally(view.tally().priority, view.tally().used, view.tally().lower, priority, by);
    view.touch(x.slot);
  }
  if (x.parent == kNoCell) root_changed(c);
}

/// Each leaf is one more in use (`by` 1) or less (-1) at `priority`, in it and in all that holds it. Leaves that follow each other in a
/// cell are counted in it at once.
void CellForest::count_leaves(std::span<const int32_t> leaves, int32_t priority, int32_t by) {
  if (leaves.empty()) return;
  if (leaves[0] < first_virtual_) journal_.add(priority == kOpportunistic ? opportunistic_ : guaranteed_, by * int32_t(leaves.size()));
  struct Pending {
    int32_t cell = kNoCell, n = 0;
  };
  std::array<Pending, kMostLevels> pending;
  int32_t top = 1;
  const auto flush = [&](int32_t level, const auto& self) -> void {
    const Pending p = pending[size_t(level)];
    if (p.cell == kNoCell) return;
    pending[size_t(level)] = {};
    count_one(p.cell, priority, by * p.n);
    const int32_t parent = cells_[size_t(p.cell)].parent;
    if (parent == kNoCell) return;
    Pending& above = pending[size_t(level + 1)];
    if (above.cell != parent) self(level + 1, self), above.cell = parent;
    above.n += p.n;
    top = std::max(top, level + 1);
  };
  for (const int32_t x : leaves) {
    pending[1] = {x, 1};
    flush(1, flush);
  }
  for (int32_t l = 1; l <= top; l++) flush(l, flush);
}

/// A bad cell that nobody uses is bound only to be seen. Where that happened since leaf `x` was chosen for virtual leaf `v`, or for a cell that
/// holds it, the bad one lets go; it is returned, to be shown elsewhere. The real scheduler leaves `x` without a binding then, and its counts
/// part (a known defect).
int32_t CellForest::make_way(int32_t x, int32_t v, int32_t vc) {
  std::array<int32_t, kMostLevels> physical, virtual_;
  size_t n = 0;
  for (; v != kNoCell; x = cells_[size_t(x)].parent, v = cells_[size_t(v)].parent) physical[n] = x, virtual_[n++] = v;
  while (n > 0) {
    const int32_t a = physical[--n], b = virtual_[n], other = cells_[size_t(b)].bound;
    if (other == kNoCell) return kNoCell;
    if (other == a) continue;
    if (cells_[size_t(other)].used > 0 || !cells_[size_t(other)].bad) return kNoCell;
    if (cells_[size_t(b)].parent != kNoCell) {
      unbind_below(other);
      return other;
    }
    undoomed(other, vc);
    unbind_one(other);
    give_root(other, vc, true);
    return kNoCell;
  }
  return kNoCell;
}

void CellForest::unbind_below(int32_t x) {
  unbind_one(x);
  for (int32_t i = 0; i < cells_[size_t(x)].children; i++) unbind_below(cells_[size_t(x)].first + i);
}

/// Binds a leaf, and all above it that is not bound yet; a root that was not takes its cell out of the free lists.
bool CellForest::bind_leaf(int32_t x, int32_t v, int32_t vc) {
  const int32_t moved = bad_leaves_ > 0 ? make_way(x, v, vc) : kNoCell;
  const int32_t root = cells_[size_t(v)].root;
  const bool fresh = cells_[size_t(root)].bound == kNoCell;
  if (cells_[size_t(x)].bound == kNoCell)
    for (int32_t a = x, b = v; b != kNoCell && cells_[size_t(b)].bound == kNoCell; a = cells_[size_t(a)].parent, b = cells_[size_t(b)].parent)
      bind(a, b);
  if (moved != kNoCell) take_bad(moved);
  return fresh ? take_root(cells_[size_t(root)].bound, vc, false) : true;
}

bool CellForest::take_leaf(int32_t x, int32_t v, int32_t priority, int32_t vc) {
  if (v == kNoCell) {
    count_leaves({&x, 1}, kOpportunistic, 1);
    return true;
  }
  count_leaves({&v, 1}, priority, 1);
  count_leaves({&x, 1}, priority, 1);
  return bind_leaf(x, v, vc);
}

void CellForest::give_leaves(std::span<const int32_t> leaves, int32_t vc) {
  // A leaf is also bound, but not used, when it is bad in a cell that a VC owns.
  const auto used = [&](int32_t x) {
    const int32_t v = cells_[size_t(x)].bound;
    return v != kNoCell && cells_[size_t(v)].priority != kFreePriority ? v : kNoCell;
  };
  for (size_t i = 0; i < leaves.size();) {
    // A run of leaves of one root, or of none. Before its last leaf the root is in use, so nothing but counts and bindings changes.
    const int32_t first = used(leaves[i]), priority = cells_[size_t(leaves[i])].priority;
    const int32_t root = first == kNoCell ? kNoCell : cells_[size_t(first)].root;
    virtual_.clear();
    size_t end = i;
    for (; end < leaves.size() && cells_[size_t(leaves[end])].priority == priority; end++) {
      const int32_t v = used(leaves[end]);
      if ((v == kNoCell ? kNoCell : cells_[size_t(v)].root) != root) break;
      if (v != kNoCell) virtual_.push_back(v);
    }
    const auto run = leaves.subspan(i, end - i);
    i = end;
    if (root != kNoCell) {
      count_leaves(virtual_, cells_[size_t(first)].priority, -1);
      const int32_t r = cells_[size_t(root)].bound;
      for (const int32_t x : run)
        if (!cells_[size_t(x)].bad) unbind_up(x);
      if (!infos_[size_t(r)].pinned && cells_[size_t(root)].priority == kFreePriority) {
        // A doomed cell that was healed while in use goes back like any other; one that is still bad stays doomed.
        if (!cells_[size_t(r)].bad) undoomed(r, vc);
        if (!chains_[size_t(infos_[size_t(r)].tree)].doomed[size_t(vc)][size_t(cells_[size_t(r)].level)].has(r)) give_root(r, vc, false);
      }
    }
    count_leaves(run, priority, -1);
  }
}

CellForest::Totals CellForest::totals() const {
  Totals t;
  for (const Chain& c : chains_) {
    int64_t leaves = 1;
    for (int32_t l = 1; l <= c.top; l++) {
      leaves *= l > 1 ? c.kids[size_t(l)] : 1;
      t.free += leaves * c.free[size_t(l)].size();
      if (l >= c.node_level) t.free_nodes += leaves * c.free[size_t(l)].size();
    }
    t.owned += leaves * int64_t(c.full[size_t(c.top)].size());
  }
  t.owned -= t.free;
  t.guaranteed = guaranteed_, t.opportunistic = opportunistic_, t.bad = bad_leaves_;
  t.splits = splits, t.merges = merges;
  return t;
}

// ---- health

void CellForest::hurt(int32_t x) {
  if (cells_[size_t(x)].bad) return;
  journal_.set(cells_[size_t(x)].bad, 1);
  if (cells_[size_t(x)].level == 1) journal_.add(bad_leaves_, 1);
  touch(x);
  if (cells_[size_t(x)].bound != kNoCell) touch(cells_[size_t(x)].bound);
  if (cells_[size_t(x)].parent != kNoCell) hurt(cells_[size_t(x)].parent);
  const int32_t level = cells_[size_t(x)].level, id = infos_[size_t(x)].tree;
  Chain& chain = chains_[size_t(id)];
  if (is_free(x)) {
    chain.bad_free[size_t(level)].push(journal_, x);
    if (chain.all_free[size_t(level)] > chain.left[size_t(level)] - chain.bad_free[size_t(level)].size()) doom(id, level);
  } else if (cells_[size_t(x)].bound == kNoCell && !cells_[size_t(x)].split()) {
    bind_bad(x);
  }
}

void CellForest::heal(int32_t x) {
  if (!cells_[size_t(x)].bad) return;
  journal_.set(cells_[size_t(x)].bad, 0);
  if (cells_[size_t(x)].level == 1) journal_.add(bad_leaves_, -1);
  touch(x);
  const int32_t v = cells_[size_t(x)].bound, level = cells_[size_t(x)].level, id = infos_[size_t(x)].tree, p = cells_[size_t(x)].parent;
  if (v != kNoCell) touch(v);
  Chain& chain = chains_[size_t(id)];
  if (is_free(x)) {
    chain.bad_free[size_t(level)].drop(journal_, x);
    undoom(id, level);
  } else if (v != kNoCell && !infos_[size_t(x)].pinned) {
    const bool root = cells_[size_t(v)].parent == kNoCell;
    const int32_t vc = trees_[size_t(infos_[size_t(v)].tree)].vc;
    if (cells_[size_t(v)].priority == kFreePriority) {
      unbind_one(x);
      if (root) {
        undoomed(x, vc);
        give_root(x, vc, true);
      }
    }
  }
  if (p == kNoCell) return;
  for (int32_t i = 0; i < cells_[size_t(p)].children; i++)
    if (cells_[size_t(cells_[size_t(p)].first + i)].bad) return;
  heal(p);
}

/// Takes a cell from the doomed ones of a VC, if it is among them.
void CellForest::undoomed(int32_t x, int32_t vc) {
  const auto level = size_t(cells_[size_t(x)].level);
  Chain& chain = chains_[size_t(infos_[size_t(x)].tree)];
  CellList& list = chain.doomed[size_t(vc)][level];
  if (!list.has(x)) return;
  list.drop(journal_, x);
  journal_.add(chain.doomed_cells[level], -1);
}

/// Shows each VC that can no longer be served healthy cells of this level which bad ones it would get.
void CellForest::doom(int32_t id, int32_t level) {
  Chain& chain = chains_[size_t(id)];
  CellList& bad = chain.bad_free[size_t(level)];
  for (size_t vc = 0; vc < vcs_.size() && !bad.empty(); vc++) {
    while (!bad.empty() && chain.vc_free[vc][size_t(level)] > chain.left[size_t(level)] - bad.size()) {
      const int32_t tree = tree_of_[vc][size_t(id)];
      if (tree < 0 || trees_[size_t(tree)].top() < level) break;
      const VirtualTree& t = trees_[size_t(tree)];
      int32_t root = kNoCell;
      for (const int32_t r : t.roots[size_t(level)])
        if (cells_[size_t(r)].bound == kNoCell) {
          root = r;
          break;
        }
      if (root == kNoCell) break;
      const int32_t x = bad[0];
      bind(x, root);
      chain.doomed[vc][size_t(level)].push(journal_, x);
      journal_.add(chain.doomed_cells[size_t(level)], 1);
      take_root(x, int32_t(vc), true);
    }
  }
}

void CellForest::undoom(int32_t id, int32_t level) {
  Chain& chain = chains_[size_t(id)];
  for (size_t vc = 0; vc < vcs_.size() && chain.doomed_cells[size_t(level)] > 0; vc++) {
    CellList& doomed = chain.doomed[vc][size_t(level)];
    while (!doomed.empty() && chain.vc_free[vc][size_t(level)] < chain.left[size_t(level)] - chain.bad_free[size_t(level)].size()) {
      const int32_t x = doomed[0];
      const bool in_use = cells_[size_t(cells_[size_t(x)].bound)].priority != kFreePriority;
      undoomed(x, int32_t(vc));
      if (in_use) continue;  // an ordinary allocated cell, given back by its last user
      unbind_one(x);
      give_root(x, int32_t(vc), true);
    }
  }
}

void CellForest::take_bad(int32_t c) {
  Chain& chain = chains_[size_t(infos_[size_t(c)].tree)];
  chain.bad_free[size_t(cells_[size_t(c)].level)].drop(journal_, c);
  if (cells_[size_t(c)].bound == kNoCell) bind_bad(c);
  for (int32_t i = 0; i < cells_[size_t(c)].children; i++)
    if (cells_[size_t(cells_[size_t(c)].first + i)].bad) take_bad(cells_[size_t(c)].first + i);
}

void CellForest::give_bad(int32_t c) {
  Chain& chain = chains_[size_t(infos_[size_t(c)].tree)];
  chain.bad_free[size_t(cells_[size_t(c)].level)].push(journal_, c);
  unbind_one(c);
  for (int32_t i = 0; i < cells_[size_t(c)].children; i++)
    if (cells_[size_t(cells_[size_t(c)].first + i)].bad) give_bad(cells_[size_t(c)].first + i);
}

}  // namespace muster
