// Gangs: bound, reserved for, preempted, lazily preempted, gone.
#include <algorithm>

#include "parts/hived.hpp"

namespace muster {

int32_t Hived::create(const HivedRequest& r, GroupState s, int32_t leaves) {
  int32_t g = group_free_;
  if (g >= 0) {
    journal().set(group_free_, groups_[size_t(g)].next_free);
  } else {
    g = groups_used_;
    journal().set(groups_used_, g + 1);
    if (size_t(g) == groups_.size()) groups_.emplace_back();
  }
  Group& x = groups_[size_t(g)];
  journal().set(x.state, int32_t(s));
  journal().set(x.tag, int32_t(r.tag));
  journal().set(x.vc, r.vc);
  journal().set(x.priority, r.priority);
  journal().set(x.can_lazy, r.lazy_preemption);
  journal().set(x.lazied, 0);
  journal().set(x.ignore_suggested, r.ignore_suggested);
  journal().set(x.leaves, leaves);
  journal().set(x.physical, blocks_.take(journal(), leaves));
  journal().set(x.virtual_, r.priority < 0 ? -1 : blocks_.take(journal(), leaves));
  return g;
}

void Hived::destroy(int32_t g) {
  Group& x = groups_[size_t(g)];
  blocks_.give(journal(), x.physical);
  if (x.virtual_ >= 0) blocks_.give(journal(), x.virtual_);
  journal().set(x.virtual_, -1);
  journal().set(x.state, int32_t(GroupState::none));
  journal().set(x.next_free, group_free_);
  journal().set(group_free_, g);
}

/// The first that nobody uses, else the first of the lowest priority below `priority`, else none.
template <class At> static int32_t lowest(const CellForest& forest, size_t n, int32_t priority, At cell) {
  int32_t best = kNoCell, least = priority;
  for (size_t i = 0; i < n; i++) {
    const Cell& c = forest[cell(i)];
    if (c.priority == kFreePriority) {
      if (c.bound == kNoCell) return cell(i);
    } else if (c.priority < least) {
      least = c.priority, best = cell(i);
    }
  }
  return best;
}

/// The virtual cell that physical cell `x` stands for in `tree`, whose roots of `root_level` are asked.
int32_t Hived::derive(int32_t x, int32_t root_level, const VirtualTree* tree, int32_t priority) const {
  const Cell& c = at(x);
  if (c.bound != kNoCell) return c.bound;
  if (c.level == root_level) {
    if (root_level >= int32_t(tree->roots.size())) return kNoCell;
    const std::vector<int32_t>& roots = tree->roots[size_t(root_level)];
    if (const int32_t i = tree->unused[size_t(root_level)].first(); i >= 0) return roots[size_t(i)];
    return lowest(forest, roots.size(), priority, [&](size_t i) { return roots[i]; });
  }
  if (c.parent == kNoCell) return kNoCell;
  const int32_t u = derive(c.parent, root_level, tree, priority);
  if (u == kNoCell) return kNoCell;
  return lowest(forest, size_t(at(u).children), priority, [&](size_t i) { return at(u).first + int32_t(i); });
}

void Hived::count_run(int32_t priority, int32_t root) {
  forest.count_leaves(run_virtual_, priority, 1);
  forest.count_leaves(run_, root == kNoCell ? kOpportunistic : priority, 1);
  run_.clear(), run_virtual_.clear();
}

int32_t Hived::commit(const HivedRequest& r, const std::vector<HivedLeaf>& leaves) {
  const int32_t g = create(r, GroupState::allocated, int32_t(leaves.size()));
  bool lost = false;
  int32_t run_root = kNoCell;
  for (size_t i = 0; i < leaves.size(); i++) {
    const int32_t x = leaves[i].physical;
    journal().set(blocks_.at(groups_[size_t(g)].physical)[i], x);
    int32_t v = kNoCell;
    if (r.priority >= 0 && x != kNoCell && leaves[i].root_level > 0) {
      const int32_t tree = r.vc < 0 ? -1 : r.pinned.empty() ? forest.tree_of(r.vc, forest.info(x).tree) : forest.pinned_tree(r.vc, r.pinned);
      if (tree >= 0) v = derive(x, leaves[i].root_level, &forest.trees()[size_t(tree)], r.priority);
      if (v == kNoCell) lost = true;
      else if (forest.is_free(x) && at(at(v).root).priority > kFreePriority) lazy_below(at(v).root, g);
    } else if (r.priority >= 0 && x != kNoCell) {
      lost = true;
    }
    if (groups_[size_t(g)].virtual_ >= 0) journal().set(blocks_.at(groups_[size_t(g)].virtual_)[i], v);
    if (x == kNoCell) continue;
    // Counted a root at a time: until the next root nothing asks how much of this one is in use.
    const int32_t root = v == kNoCell ? kNoCell : at(v).root;
    if (run_.empty() || root != run_root) count_run(r.priority, run_root);
    run_root = root;
    run_.push_back(x);
    if (v != kNoCell) {
      run_virtual_.push_back(v);
      if (!forest.bind_leaf(x, v, r.vc)) lost = true;
    }
    forest.set_user(x, g);
    forest.set_state(x, LeafState::used);
  }
  count_run(r.priority, run_root);
  if (lost) {
    const int32_t block = lazy(g);
    if (block >= 0) blocks_.give(journal(), block);
  }
  return g;
}

void Hived::bind(int32_t g) {
  for (const int32_t x : physical(g)) {
    forest.set_reserver(x, -1);
    forest.set_user(x, g);
    forest.set_state(x, LeafState::used);
  }
  journal().set(groups_[size_t(g)].state, int32_t(GroupState::allocated));
}

void Hived::release(int32_t g) {
  run_.clear();
  for (const int32_t x : physical(g)) {
    if (x == kNoCell) continue;
    forest.set_user(x, -1);
    const bool used = LeafState(at(x).state) == LeafState::used;
    forest.set_state(x, used ? LeafState::free : LeafState::reserved);
    if (used) run_.push_back(x);
  }
  forest.give_leaves(run_, groups_[size_t(g)].vc);
  run_.clear();
  destroy(g);
}

int32_t Hived::reserve(const HivedRequest& r) {
  const int32_t g = create(r, GroupState::preempting, int32_t(placement_.size()));
  for (size_t i = 0; i < placement_.size(); i++) {
    const int32_t x = placement_[i].physical, v = placement_[i].virtual_;
    journal().set(blocks_.at(groups_[size_t(g)].physical)[i], x);
    journal().set(blocks_.at(groups_[size_t(g)].virtual_)[i], v);
    const bool used = LeafState(at(x).state) == LeafState::used;
    if (used) {
      Group& user = groups_[size_t(at(x).user)];
      forest.give_leaf(x, user.vc);
      journal().set(user.state, int32_t(GroupState::being_preempted));
    }
    forest.take_leaf(x, v, r.priority, r.vc);
    forest.set_reserver(x, g);
    forest.set_state(x, used ? LeafState::reserving : LeafState::reserved);
  }
  return g;
}

void Hived::cancel(int32_t g) {
  const auto leaves = physical(g);
  for (const int32_t x : leaves) {
    forest.give_leaf(x, groups_[size_t(g)].vc);
    forest.set_reserver(x, -1);
    if (LeafState(at(x).state) != LeafState::reserving) {
      forest.set_state(x, LeafState::free);
      continue;
    }
    forest.set_state(x, LeafState::used);
    const Group& user = groups_[size_t(at(x).user)];
    int32_t v = kNoCell;
    if (user.virtual_ >= 0) {
      const auto of = physical(at(x).user);
      v = blocks_.at(user.virtual_)[std::find(of.begin(), of.end(), x) - of.begin()];
    }
    forest.take_leaf(x, v, user.priority, user.vc);
  }
  destroy(g);
}

/// The gang goes on opportunistically. Returns the block of its virtual leaves, for unlazy() or to be given back; -1 when it had none.
int32_t Hived::lazy(int32_t g) {
  Group& x = groups_[size_t(g)];
  const int32_t block = x.virtual_;
  journal().set(x.lazied, 1);
  lazied.push_back(g);
  if (block < 0) return -1;
  for (int32_t i = 0; i < x.leaves; i++) {
    if (blocks_.at(block)[i] == kNoCell) continue;
    const int32_t leaf = blocks_.at(x.physical)[i];
    forest.give_leaf(leaf, x.vc);
    forest.take_leaf(leaf, kNoCell, kOpportunistic, x.vc);
  }
  journal().set(x.virtual_, -1);
  return block;
}

void Hived::unlazy(int32_t g, int32_t block) {
  Group& x = groups_[size_t(g)];
  for (int32_t i = 0; i < x.leaves; i++) {
    const int32_t leaf = blocks_.at(x.physical)[i];
    forest.give_leaf(leaf, x.vc);
    forest.take_leaf(leaf, blocks_.at(block)[i], x.priority, x.vc);
  }
  journal().set(x.virtual_, block);
  journal().set(x.lazied, 0);
}

/// All gangs in a virtual cell but one.
void Hived::lazy_below(int32_t v, int32_t but) {
  const Cell& c = at(v);
  if (c.level > 1) {
    for (int32_t i = 0; i < c.children; i++) lazy_below(c.first + i, but);
    return;
  }
  if (c.bound == kNoCell || c.priority == kFreePriority || LeafState(at(c.bound).state) != LeafState::used) return;
  const int32_t g = at(c.bound).user;
  if (g < 0 || g == but || groups_[size_t(g)].virtual_ < 0) return;
  const int32_t block = lazy(g);
  if (block >= 0) blocks_.give(journal(), block);
}

}  // namespace muster
