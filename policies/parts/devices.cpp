#include "parts/devices.hpp"

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

uint32_t DevicePicker::count(NodeId n, std::span<const uint64_t> free, const Domain& d) const {
  const uint32_t from = d.gpu_begin - topology_.first_gpu(n), to = d.gpu_end - topology_.first_gpu(n);
  uint32_t sum = 0;
  for (uint32_t w = from / 64; w * 64 < to; w++) sum += uint32_t(std::popcount(free[w] & bits_between(w, from, to)));
  return sum;
}

/// Domains of `level` inside `outer`, which is of a higher level and has GPUs.
std::pair<uint32_t, uint32_t> DevicePicker::domains_of(size_t level, const Domain& outer) const {
  const uint32_t first = topology_.domain_of_gpu(level, outer.gpu_begin);
  return {first, topology_.domain_of_gpu(level, outer.gpu_end - 1) + 1};
}

uint32_t DevicePicker::best_domain_in(size_t level, NodeId n, size_t outer_level, uint32_t outer, std::span<const uint64_t> free, uint32_t k) const {
  const auto [first, last] = domains_of(level, topology_.domains(outer_level)[outer]);
  uint32_t best = kNone, least = kNone;
  for (uint32_t d = first; d < last; d++) {
    const uint32_t f = count(n, free, topology_.domains(level)[d]);
    if (f < k || f > least) continue;
    if (f < least) {
      best = d, least = f;
      continue;
    }
    uint32_t a = best, b = d;  // equal so far: the fuller surroundings win
    for (size_t l = level; l-- > outer_level;) {
      a = topology_.domains(l + 1)[a].parent, b = topology_.domains(l + 1)[b].parent;
      if (a == b) break;
      const uint32_t fa = count(n, free, topology_.domains(l)[a]), fb = count(n, free, topology_.domains(l)[b]);
      if (fa == fb) continue;
      if (fb < fa) best = d;
      break;
    }
  }
  return best;
}

void DevicePicker::lowest(const Bits& b, const Domain& d, uint32_t k) const {
  const uint32_t from = d.gpu_begin - topology_.first_gpu(b.node), to = d.gpu_end - topology_.first_gpu(b.node);
  for (uint32_t w = from / 64; k && w * 64 < to; w++)
    for (uint64_t m = b.free[w] & bits_between(w, from, to); k && m; m &= m - 1, k--) {
      const uint64_t bit = m & (~m + 1);
      b.free[w] &= ~bit, b.chosen[w] |= bit;
    }
}

/// Domain `d` of `level` has `k` free.
void DevicePicker::closest(const Bits& b, size_t level, uint32_t d, uint32_t k) const {
  const size_t last = topology_.levels().size() - 1;
  for (size_t l = last; l > level; l--)
    if (const uint32_t in = best_domain_in(l, b.node, level, d, b.free, k); in != kNone) {
      if (l == last) return lowest(b, topology_.domains(l)[in], k);
      level = l, d = in;
      break;
    }
  if (level == last) return lowest(b, topology_.domains(level)[d], k);
  // No part holds them: the part with the most goes whole, and the rest is asked of the others.
  const auto [first, end] = domains_of(level + 1, topology_.domains(level)[d]);
  uint32_t most = first, free = 0;
  for (uint32_t in = first; in < end; in++)
    if (const uint32_t f = count(b.node, b.free, topology_.domains(level + 1)[in]); f > free) most = in, free = f;
  lowest(b, topology_.domains(level + 1)[most], free);
  closest(b, level, d, k - free);
}

void DevicePicker::spread(const Bits& b, size_t level, uint32_t d, uint32_t k) const {
  const size_t last = topology_.levels().size() - 1;
  for (; k; k--) {
    uint32_t at = d;
    for (size_t l = level; l < last; l++) {
      const auto [first, end] = domains_of(l + 1, topology_.domains(l)[at]);
      uint32_t most = 0;
      for (uint32_t in = first; in < end; in++)
        if (const uint32_t f = count(b.node, b.free, topology_.domains(l + 1)[in]); f > most) at = in, most = f;
    }
    lowest(b, topology_.domains(last)[at], 1);
  }
}

void DevicePicker::pick_inside(size_t level, uint32_t d, std::span<uint64_t> free, uint32_t k, std::span<uint64_t> chosen) const {
  const Domain& domain = topology_.domains(level)[d];
  const Bits b{level == topology_.node_level() ? d : domain.node_begin, free, chosen};
  std::fill(chosen.begin(), chosen.end(), 0);
  if (k == 0) return;
  switch (how_) {
    case Devices::lowest: return lowest(b, domain, k);
    case Devices::closest: return closest(b, level, d, k);
    case Devices::spread: return spread(b, level, d, k);
  }
}

void DevicePicker::pick(NodeId n, std::span<uint64_t> free, uint32_t k, std::span<uint64_t> chosen) const {
  pick_inside(topology_.node_level(), n, free, k, chosen);
}

}  // namespace muster
