// Requests: which cells of which virtual cluster.
#include "parts/hived.hpp"

#include <algorithm>

namespace muster {

Hived::Hived(const HivedConfig& config) : forest(config) {
  const auto& chains = forest.chains();
  for (size_t c = 0; c < chains.size(); c++) {
    const auto it = std::find(leaf_types_.begin(), leaf_types_.end(), chains[c].leaf_type());
    const auto type = size_t(it - leaf_types_.begin());
    if (it == leaf_types_.end()) leaf_types_.push_back(chains[c].leaf_type()), chains_of_type_.emplace_back();
    chains_of_type_[type].push_back(int32_t(c));
  }
  for (const HivedConfig::ChainOrder& o : config.chain_order) {
    const auto it = std::find(leaf_types_.begin(), leaf_types_.end(), o.leaf_type);
    if (it == leaf_types_.end()) continue;
    const auto place = [&](int32_t chain) {
      return std::find(o.chains.begin(), o.chains.end(), chains[size_t(chain)].name) - o.chains.begin();
    };
    auto& list = chains_of_type_[size_t(it - leaf_types_.begin())];
    std::stable_sort(list.begin(), list.end(), [&](int32_t a, int32_t b) { return place(a) < place(b); });
  }
  const auto view = [&](const std::vector<std::vector<int32_t>>& full, const Chain& c, bool opportunistic) {
    forest.views().push_back(std::make_unique<NodeView>(forest, int32_t(forest.views().size()), full, c.node_level, opportunistic));
    return forest.views().back().get();
  };
  for (const Chain& c : chains) chain_view_.push_back(view(c.full, c, true));
  for (const VirtualTree& t : forest.trees()) tree_view_.push_back(view(t.full, chains[size_t(t.chain)], false));
  vertex_of_.assign(forest.cells().size(), -1);
  mapped_.assign(forest.cells().size(), kNoCell);
}

std::string Hived::wrong(const HivedRequest& r) const {
  if (r.vc < 0) return "no such virtual cluster";
  if (r.priority < kOpportunistic || r.priority > 1000) return "its priority is not from -1 to 1000";
  if (r.members.empty()) return "it has no members";
  for (const HivedRequest::Member& m : r.members)
    if (m.pods <= 0 || m.leaves <= 0) return "a member asks for nothing";
  if (!r.pinned.empty()) {
    if (forest.pinned_tree(r.vc, r.pinned) < 0) return "its virtual cluster has no pinned cell " + r.pinned;
    if (r.priority < 0) return "opportunistic work uses no pinned cells";
    return {};
  }
  if (r.leaf_type.empty()) return {};
  const auto type = std::find(leaf_types_.begin(), leaf_types_.end(), r.leaf_type);
  if (type == leaf_types_.end()) return "no cell is of type " + r.leaf_type;
  if (r.priority < 0) return {};
  for (const int32_t c : chains_of_type_[size_t(type - leaf_types_.begin())])
    if (forest.tree_of(r.vc, c) >= 0) return {};
  return "its virtual cluster owns no cells of " + r.leaf_type;
}

HivedWait Hived::search(const HivedRequest& r, const std::vector<char>& suggested) {
  sizes_.clear();
  for (const HivedRequest::Member& m : r.members) sizes_.insert(sizes_.end(), size_t(m.pods), m.leaves);
  std::sort(sizes_.begin(), sizes_.end());
  if (!r.pinned.empty()) {
    const int32_t tree = forest.pinned_tree(r.vc, r.pinned);
    if (const HivedWait w = place(*tree_view_[size_t(tree)], r, suggested, virtual_); w != HivedWait::none) return w;
    return map_all(forest.trees()[size_t(tree)].chain, virtual_, suggested) ? HivedWait::none : HivedWait::no_physical_mapping;
  }
  HivedWait why = HivedWait::insufficient_capacity;
  for (size_t t = 0; t < leaf_types_.size(); t++) {
    if (!r.leaf_type.empty() && leaf_types_[t] != r.leaf_type) continue;
    for (const int32_t c : chains_of_type_[t]) {
      if (r.priority >= 0 && forest.tree_of(r.vc, c) < 0) continue;
      why = search_chain(r, c, suggested);
      if (why == HivedWait::none) return why;
    }
  }
  return why;
}

HivedWait Hived::search_chain(const HivedRequest& r, int32_t chain, const std::vector<char>& suggested) {
  if (r.priority < 0) {
    const HivedWait w = place(*chain_view_[size_t(chain)], r, suggested, leaves_);
    placement_.clear();
    if (w == HivedWait::none)
      for (const int32_t x : leaves_) placement_.push_back({x, kNoCell, -1});
    return w;
  }
  const int32_t tree = forest.tree_of(r.vc, chain);
  if (const HivedWait w = place(*tree_view_[size_t(tree)], r, suggested, virtual_); w != HivedWait::none) return w;
  return map_all(chain, virtual_, suggested) ? HivedWait::none : HivedWait::no_physical_mapping;
}

/// Leaves of the view for every task: first without victims, then with those of lower priority.
HivedWait Hived::place(NodeView& view, const HivedRequest& r, const std::vector<char>& suggested, std::vector<int32_t>& leaves) {
  HivedWait why = HivedWait::insufficient_capacity;
  for (const int32_t q : {kOpportunistic, r.priority}) {
    if (q == r.priority && q > kOpportunistic && suggested.empty() && !view.has_lower(q)) break;
    switch (view.find(sizes_, q, suggested, nodes_)) {
      case NodeView::Found::yes: {
        leaves.clear();
        candidates_.clear();
        int32_t of = kNoCell;
        for (size_t i = 0; i < sizes_.size(); i++) {
          if (nodes_[i] != of) {  // the walk never goes back, so a node's tasks follow each other
            of = nodes_[i];
            candidates_.clear();
            for (const int32_t x : view.leaves(of))
              if (at(x).priority == kFreePriority) candidates_.push_back(x);
            for (const int32_t x : view.leaves(of))
              if (at(x).priority != kFreePriority && at(x).priority < q) candidates_.push_back(x);
          }
          pick(candidates_, of, sizes_[i], leaves);
        }
        return HivedWait::none;
      }
      case NodeView::Found::nothing: why = HivedWait::insufficient_capacity; break;
      case NodeView::Found::bad: why = HivedWait::needs_bad_node; break;
      case NodeView::Found::not_suggested: why = HivedWait::needs_non_suggested_node; break;
    }
    if (r.priority == kOpportunistic) break;
  }
  return why;
}

/// Moves k of the candidates to `out`: those whose lowest common ancestor is lowest, and among equals the first in order.
void Hived::pick(std::vector<int32_t>& candidates, int32_t node, int32_t k, std::vector<int32_t>& out) {
  picked_ = candidates;  // ancestors, going up
  const auto n = candidates.size();
  for (int32_t level = 1; level <= at(node).level; level++) {
    if (level > 1)
      for (int32_t& a : picked_) a = at(a).parent;
    for (size_t i = 0; i < n; i++) {
      if (at(picked_[i]).leaves < k) continue;
      int32_t count = 0;
      for (size_t j = i; j < n && count < k; j++) count += picked_[j] == picked_[i];
      if (count < k) continue;
      chosen_.clear();
      const int32_t above = picked_[i];
      size_t kept = i;
      for (size_t j = i; j < n; j++) {
        if (picked_[j] == above && int32_t(chosen_.size()) < k) chosen_.push_back(candidates[j]);
        else candidates[kept++] = candidates[j];
      }
      candidates.resize(kept);
      out.insert(out.end(), chosen_.begin(), chosen_.end());
      chosen_.clear();
      return;
    }
  }
}

Hived::Answer Hived::decide(const HivedRequest& r, bool filtering, const std::vector<char>& suggested, int32_t& group) {
  static const std::vector<char> kAll;
  const std::vector<char>& s = r.ignore_suggested ? kAll : suggested;
  Answer a;
  group = -1;
  a.why = search(r, s);
  if (a.why != HivedWait::none) return a;
  run_.clear(), preemptors_.clear();
  for (const HivedLeaf& l : placement_) run_.push_back(l.physical);
  collect_victims(run_, a.victims, preemptors_);
  run_.clear();
  if (filtering) return a;
  for (const int32_t p : preemptors_) {
    a.cancelled.push_back(uint32_t(groups_[size_t(p)].tag));
    cancel(p);
  }
  if (!a.victims.empty()) group = reserve(r);
  return a;
}

Hived::Answer Hived::retry(int32_t g, bool filtering, const std::vector<char>& suggested) {
  Answer a;
  const Group& x = groups_[size_t(g)];
  if (!filtering) {
    for (const int32_t leaf : physical(g)) {
      const bool ok = !at(leaf).bad && (x.ignore_suggested || suggested.empty() || suggested[size_t(forest.info(leaf).node)]);
      if (ok) continue;
      cancel(g);
      a.why = HivedWait::needs_bad_node;  // no longer a reservation: the caller decides it anew
      return a;
    }
  }
  preemptors_.clear();
  collect_victims(physical(g), a.victims, preemptors_);
  return a;
}

void Hived::collect_victims(std::span<const int32_t> leaves, std::vector<int32_t>& victims, std::vector<int32_t>& preemptors) const {
  const auto add = [](std::vector<int32_t>& to, int32_t g) {
    if (g >= 0 && std::find(to.begin(), to.end(), g) == to.end()) to.push_back(g);
  };
  for (const int32_t x : leaves) {
    const auto s = LeafState(at(x).state);
    if (s == LeafState::used || s == LeafState::reserving) add(victims, at(x).user);
    if (s == LeafState::reserving || s == LeafState::reserved) add(preemptors, forest.info(x).reserver);
  }
}

void Hived::node_bad(int32_t node) {
  for (const int32_t x : forest.nodes()[size_t(node)].leaves) forest.hurt(x);
}

void Hived::node_healthy(int32_t node) {
  for (const int32_t x : forest.nodes()[size_t(node)].leaves) forest.heal(x);
}

bool Hived::can_ever_fit(const HivedRequest& r) const {
  const auto holds = [&](const NodeView& view) {
    for (size_t i = 0; i < r.members.size(); i++) {  // all tasks of this size and more, as if each had it
      const int32_t size = r.members[i].leaves;
      int64_t pods = 0;
      for (const HivedRequest::Member& m : r.members)
        if (m.leaves >= size) pods += m.pods;
      if (view.holds(size) < pods) return false;
    }
    return true;
  };
  if (!r.pinned.empty()) return holds(*tree_view_[size_t(forest.pinned_tree(r.vc, r.pinned))]);
  for (size_t t = 0; t < leaf_types_.size(); t++) {
    if (!r.leaf_type.empty() && leaf_types_[t] != r.leaf_type) continue;
    for (const int32_t c : chains_of_type_[t]) {
      const int32_t tree = r.priority < 0 ? -1 : forest.tree_of(r.vc, c);
      if (r.priority < 0 ? holds(*chain_view_[size_t(c)]) : tree >= 0 && holds(*tree_view_[size_t(tree)])) return true;
    }
  }
  return false;
}

std::string Hived::largest(const HivedRequest& r) const {
  std::vector<std::pair<int32_t, int64_t>> sizes;  // leaves, how many
  const auto add = [&](const NodeView& view) {
    for (const auto& [leaves, n] : view.sizes()) {
      const auto it = std::find_if(sizes.begin(), sizes.end(), [&, l = leaves](const auto& s) { return s.first == l; });
      if (it == sizes.end()) sizes.emplace_back(leaves, n);
      else it->second += n;
    }
  };
  for (size_t c = 0; c < forest.chains().size(); c++) {
    if (!r.leaf_type.empty() && forest.chains()[c].leaf_type() != r.leaf_type) continue;
    const int32_t tree = r.priority < 0 ? -1 : !r.pinned.empty() ? -1 : forest.tree_of(r.vc, int32_t(c));
    if (r.priority < 0) add(*chain_view_[c]);
    else if (tree >= 0) add(*tree_view_[size_t(tree)]);
  }
  if (!r.pinned.empty()) add(*tree_view_[size_t(forest.pinned_tree(r.vc, r.pinned))]);
  std::sort(sizes.rbegin(), sizes.rend());
  std::string s;
  for (const auto& [leaves, n] : sizes)
    s += (s.empty() ? "" : " and ") + std::to_string(n) + (s.empty() ? n == 1 ? " cell of " : " cells of " : " of ") + std::to_string(leaves) +
         (s.empty() ? leaves == 1 ? " GPU" : " GPUs" : "");
  return s.empty() ? "none" : s;
}

}  // namespace muster
