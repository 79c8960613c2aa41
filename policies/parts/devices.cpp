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

/// The bits of word `w` that are GPUs [from, to).
uint64_t bits_between(uint32_t w, uint32_t from, uint32_t to) {
  if (to <= w * 64 || from >= (w + 1) * 64) return 0;
  uint64_t m = ~uint64_t{0};
  if (from > w * 64) m &= ~uint64_t{0} << (from - w * 64);
  if (to < (w + 1) * 64) m &= (uint64_t{1} << (to - w * 64)) - 1;
  return m;
}
}  // namespace

std::span<const PartInfo> device_choices() { return kChoices; }

Devices devices_called(std::string_view name) { return name == "closest" ? Devices::closest : name == "spread" ? Devices::spread : Devices::lowest; }

/// Drawn up when the first node that looks so is met. Levels are counted from the node's, which is 0.
const DevicePicker::Layout& DevicePicker::layout(NodeId n) {
  if (layout_of_[n] != kNone) return layouts_[layout_of_[n]];
  const GpuId base = topology_.first_gpu(n);
  const uint32_t gpus = topology_.gpus_of(n);
  const size_t top = topology_.node_level(), levels = topology_.levels().size() - top;
  const auto first = [&](size_t l) { return topology_.domain_of_gpu(top + l, base); };
  std::vector<uint32_t> key;  // ends of the domains of each level
  for (size_t l = 0; l < levels && gpus; l++)
    for (uint32_t d = first(l); d <= topology_.domain_of_gpu(top + l, base + gpus - 1); d++) key.push_back(topology_.domains(top + l)[d].gpu_end - base);
  size_t at = 0;
  while (at < keys_.size() && keys_[at] != key) at++;
  layout_of_[n] = uint32_t(at);
  if (at < keys_.size()) return layouts_[at];
  Layout& y = layouts_.emplace_back(levels);
  size_t next = 0;
  for (Level& level : y)
    for (uint32_t from = 0; from < gpus; from = key[next++]) {
      const uint32_t to = key[next];
      level.parts.push_back({from, to, &level == y.data() ? 0 : (&level)[-1].of_gpu[from], bits_between(0, from, to)});
      level.of_gpu.resize(to, uint32_t(level.parts.size() - 1));
    }
  keys_.push_back(std::move(key));
  return y;
}

uint32_t DevicePicker::count(std::span<const uint64_t> free, const Part& d) {
  if (free.size() == 1) return uint32_t(std::popcount(free[0] & d.mask));
  uint32_t sum = 0;
  for (uint32_t w = d.from / 64; w * 64 < d.to; w++) sum += uint32_t(std::popcount(free[w] & bits_between(w, d.from, d.to)));
  return sum;
}

/// Domains of `level` inside `outer`, which is of a higher level.
std::span<const DevicePicker::Part> DevicePicker::parts_in(const Layout& y, size_t level, const Part& outer) {
  const Part* first = y[level].parts.data();
  return {first + y[level].of_gpu[outer.from], first + y[level].of_gpu[outer.to - 1] + 1};
}

uint32_t DevicePicker::best_domain(size_t level, NodeId n, std::span<const uint64_t> free, uint32_t k) {
  return best_part(layout(n), level - topology_.node_level(), 0, 0, free, k);
}

uint32_t DevicePicker::best_part(const Layout& y, size_t level, size_t outer_level, uint32_t outer, std::span<const uint64_t> free, uint32_t k) {
  const Part* all = y[level].parts.data();
  uint32_t best = kNone, least = kNone;
  for (const Part& p : parts_in(y, level, y[outer_level].parts[outer])) {
    const uint32_t f = count(free, p);
    if (f < k || f > least) continue;
    if (f < least) {
      best = uint32_t(&p - all), least = f;
      continue;
    }
    uint32_t a = all[best].parent, b = p.parent;  // equal so far: the fuller surroundings win
    for (size_t l = level; l-- > outer_level && a != b; a = y[l].parts[a].parent, b = y[l].parts[b].parent) {
      const uint32_t fa = count(free, y[l].parts[a]), fb = count(free, y[l].parts[b]);
      if (fa == fb) continue;
      if (fb < fa) best = uint32_t(&p - all);
      break;
    }
  }
  return best;
}

