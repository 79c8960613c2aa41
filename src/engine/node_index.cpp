// The index over nodes that placers ask: by count of free GPUs, and by what else is free.
#include <algorithm>

#include "muster/cluster.hpp"

namespace muster {

NodeIndex::NodeIndex(const Topology& t, const Cluster& c, NodeId begin, NodeId end)
    : topology_(t), cluster_(c), counts_(t.most_gpus() + 1), by_count_(t.most_gpus() + 1), count_of_(t.nodes(), kNone), whole_(t.nodes()), begin_(begin), end_(end) {
  for (NodeId n = begin; n < end; n++) update(n);
}

void NodeIndex::update(NodeId n) {
  const uint32_t size = topology_.gpus_of(n), from = count_of_[n];
  const uint32_t to = cluster_.usable(n) ? cluster_.free_now_count(n) : kNone;
  if (from != to) {
    count_of_[n] = to;
    free_ += int64_t(to == kNone ? 0 : to) - int64_t(from == kNone ? 0 : from);
    if (from != kNone) {
      by_count_[from].erase(n);
      if (by_count_[from].empty()) counts_.erase(from);
      if (from == size && size) whole_.erase(n), whole_gpus_ -= size;
    }
    if (to != kNone) {
      // A set is given its size when its count is first met: a node of 16,384 GPUs need not cost 16,384 bitmaps.
      if (!by_count_[to].holds(topology_.nodes())) by_count_[to] = IdSet(topology_.nodes());
      by_count_[to].insert(n);
      counts_.insert(to);
      if (to == size && size) whole_.insert(n), whole_gpus_ += size;
    }
  }
  if (cluster_.any_sliced()) {
    if (slices_of_.empty()) slices_of_.resize(count_of_.size());
    int64_t left = 0;
    for (unsigned w = 0; w < cluster_.words(n); w++)
      for (uint64_t m = cluster_.sliced(n, w); m; m &= m - 1) left += cluster_.slice_left(n, w * 64 + unsigned(std::countr_zero(m)));
    slices_ += left - slices_of_[n];
    slices_of_[n] = left;
  }
  if (!room_.empty()) refresh(n);
  if (levels_) levels_->update(n);
}

const LevelIndex& NodeIndex::levels() const {
  if (!levels_) levels_ = std::make_unique<LevelIndex>(topology_, cluster_, begin_, end_);
  return *levels_;
}

void NodeIndex::refresh(NodeId n) const {
  uint64_t counts = count_of_[n] == kNone ? 0 : uint64_t{1} << std::min<uint32_t>(count_of_[n], 63);
  int64_t free[kMaxKinds];
  free[kGpu] = cluster_.longest_slice(n);
  for (size_t k = 1; k < kMaxKinds; k++) free[k] = cluster_.free_amount(n, k);
  uint32_t at = n;
  for (auto& level : room_) {
    Line& line = level[at >> 3];
    line.counts[at & 7] = counts;
    std::copy(free, free + kMaxKinds, line.free[at & 7]);
    counts = 0;
    for (const uint64_t c : line.counts) counts |= c;
    for (size_t k = 0; k < kMaxKinds; k++) {
      free[k] = line.free[0][k];
      for (unsigned i = 1; i < 8; i++) free[k] = std::max(free[k], line.free[i][k]);
    }
    at >>= 3;
  }
}

bool NodeIndex::may(const Line& l, unsigned i, unsigned count, const Resources& need) const {
  if (!(l.counts[i] >> std::min(count, 63u) & 1)) return false;
  for (size_t k = 0; k < kMaxKinds; k++)
    if (l.free[i][k] < need[k]) return false;
  return true;
}

NodeId NodeIndex::search(size_t level, uint32_t line, unsigned count, const Resources& need, NodeId from) const {
  const Line& l = room_[level][line];
  for (unsigned i = 0; i < 8; i++) {
    const uint32_t child = line << 3 | i;
    if (((uint64_t(child) + 1) << (3 * level)) <= from || !may(l, i, count, need)) continue;
    if (level == 0) {
      if (count_of_[child] == count) return child;
    } else if (const NodeId n = search(level - 1, child, count, need, from); n != kNone) {
      return n;
    }
  }
  return kNone;
}

NodeId NodeIndex::first_with_room(unsigned count, const Resources& need, NodeId from) const {
  if (room_.empty()) {
    size_t n = topology_.nodes();
    do room_.emplace_back((n = (n + 7) / 8));
    while (n > 1);
    for (NodeId i = begin_; i < end_; i++) refresh(i);
  }
  return search(room_.size() - 1, 0, count, need, from);
}

}  // namespace muster
