#include "muster/level_index.hpp"

#include <algorithm>
#include <bit>

#include "muster/cluster.hpp"

namespace muster {

namespace {
uint64_t hash_of(std::span<const uint64_t> key) {
  uint64_t h = 0;
  for (const uint64_t k : key) {
    h = (h ^ k) * 0xd6e8feb86659fd93U;
    h ^= h >> 32;
  }
  return h;
}
}  // namespace

LevelIndex::LevelIndex(const Topology& t, const Cluster& c, NodeId begin, NodeId end)
    : topology_(t), cluster_(c), first_(t.node_level() + 1), layouts_(t), class_of_(t.nodes(), kNone), free_of_(t.nodes()) {
  size_t words = 1;
  for (size_t l = 0; l < t.levels().size(); l++) {
    uint32_t most = 0;
    for (const Domain& d : t.domains(l)) most = std::max(most, d.gpu_end - d.gpu_begin);
    largest_.push_back(most);
    if (l < t.node_level()) above_.emplace_back(t.domains(l).size());
    if (l < first_) continue;
    below_.emplace_back();
    below_.back().counts = IdSet(size_t{most} + 1);
    below_.back().rows.resize(size_t{most} + 1);
    words += most / 64 + 1;
  }
  key_.resize(words);
  slots_.assign(64, 0);
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

/// The class whose key is in key_: free GPUs of the node, then for each level which counts its domains have, a bit a count; 0 has none.
uint32_t LevelIndex::find_class() {
  const size_t words = key_.size();
  const auto key = [&](uint32_t c) { return std::span(keys_).subspan(c * words, words); };
  if (classes_.size() * 2 >= slots_.size()) {
    std::vector<uint32_t> bigger(slots_.size() * 4);
    for (uint32_t c = 0; c < classes_.size(); c++) {
      size_t i = hash_of(key(c)) & (bigger.size() - 1);
      while (bigger[i]) i = (i + 1) & (bigger.size() - 1);
      bigger[i] = c + 1;
    }
    slots_.swap(bigger);
  }
  size_t i = hash_of(key_) & (slots_.size() - 1);
  for (; slots_[i]; i = (i + 1) & (slots_.size() - 1))
    if (std::equal(key_.begin(), key_.end(), key(slots_[i] - 1).begin())) return slots_[i] - 1;
  slots_[i] = uint32_t(classes_.size()) + 1;
  Class& c = classes_.emplace_back();
  c.free = uint32_t(key_[0]), c.members = IdSet(topology_.nodes());
  size_t at = 1;
  for (uint32_t level = 0; level < below_.size(); level++)
    for (uint32_t word = 0; word <= largest_[first_ + level] / 64; word++, at++)
      for (uint64_t m = key_[at]; m; m &= m - 1) c.has.emplace_back(level, word * 64 + uint32_t(std::countr_zero(m)));
  keys_.insert(keys_.end(), key_.begin(), key_.end());
  return uint32_t(classes_.size() - 1);
}

uint32_t LevelIndex::class_of(NodeId n, uint32_t free) {
  const NodeLayout& y = layouts_.of(n);
  gpus_.clear();
  for (unsigned w = 0; w < cluster_.words(n); w++) gpus_.push_back(cluster_.free_now(n, w));
  Known* known = nullptr;
  if (gpus_.size() == 1) {
    known = &known_[((gpus_[0] ^ uint64_t{y.number()} << 40) * 0x9e3779b97f4a7c15U) >> 52];
    if (known->gpus == gpus_[0] && known->layout == y.number()) return known->of;
  }
  std::fill(key_.begin(), key_.end(), 0);
  key_[0] = free;
  size_t at = 1;
  for (size_t l = first_; l < topology_.levels().size(); at += largest_[l] / 64 + 1, l++)
    for (const NodePart& p : y[l - first_ + 1].parts)
      if (const uint32_t f = count_in(p, gpus_)) key_[at + f / 64] |= uint64_t{1} << (f % 64);
  const uint32_t c = find_class();
  if (known) *known = {gpus_[0], y.number(), c};
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
  const uint32_t from = class_of_[n], to = usable ? class_of(n, free) : kNone;
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
