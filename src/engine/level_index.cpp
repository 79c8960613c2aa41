#include "muster/level_index.hpp"

#include <algorithm>
#include <bit>

#include "muster/cluster.hpp"

namespace muster {

namespace {
constexpr uint32_t kSmall = 8;  // GPUs of a node whose masks have a table

/// Free GPUs of node `n` among its GPUs [from, to).
uint32_t free_between(const Cluster& c, NodeId n, uint32_t from, uint32_t to) {
  uint32_t sum = 0;
  for (uint32_t w = from / 64; w * 64 < to; w++) {
    uint64_t m = c.free_now(n, w);
    if (w == from / 64) m &= ~uint64_t{0} << (from % 64);
    if (to - w * 64 < 64) m &= (uint64_t{1} << (to % 64)) - 1;
    sum += uint32_t(std::popcount(m));
  }
  return sum;
}

uint64_t hash_of(const uint64_t* key, size_t n) {
  uint64_t h = 0;
  for (size_t i = 0; i < n; i++) {
    h = (h ^ key[i]) * 0xd6e8feb86659fd93U;
    h ^= h >> 32;
  }
  return h;
}
}  // namespace

LevelIndex::LevelIndex(const Topology& t, const Cluster& c, NodeId begin, NodeId end)
    : topology_(t), cluster_(c), first_(t.node_level() + 1), class_of_(t.nodes(), kNone), free_of_(t.nodes()), layout_of_(t.nodes(), kNone) {
  for (size_t l = 0; l < t.levels().size(); l++) {
    uint32_t most = 0;
    for (const Domain& d : t.domains(l)) most = std::max(most, d.gpu_end - d.gpu_begin);
    largest_.push_back(most);
    if (l < t.node_level()) above_.emplace_back(t.domains(l).size());
    if (l < first_) continue;
    below_.emplace_back();
    below_.back().counts = IdSet(size_t{most} + 1);
    below_.back().rows.resize(size_t{most} + 1);
  }
  slots_.assign(64, 0);
  // Nodes whose domains below lie alike share a table of masks.
  std::vector<std::vector<uint32_t>> layouts;
  for (NodeId n = begin; n < end && !below_.empty(); n++) {
    if (t.gpus_of(n) == 0 || t.gpus_of(n) > kSmall) continue;
    std::vector<uint32_t> ends{t.gpus_of(n)};
    for (size_t l = first_; l < t.levels().size(); l++)
      for (uint32_t d = t.domain_of_gpu(l, t.first_gpu(n)); d < t.domains(l).size() && t.domains(l)[d].node_begin == n; d++)
        ends.push_back(t.domains(l)[d].gpu_end - t.first_gpu(n));
    const auto at = std::find(layouts.begin(), layouts.end(), ends);
    layout_of_[n] = uint32_t(at - layouts.begin());
    if (at == layouts.end() && layouts.size() < 256) layouts.push_back(std::move(ends)), known_.emplace_back(1 << kSmall);
    if (layout_of_[n] >= known_.size()) layout_of_[n] = kNone;
  }
  for (NodeId n = begin; n < end; n++) update(n);
}

uint32_t LevelIndex::free_from(size_t level, uint32_t c, uint32_t f) const {
  for (const Row::Entry& e : below_[level - first_].rows[c].by_free)
    if (e.free >= f) return e.free;
  return kNone;
}

NodeId LevelIndex::node_from(size_t level, uint32_t c, uint32_t f, NodeId from) const {
  NodeId best = kNone;
  for (const Row::Entry& e : below_[level - first_].rows[c].by_free) {
    if (e.free != f) continue;
    for (const uint32_t x : e.classes) best = std::min(best, classes_[x].members.next(from));
  }
  return best;
}

/// Enters a class that has its first node into the rows, or takes it out with its last.
void LevelIndex::show(uint32_t c, bool on) {
  for (const auto& [level, count] : classes_[c].has) {
    Below& below = below_[level];
    auto& rows = below.rows[count].by_free;
    const auto at = std::lower_bound(rows.begin(), rows.end(), classes_[c].free, [](const Row::Entry& e, uint32_t f) { return e.free < f; });
    if (on) {
      if (rows.empty()) below.counts.insert(count);
      if (at == rows.end() || at->free != classes_[c].free) rows.insert(at, Row::Entry{classes_[c].free, {c}});
      else at->classes.push_back(c);
    } else {
      std::erase(at->classes, c);
      if (at->classes.empty()) rows.erase(at);
      if (rows.empty()) below.counts.erase(count);
    }
  }
}

/// The class whose key is in key_: free GPUs of the node, then for each level its distinct counts above 0, largest first, and a 0.
uint32_t LevelIndex::find_class(uint32_t free) {
  if (classes_.size() * 2 >= slots_.size()) {
    std::vector<uint32_t> bigger(slots_.size() * 4);
    for (uint32_t c = 0; c < classes_.size(); c++) {
      const size_t from = classes_[c].key, to = c + 1 < classes_.size() ? classes_[c + 1].key : keys_.size();
      size_t i = hash_of(&keys_[from], to - from) & (bigger.size() - 1);
      while (bigger[i]) i = (i + 1) & (bigger.size() - 1);
      bigger[i] = c + 1;
    }
    slots_.swap(bigger);
  }
  size_t i = hash_of(key_.data(), key_.size()) & (slots_.size() - 1);
  for (; slots_[i]; i = (i + 1) & (slots_.size() - 1)) {
    const uint32_t c = slots_[i] - 1;
    const size_t from = classes_[c].key, to = c + 1 < classes_.size() ? classes_[c + 1].key : keys_.size();
    if (to - from == key_.size() && std::equal(key_.begin(), key_.end(), keys_.begin() + ptrdiff_t(from))) return c;
  }
  slots_[i] = uint32_t(classes_.size()) + 1;
  Class& c = classes_.emplace_back();
  c.free = free, c.key = keys_.size(), c.members = IdSet(topology_.nodes());
  uint32_t level = 0;
  for (size_t k = 1; k < key_.size(); k++) {
    if (key_[k] == 0) level++;
    else c.has.emplace_back(level, uint32_t(key_[k]));
  }
  keys_.insert(keys_.end(), key_.begin(), key_.end());
  return uint32_t(classes_.size() - 1);
}

uint32_t LevelIndex::class_of(NodeId n) {
  uint32_t* known = layout_of_[n] == kNone ? nullptr : &known_[layout_of_[n]][cluster_.free_now(n)];
  if (known && *known) return *known - 1;
  key_.assign(1, cluster_.free_now_count(n));
  const GpuId base = topology_.first_gpu(n);
  for (size_t l = first_; l < topology_.levels().size(); l++) {
    const size_t from = key_.size();
    const auto& domains = topology_.domains(l);
    for (uint32_t d = topology_.domain_of_gpu(l, base); d < domains.size() && domains[d].node_begin == n; d++)
      if (const uint32_t f = free_between(cluster_, n, domains[d].gpu_begin - base, domains[d].gpu_end - base)) key_.push_back(f);
    std::sort(key_.begin() + ptrdiff_t(from), key_.end(), std::greater<>());
    key_.erase(std::unique(key_.begin() + ptrdiff_t(from), key_.end()), key_.end());
    key_.push_back(0);
  }
  const uint32_t c = find_class(uint32_t(key_[0]));
  if (known) *known = c + 1;
  return c;
}

void LevelIndex::update(NodeId n) {
  const bool usable = cluster_.usable(n) && topology_.gpus_of(n) > 0;
  const uint32_t free = usable ? cluster_.free_now_count(n) : 0;
  if (free != free_of_[n]) {
    for (size_t l = 0; l < above_.size(); l++) above_[l][topology_.domain_of_node(l, n)] += int64_t{free} - int64_t{free_of_[n]};
    free_of_[n] = free;
  }
  if (below_.empty()) return;
  const uint32_t from = class_of_[n], to = usable ? class_of(n) : kNone;
  if (from == to) return;
  if (from != kNone) {
    classes_[from].members.erase(n);
    if (--classes_[from].nodes == 0) show(from, false);
  }
  if (to != kNone) {
    classes_[to].members.insert(n);
    if (classes_[to].nodes++ == 0) show(to, true);
  }
  class_of_[n] = to;
}

}  // namespace muster
