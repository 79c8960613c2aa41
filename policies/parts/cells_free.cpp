// Free lists, bindings, counts and health: everything that changes a cell.
#include "parts/cells.hpp"
#include "parts/node_view.hpp"

namespace muster {

bool CellForest::is_free(int32_t c) const {
  for (;; c = cells_[size_t(c)].parent) {
    const Cell& x = cells_[size_t(c)];
    if (x.bound != kNoCell || x.split) return false;
    if (x.parent == kNoCell || cells_[size_t(x.parent)].split) return true;
  }
}

void CellForest::touch(int32_t c) {
  const Cell& x = cells_[size_t(c)];
  if (x.view >= 0) views_[size_t(x.view)]->touch(x.slot);
}

/// A virtual root came into or out of use.
void CellForest::root_changed(int32_t v) {
  const Cell& x = cells_[size_t(v)];
  if (x.is_physical || x.parent != kNoCell) return;
  JournaledSet& unused = trees_[size_t(x.tree)].unused[size_t(x.level)];
  const bool is = x.bound == kNoCell && x.priority == kFreePriority;
  if (is != unused.contains(root_position_[size_t(v)])) {
    if (is) unused.insert(journal_, root_position_[size_t(v)]);
    else unused.erase(journal_, root_position_[size_t(v)]);
  }
}

// ---- free lists

/// Takes a free cell out of the free lists, splitting what holds it. Returns the highest level touched.
int32_t CellForest::take_out(int32_t c) {
  auto& lists = chains_[size_t(cells_[size_t(c)].tree)].free;
  for (;;) {
    const int32_t p = cells_[size_t(c)].parent, level = cells_[size_t(c)].level;
    if (p != kNoCell && !cells_[size_t(p)].split) {
      for (int32_t i = 0; i < cells_[size_t(p)].children; i++) lists[size_t(level)].push(journal_, cells_, cells_[size_t(p)].first + i);
      journal_.set(cells_[size_t(p)].split, 1);
      splits++;
      told(CellStep::What::split, p, -1);
      lists[size_t(level)].drop(journal_, cells_, c);
      c = p;
    } else {
      lists[size_t(level)].drop(journal_, cells_, c);
      return level;
    }
  }
}

/// Puts a cell back, merging buddies that are all free. Returns the highest level touched.
int32_t CellForest::give_back(int32_t c) {
  auto& lists = chains_[size_t(cells_[size_t(c)].tree)].free;
  for (;;) {
    const int32_t p = cells_[size_t(c)].parent, level = cells_[size_t(c)].level;
    CellList& list = lists[size_t(level)];
    bool whole = p != kNoCell;
    for (int32_t i = 0; whole && i < cells_[size_t(p)].children; i++) {
      const int32_t buddy = cells_[size_t(p)].first + i;
      whole = buddy == c || list.has(cells_, buddy);
    }
    if (!whole) {
      list.push(journal_, cells_, c);
      return level;
    }
    for (int32_t i = 0; i < cells_[size_t(p)].children; i++)
      if (cells_[size_t(p)].first + i != c) list.drop(journal_, cells_, cells_[size_t(p)].first + i);
    journal_.set(cells_[size_t(p)].split, 0);
    merges++;
    told(CellStep::What::merge, p, -1);
    c = p;
  }
}

bool CellForest::take_root(int32_t c, int32_t vc, bool as_doomed) {
  const int32_t id = cells_[size_t(c)].tree, level = cells_[size_t(c)].level;
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
    if (cells_[size_t(p)].bad) chain.bad_free[size_t(l)].drop(journal_, cells_, p);
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
  const int32_t id = cells_[size_t(c)].tree, level = cells_[size_t(c)].level;
  Chain& chain = chains_[size_t(id)];
  journal_.add(chain.vc_free[size_t(vc)][size_t(level)], 1);
  journal_.add(chain.all_free[size_t(level)], 1);
  journal_.add(chain.left[size_t(level)], 1);
  told(as_doomed ? CellStep::What::undoom : CellStep::What::give, c, vc);
  const int32_t up = give_back(c);
  int32_t p = cells_[size_t(c)].parent;
  for (int32_t l = level + 1; l <= up; l++, p = cells_[size_t(p)].parent) {
    journal_.add(chain.left[size_t(l)], 1);
    if (cells_[size_t(p)].bad) chain.bad_free[size_t(l)].push(journal_, cells_, p);
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
    if (at == kNoCell || cells_[size_t(at)].pinned) return;
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

void CellForest::count_use(int32_t& head, int32_t priority, int32_t by) {
  int32_t* at = &head;
  while (*at >= 0 && pool_[size_t(*at)].priority > priority) at = &pool_[size_t(*at)].next;
  if (*at >= 0 && pool_[size_t(*at)].priority == priority) {
    Use& u = pool_[size_t(*at)];
    journal_.add(u.count, by);
    if (u.count != 0) return;
    const int32_t gone = *at;
    journal_.set(*at, u.next);
    journal_.set(pool_[size_t(gone)].next, pool_free_);
    journal_.set(pool_free_, gone);
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

/// `by` more leaves (1 or -1) are in use at `priority` in `c` and in all that holds it.
void CellForest::count(int32_t c, int32_t priority, int32_t by) {
  if (cells_[size_t(c)].is_physical) journal_.add(priority == kOpportunistic ? opportunistic_ : guaranteed_, by);
  for (; c != kNoCell; c = cells_[size_t(c)].parent) {
    Cell& x = cells_[size_t(c)];
    journal_.add(x.used, by);
    if (priority == kOpportunistic) journal_.add(x.opportunistic, by);
    count_use(x.uses, priority, by);
    journal_.set(x.priority, x.uses < 0 ? kFreePriority : pool_[size_t(x.uses)].priority);
    if (x.view >= 0) {
      NodeView& view = *views_[size_t(x.view)];
      count_use(view.uses(), priority, by);
      view.touch(x.slot);
    }
    root_changed(c);
  }
}

bool CellForest::take_leaf(int32_t x, int32_t v, int32_t priority, int32_t vc) {
  if (v == kNoCell) {
    count(x, kOpportunistic, 1);
    return true;
  }
  count(v, priority, 1);
  count(x, priority, 1);
  const int32_t root = cells_[size_t(v)].root;
  const bool fresh = cells_[size_t(root)].bound == kNoCell;
  if (cells_[size_t(x)].bound == kNoCell)
    for (int32_t a = x, b = v; b != kNoCell && cells_[size_t(b)].bound == kNoCell;
         a = cells_[size_t(a)].parent, b = cells_[size_t(b)].parent)
      bind(a, b);
  return fresh ? take_root(cells_[size_t(root)].bound, vc, false) : true;
}

void CellForest::give_leaf(int32_t x, int32_t vc) {
  // A leaf is also bound, but not used, when it is bad in a cell that a VC owns.
  if (const int32_t v = cells_[size_t(x)].bound; v != kNoCell && cells_[size_t(v)].priority != kFreePriority) {
    count(v, cells_[size_t(v)].priority, -1);
    const int32_t root = cells_[size_t(v)].root, r = cells_[size_t(root)].bound;
    if (!cells_[size_t(x)].bad) unbind_up(x);
    if (!cells_[size_t(r)].pinned && cells_[size_t(root)].priority == kFreePriority) {
      // A doomed cell that was healed while in use goes back like any other; one that is still bad stays doomed.
      if (!cells_[size_t(r)].bad) undoomed(r, vc);
      if (!chains_[size_t(cells_[size_t(r)].tree)].doomed[size_t(vc)][size_t(cells_[size_t(r)].level)].has(cells_, r))
        give_root(r, vc, false);
    }
  }
  count(x, cells_[size_t(x)].priority, -1);
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
  const int32_t level = cells_[size_t(x)].level, id = cells_[size_t(x)].tree;
  Chain& chain = chains_[size_t(id)];
  if (is_free(x)) {
    chain.bad_free[size_t(level)].push(journal_, cells_, x);
    if (chain.all_free[size_t(level)] > chain.left[size_t(level)] - chain.bad_free[size_t(level)].size()) doom(id, level);
  } else if (cells_[size_t(x)].bound == kNoCell && !cells_[size_t(x)].split) {
    bind_bad(x);
  }
}

void CellForest::heal(int32_t x) {
  if (!cells_[size_t(x)].bad) return;
  journal_.set(cells_[size_t(x)].bad, 0);
  if (cells_[size_t(x)].level == 1) journal_.add(bad_leaves_, -1);
  touch(x);
  const int32_t v = cells_[size_t(x)].bound, level = cells_[size_t(x)].level, id = cells_[size_t(x)].tree, p = cells_[size_t(x)].parent;
  if (v != kNoCell) touch(v);
  Chain& chain = chains_[size_t(id)];
  if (is_free(x)) {
    chain.bad_free[size_t(level)].drop(journal_, cells_, x);
    undoom(id, level);
  } else if (v != kNoCell && !cells_[size_t(x)].pinned) {
    const bool root = cells_[size_t(v)].parent == kNoCell;
    const int32_t vc = trees_[size_t(cells_[size_t(v)].tree)].vc;
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
  Chain& chain = chains_[size_t(cells_[size_t(x)].tree)];
  CellList& list = chain.doomed[size_t(vc)][level];
  if (!list.has(cells_, x)) return;
  list.drop(journal_, cells_, x);
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
      chain.doomed[vc][size_t(level)].push(journal_, cells_, x);
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
  Chain& chain = chains_[size_t(cells_[size_t(c)].tree)];
  chain.bad_free[size_t(cells_[size_t(c)].level)].drop(journal_, cells_, c);
  if (cells_[size_t(c)].bound == kNoCell) bind_bad(c);
  for (int32_t i = 0; i < cells_[size_t(c)].children; i++)
    if (cells_[size_t(cells_[size_t(c)].first + i)].bad) take_bad(cells_[size_t(c)].first + i);
}

void CellForest::give_bad(int32_t c) {
  Chain& chain = chains_[size_t(cells_[size_t(c)].tree)];
  chain.bad_free[size_t(cells_[size_t(c)].level)].push(journal_, cells_, c);
  unbind_one(c);
  for (int32_t i = 0; i < cells_[size_t(c)].children; i++)
    if (cells_[size_t(cells_[size_t(c)].first + i)].bad) give_bad(cells_[size_t(c)].first + i);
}

}  // namespace muster
