#include "parts/devices.hpp"

#include <algorithm>
#include <bit>

namespace muster {

namespace {
constexpr PartInfo kChoices[] = {
    {"lowest", "lowest numbers"},
    {"closest", "the lowest domain that holds them, the fullest such; else the fewest domains"},
    {"spread", "one after the other from the domain with the most free"},
};
}  // namespace

std::span<const PartInfo> device_choices() { return kChoices; }

Devices devices_called(std::string_view name) { return name == "closest" ? Devices::closest : name == "spread" ? Devices::spread : Devices::lowest; }

uint32_t DevicePicker::best_domain(size_t level, NodeId n, std::span<const uint64_t> free, uint32_t k) {
  return best_part(layouts_.of(n), level - topology_.node_level(), 0, 0, free, k);
}

uint32_t DevicePicker::best_part(const NodeLayout& y, size_t level, size_t outer_level, uint32_t outer, std::span<const uint64_t> free, uint32_t k) {
  const NodePart* all = y[level].parts.data();
  uint32_t best = kNone, least = kNone;
  for (const NodePart& p : y.parts_in(level, y[outer_level].parts[outer])) {
    const uint32_t f = count_in(p, free);
    if (f < k || f > least) continue;
    if (f < least) {
      best = uint32_t(&p - all), least = f;
      continue;
    }
    uint32_t a = all[best].parent, b = p.parent;  // equal so far: the fuller surroundings win
    for (size_t l = level; l-- > outer_level && a != b; a = y[l].parts[a].parent, b = y[l].parts[b].parent) {
      const uint32_t fa = count_in(y[l].parts[a], free), fb = count_in(y[l].parts[b], free);
      if (fa == fb) continue;
      if (fb < fa) best = uint32_t(&p - all);
      break;
    }
  }
  return best;
}

void DevicePicker::lowest(const Bits& b, const NodePart& d, uint32_t k) {
  for (uint32_t w = d.from / 64; k && w * 64 < d.to; w++)
    for (uint64_t m = b.free[w] & bits_between(w, d.from, d.to); k && m; m &= m - 1, k--) {
      const uint64_t bit = m & (~m + 1);
      b.free[w] &= ~bit, b.chosen[w] |= bit;
    }
}

/// Domain `d` of `level` has `k` free.
void DevicePicker::closest(const Bits& b, size_t level, uint32_t d, uint32_t k) {
  const NodeLayout& y = b.layout;
  const size_t last = y.levels() - 1;
  for (size_t l = last; l > level; l--)
    if (const uint32_t in = best_part(y, l, level, d, b.free, k); in != kNone) {
      if (l == last) return lowest(b, y[l].parts[in], k);
      level = l, d = in;
      break;
    }
  if (level == last) return lowest(b, y[level].parts[d], k);
  // No part holds them: the part with the most goes whole, and the rest is asked of the others.
  const NodePart* most = nullptr;
  uint32_t free = 0;
  for (const NodePart& p : y.parts_in(level + 1, y[level].parts[d]))
    if (const uint32_t f = count_in(p, b.free); f > free) most = &p, free = f;
  lowest(b, *most, free);
  closest(b, level, d, k - free);
}

void DevicePicker::spread(const Bits& b, size_t level, uint32_t d, uint32_t k) {
  const NodeLayout& y = b.layout;
  for (; k; k--) {
    const NodePart* at = &y[level].parts[d];
    for (size_t l = level + 1; l < y.levels(); l++) {
      uint32_t most = 0;
      for (const NodePart& p : y.parts_in(l, *at))
        if (const uint32_t f = count_in(p, b.free); f > most) at = &p, most = f;
    }
    lowest(b, *at, 1);
  }
}

void DevicePicker::pick_inside(size_t level, uint32_t d, NodeId n, std::span<uint64_t> free, uint32_t k, std::span<uint64_t> chosen) {
  std::fill(chosen.begin(), chosen.end(), 0);
  if (k == 0) return;
  pick_in({layouts_.of(n), free, chosen}, level - topology_.node_level(), d, k);
}

void DevicePicker::pick_in(const Bits& b, size_t level, uint32_t d, uint32_t k) const {
  switch (how_) {
    case Devices::lowest: return lowest(b, b.layout[level].parts[d], k);
    case Devices::closest: return closest(b, level, d, k);
    case Devices::spread: return spread(b, level, d, k);
  }
}

bool DevicePicker::pick_aligned(bool single, size_t level, uint32_t d, NodeId n, std::span<uint64_t> free, uint32_t k, std::span<uint64_t> chosen) {
  std::fill(chosen.begin(), chosen.end(), 0);
  if (k == 0) return true;
  const NodeLayout& y = layouts_.of(n);
  const Bits b{y, free, chosen};
  const size_t numa = numa_ - topology_.node_level();
  level -= topology_.node_level();
  if (level >= numa) {  // inside one already
    if (count_in(y[level].parts[d], free) < k) return false;
    pick_in(b, level, d, k);
    return true;
  }
  std::vector<NodePart> parts = y[numa].parts;
  std::stable_sort(parts.begin(), parts.end(), [](const NodePart& p, const NodePart& q) { return p.to - p.from > q.to - q.from; });
  size_t least = 0;
  for (uint32_t gpus = 0; gpus < k && least < parts.size(); least++) gpus += parts[least].to - parts[least].from;
  if (least == 1) {
    const uint32_t in = best_part(y, numa, level, d, free, k);
    if (in != kNone) pick_in(b, numa, in, k);
    return in != kNone;
  }
  if (single) return false;
  const std::span<const NodePart> inside = y.parts_in(numa, y[level].parts[d]);
  parts.assign(inside.begin(), inside.end());
  std::stable_sort(parts.begin(), parts.end(), [&](const NodePart& p, const NodePart& q) { return count_in(p, free) > count_in(q, free); });
  parts.resize(std::min(parts.size(), least));
  uint32_t have = 0;
  for (const NodePart& p : parts) have += count_in(p, free);
  if (have < k) return false;
  for (const NodePart& p : parts) {
    const uint32_t here = std::min(k, count_in(p, free));
    if (here) pick_in(b, numa, y[numa].of_gpu[p.from], here);
    k -= here;
  }
  return true;
}

}  // namespace muster
