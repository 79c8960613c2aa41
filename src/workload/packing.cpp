#include "muster/packing.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <unordered_set>

namespace muster {
namespace {

constexpr size_t kExactSorts = 8, kExactItems = 32;
constexpr uint64_t kExactSteps = 300'000, kSteps = 100'000;

class Search {
 public:
  Search(std::span<const PackingItems> items, std::span<const PackingBins> bins, bool one_each) : items_(items), bins_(bins), one_each_(one_each) {
    order_.resize(items.size());
    std::iota(order_.begin(), order_.end(), 0u);
    std::stable_sort(order_.begin(), order_.end(), [&](uint32_t a, uint32_t b) { return items[a].need.amount > items[b].need.amount; });
    uint64_t all = 0;
    for (const PackingItems& i : items) left_.push_back(i.count), all += i.count;
    steps_ = items.size() <= kExactSorts || all <= kExactItems ? kExactSteps : kSteps;
    // What the bins from each one on have of each kind together: an early no.
    rest_.resize(bins.size() + 1);
    for (size_t b = bins.size(); b-- > 0;) {
      rest_[b] = rest_[b + 1];
      for (size_t k = 0; k < kMaxKinds; k++) rest_[b][k] = add(rest_[b][k], bins[b].room[k], bins[b].count);
    }
  }
  Packing run(std::vector<PackingFill>& out) {
    const bool good = from(0, 0);
    if (good) out = std::move(fills_);
    return good ? Packing::fits : steps_ == 0 ? Packing::limit : Packing::no;
  }

 private:
  static int64_t add(int64_t a, int64_t room, uint32_t count) {
    constexpr int64_t kMost = std::numeric_limits<int64_t>::max() / 4;
    return room > (kMost - a) / std::max<int64_t>(count, 1) ? kMost : a + room * count;
  }
  bool done() const {
    return std::all_of(left_.begin(), left_.end(), [](uint32_t n) { return n == 0; });
  }
  bool enough(size_t b) const {
    for (size_t k = 0; k < kMaxKinds; k++) {
      Int128 want = 0;
      for (size_t i = 0; i < items_.size(); i++) want += Int128{items_[i].need[k]} * left_[i];
      if (want > 0 && want > rest_[b][k]) return false;
    }
    return true;
  }
  /// Bins b, of which `used` are filled, and those after it take what is left.
  bool from(size_t b, uint32_t used) {
    if (done()) return true;
    if (b < bins_.size() && used == bins_[b].count) b++, used = 0;
    if (b == bins_.size() || !enough(b) || steps_ == 0) return false;
    steps_--;
    std::string key(reinterpret_cast<const char*>(left_.data()), left_.size() * sizeof(uint32_t));
    key.append(reinterpret_cast<const char*>(&b), sizeof b).append(reinterpret_cast<const char*>(&used), sizeof used);
    if (!seen_.insert(std::move(key)).second) return false;
    bool any = false;
    for (uint32_t i = 0; i < items_.size(); i++) any |= left_[i] && fits(b, i, bins_[b].room);
    if (!any) return from(b + 1, 0);
    fills_.push_back({uint32_t(b), std::vector<uint32_t>(items_.size())});
    if (choose(b, used, fills_.size() - 1, 0, bins_[b].room)) return true;
    fills_.pop_back();
    return false;
  }
  bool fits(size_t b, uint32_t i, const Resources& room) const {
    if (!(bins_[b].suits >> i & 1)) return false;
    for (size_t k = 0; k < kMaxKinds; k++)
      if (items_[i].need[k] > 0 && items_[i].need[k] > room[k]) return false;
    return true;
  }
  /// How many of each sort, from place `place` of the order on, the bin being filled takes.
  bool choose(size_t b, uint32_t used, size_t at, size_t place, const Resources& room) {
    if (place == order_.size()) {
      // A bin that could take one more need not be looked at: whatever it takes makes room elsewhere.
      for (uint32_t i = 0; i < items_.size(); i++)
        if (left_[i] && !(one_each_ && taken(at)) && fits(b, i, room)) return false;
      return from(b, used + 1);
    }
    const uint32_t i = order_[place];
    Resources rest = room;
    uint32_t n = 0;
    while (n < left_[i] && fits(b, i, rest) && !(one_each_ && (n || taken(at)))) rest -= items_[i].need, n++;
    for (;; n--) {
      fills_[at].items[i] = n, left_[i] -= n;
      const bool good = choose(b, used, at, place + 1, rest);
      if (good) return true;
      left_[i] += n, fills_[at].items[i] = 0;
      if (n == 0 || steps_ == 0) return false;
      rest += items_[i].need;
    }
  }
  bool taken(size_t at) const {
    return std::any_of(fills_[at].items.begin(), fills_[at].items.end(), [](uint32_t n) { return n > 0; });
  }

  std::span<const PackingItems> items_;
  std::span<const PackingBins> bins_;
  bool one_each_;
  std::vector<uint32_t> order_, left_;
  std::vector<Resources> rest_;
  std::vector<PackingFill> fills_;
  std::unordered_set<std::string> seen_;  // looked up, never iterated
  uint64_t steps_;
};

}  // namespace

Packing pack_items(std::span<const PackingItems> items, std::span<const PackingBins> bins, bool one_each, std::vector<PackingFill>& out) {
  out.clear();
  return Search(items, bins, one_each).run(out);
}

}  // namespace muster
