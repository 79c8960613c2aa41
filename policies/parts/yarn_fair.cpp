#include "parts/yarn_fair.hpp"

#include <algorithm>

namespace muster::yarn {

namespace {

constexpr int64_t kScale = int64_t{1} << 25;  // R in units of 2^-25: 25 halvings of a power of two are exact

int64_t share_at(const Sharer& s, Int128 r) {
  const Int128 share = r * s.weight / (Int128(kScale) * 1000);
  return int64_t(std::min<Int128>(std::max<Int128>(share, s.least), s.most));
}

}  // namespace

std::vector<int64_t> fair_shares(int64_t total, std::span<const Sharer> sharers) {
  std::vector<int64_t> out(sharers.size(), 0);
  std::vector<size_t> open;
  int64_t left = total, most = 0;
  for (size_t i = 0; i < sharers.size(); i++) {
    const Sharer& s = sharers[i];
    if (!s.active || s.most == 0) continue;
    if (s.weight <= 0) {
      left -= out[i] = std::min(s.least, s.most);
      continue;
    }
    open.push_back(i);
    most = std::min(std::numeric_limits<int64_t>::max() / 4, most + s.most);
  }
  left = std::min(std::max<int64_t>(left, 0), most);
  const auto used = [&](Int128 r) {
    int64_t sum = 0;
    for (const size_t i : open) sum += share_at(sharers[i], r);
    return sum;
  };
  Int128 low = 0, high = kScale;
  while (!open.empty() && used(high) < left) high *= 2;
  for (int step = 0; step < 25; step++) {
    const Int128 middle = (low + high) / 2;
    const int64_t planned = used(middle);
    if (planned == left) {
      high = middle;
      break;
    }
    (planned < left ? low : high) = middle;
  }
  for (const size_t i : open) out[i] = share_at(sharers[i], high);
  return out;
}

std::strong_ordering fairer(const Claimant& a, const Claimant& b, const Resources& cluster, std::span<const size_t> kinds) {
  if (a.demands != b.demands) return a.demands ? std::strong_ordering::less : std::strong_ordering::greater;
  // Kinds by their share of the cluster, the dominant one first.
  const auto by_share = [&](const Claimant& c) {
    std::vector<size_t> order;
    for (const size_t k : kinds)
      if (cluster[k] > 0) order.push_back(k);
    std::stable_sort(order.begin(), order.end(), [&](size_t x, size_t y) {
      return Ratio{c.usage[y], cluster[y]} < Ratio{c.usage[x], cluster[x]};
    });
    return order;
  };
  const std::vector<size_t> x = by_share(a), y = by_share(b);
  if (x.empty()) return std::strong_ordering::equal;
  const bool a_needy = a.usage[x[0]] < a.least[x[0]], b_needy = b.usage[y[0]] < b.least[y[0]];
  if (a_needy != b_needy) return a_needy ? std::strong_ordering::less : std::strong_ordering::greater;
  const auto ratio = [&](const Claimant& c, size_t k) {
    if (a_needy) return c.least[k] > 0 ? Ratio{c.usage[k], c.least[k]} : Ratio{1, 1};
    return Ratio{Int128(c.usage[k]) * 1000, Int128(cluster[k]) * std::max<int64_t>(1, c.weight)};
  };
  for (size_t i = 0; i < x.size(); i++)
    if (const auto o = ratio(a, x[i]) <=> ratio(b, y[i]); o != 0) return o;
  return std::strong_ordering::equal;
}

}  // namespace muster::yarn