void DevicePicker::lowest(const Bits& b, const Part& d, uint32_t k) {
  for (uint32_t w = d.from / 64; k && w * 64 < d.to; w++)
    for (uint64_t m = b.free[w] & bits_between(w, d.from, d.to); k && m; m &= m - 1, k--) {
      const uint64_t bit = m & (~m + 1);
      b.free[w] &= ~bit, b.chosen[w] |= bit;
    }
}

/// Domain `d` of `level` has `k` free.
void DevicePicker::closest(const Bits& b, size_t level, uint32_t d, uint32_t k) {
  const Layout& y = b.layout;
  const size_t last = y.size() - 1;
  for (size_t l = last; l > level; l--)
    if (const uint32_t in = best_part(y, l, level, d, b.free, k); in != kNone) {
      if (l == last) return lowest(b, y[l].parts[in], k);
      level = l, d = in;
      break;
    }
  if (level == last) return lowest(b, y[level].parts[d], k);
  // No part holds them: the part with the most goes whole, and the rest is asked of the others.
  const Part* most = nullptr;
  uint32_t free = 0;
  for (const Part& p : parts_in(y, level + 1, y[level].parts[d]))
    if (const uint32_t f = count(b.free, p); f > free) most = &p, free = f;
  lowest(b, *most, free);
  closest(b, level, d, k - free);
}

void DevicePicker::spread(const Bits& b, size_t level, uint32_t d, uint32_t k) {
  const Layout& y = b.layout;
  for (; k; k--) {
    const Part* at = &y[level].parts[d];
    for (size_t l = level + 1; l < y.size(); l++) {
      uint32_t most = 0;
      for (const Part& p : parts_in(y, l, *at))
        if (const uint32_t f = count(b.free, p); f > most) at = &p, most = f;
    }
    lowest(b, *at, 1);
  }
}

void DevicePicker::pick_inside(size_t level, uint32_t d, NodeId n, std::span<uint64_t> free, uint32_t k, std::span<uint64_t> chosen) {
  std::fill(chosen.begin(), chosen.end(), 0);
  if (k == 0) return;
  pick_in({layout(n), free, chosen}, level - topology_.node_level(), d, k);
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
  const Layout& y = layout(n);
  const Bits b{y, free, chosen};
  const size_t numa = numa_ - topology_.node_level();
  level -= topology_.node_level();
  if (level >= numa) {  // inside one already
    if (count(free, y[level].parts[d]) < k) return false;
    pick_in(b, level, d, k);
    return true;
  }
  std::vector<Part> parts = y[numa].parts;
  std::stable_sort(parts.begin(), parts.end(), [](const Part& p, const Part& q) { return p.to - p.from > q.to - q.from; });
  size_t least = 0;
  for (uint32_t gpus = 0; gpus < k && least < parts.size(); least++) gpus += parts[least].to - parts[least].from;
  if (least == 1) {
    const uint32_t in = best_part(y, numa, level, d, free, k);
    if (in != kNone) pick_in(b, numa, in, k);
    return in != kNone;
  }
  if (single) return false;
  const std::span<const Part> inside = parts_in(y, numa, y[level].parts[d]);
  parts.assign(inside.begin(), inside.end());
  std::stable_sort(parts.begin(), parts.end(), [&](const Part& p, const Part& q) { return count(free, p) > count(free, q); });
  parts.resize(std::min(parts.size(), least));
  uint32_t have = 0;
  for (const Part& p : parts) have += count(free, p);
  if (have < k) return false;
  for (const Part& p : parts) {
    const uint32_t here = std::min(k, count(free, p));
    if (here) pick_in(b, numa, y[numa].of_gpu[p.from], here);
    k -= here;
  }
  return true;
}

}  // namespace muster
