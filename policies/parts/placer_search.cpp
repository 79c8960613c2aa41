// Unequal tasks that do not fit when they are placed in their order.
#include <algorithm>
#include <numeric>

#include "muster/packing.hpp"
#include "parts/placer.hpp"

namespace muster {

/// Larger tasks first, over the nodes with the fewest free GPUs first. False: there is no placement, or the search came to its limit.
bool Placer::search(const Request& t) {
  const Shape& s = t.shape;
  if (s.groups.size() < 2 || (s.nodes != Nodes::any && s.nodes != Nodes::each)) return false;
  std::vector<PackingItems> items;
  std::vector<Want> wants;
  uint32_t all = 0;
  for (uint32_t i = 0; i < s.groups.size(); i++) {
    const TaskGroup& g = s.groups[i];
    if (g.gpu_milli()) return false;
    const Want& w = wants.emplace_back(relaxed(t.ask.groups[i], t.relax));
    PackingItems& item = items.emplace_back();
    item.count = t.most ? g.max_tasks : g.min_tasks, item.need = w.need;
    item.need[kGpu] = int64_t{g.gpus} * kMilli;
    if (item.count > kTasksOfPiece) return false;
    all += item.count;
  }
  struct Node {
    NodeId node;
    PackingBins bin;
  };
  std::vector<Node> nodes;
  for (NodeId n = lo_; n < hi_; n++) {
    if (!cluster_->usable(n) || (apart_ && cluster_->tagged(apart_, n) != kNone)) continue;
    Node x{n, {1, {}, 0}};
    const unsigned free = cluster_->free_now_count(n);
    if (free == 0 && broken(n)) continue;
    x.bin.room[kGpu] = int64_t{free} * kMilli;
    for (const Want& w : wants)
      for (size_t k = 1; k < kMaxKinds; k++)
        if (w.need[k]) x.bin.room[k] = cluster_->free_amount(n, k);
    bool any = false;
    for (uint32_t i = 0; i < wants.size(); i++) {
      if (!wants[i].typed.empty() && !suits(n, wants[i])) continue;
      x.bin.suits |= 1u << i;
      any |= x.bin.room.covers(items[i].need);
    }
    if (any) nodes.push_back(x);
  }
  const auto same = [](const Node& a, const Node& b) { return a.bin.room == b.bin.room && a.bin.suits == b.bin.suits; };
  std::stable_sort(nodes.begin(), nodes.end(), [](const Node& a, const Node& b) {
    return a.bin.room.amount != b.bin.room.amount ? a.bin.room.amount < b.bin.room.amount : a.bin.suits < b.bin.suits;
  });
  std::vector<PackingBins> bins;
  std::vector<size_t> next;  // by bins: its first node that is not used yet
  for (size_t i = 0; i < nodes.size(); i++) {
    if (i == 0 || !same(nodes[i - 1], nodes[i])) bins.push_back(nodes[i].bin), bins.back().count = 0, next.push_back(i);
    if (bins.back().count < all) bins.back().count++;
  }
  std::vector<PackingFill> fills;
  const Packing found = pack_items(items, bins, s.nodes == Nodes::each, fills);
  limit_ |= found == Packing::limit;
  if (found != Packing::fits) return false;
  chosen_.clear(), out_.clear(), used_.clear(), slices_.clear();
  for (const PackingFill& f : fills) {
    const NodeId n = nodes[next[f.bins]++].node;
    Want here;
    for (uint32_t i = 0; i < items.size(); i++) {
      if (f.items[i]) chosen_.push_back({n, i, f.items[i], f.items[i] * s.groups[i].gpus});
      if (f.items[i] && s.groups[i].gpus) here.aligned.push_back({s.groups[i].gpus, f.items[i]});
    }
    if (must_align_ && !align_all(n, here, topology_.node_level(), 0)) return false;  // only one placement is looked at
  }
  emit();
  return true;
}

}  // namespace muster
