// Bin packing against trying every way.
#include "muster/packing.hpp"

#include <gtest/gtest.h>

#include "random_workload.hpp"

namespace muster { namespace {

/// Puts item after item into every node in turn.
bool brute(std::vector<uint32_t> left, const std::vector<PackingItems>& items, std::vector<Resources> room, const std::vector<uint32_t>& suits,
           std::vector<bool> used, bool one_each) {
  for (size_t i = 0; i < items.size(); i++) {
    if (!left[i]) continue;
    left[i]--;
    for (size_t n = 0; n < room.size(); n++) {
      if (!room[n].covers(items[i].need) || !(suits[n] >> i & 1) || (one_each && used[n])) continue;
      auto less = room;
      auto taken = used;
      less[n] -= items[i].need, taken[n] = true;
      if (brute(left, items, less, suits, taken, one_each)) return true;
    }
    return false;
  }
  return true;
}

TEST(Packing, AgreesWithTryingEveryWay) {
  size_t fit = 0, cases = 4000;
  for (uint64_t seed = 0; seed < cases; seed++) {
    SCOPED_TRACE(seed);
    Dice dice(seed);
    std::vector<PackingItems> items(dice.from_to(1, 3));
    for (auto& i : items) {
      i.count = dice.from_to(1, 3);
      i.need[kGpu] = dice.from_to(0, 5) * kMilli;
      if (dice.one_in(2)) i.need[kCpu] = dice.from_to(1, 4);
    }
    std::vector<PackingBins> bins(dice.from_to(1, 3));
    std::vector<Resources> room;
    std::vector<uint32_t> suits, left;
    for (auto& b : bins) {
      b.count = dice.from_to(1, 2);
      b.room[kGpu] = dice.from_to(0, 8) * kMilli, b.room[kCpu] = dice.from_to(0, 8);
      if (dice.one_in(3)) b.suits = dice.below(8);
      for (uint32_t i = 0; i < b.count; i++) room.push_back(b.room), suits.push_back(b.suits);
    }
    for (const auto& i : items) left.push_back(i.count);
    const bool one_each = dice.one_in(3);
    std::vector<PackingFill> fills;
    const Packing got = pack_items(items, bins, one_each, fills);
    const bool want = brute(left, items, room, suits, std::vector<bool>(room.size()), one_each);
    ASSERT_EQ(got, want ? Packing::fits : Packing::no);
    fit += want;
    if (!want) continue;
    std::vector<uint32_t> bins_used(bins.size());
    for (const PackingFill& f : fills) {
      Resources sum;
      uint32_t tasks = 0;
      for (size_t i = 0; i < items.size(); i++) {
        sum += items[i].need.times(f.items[i]), left[i] -= f.items[i], tasks += f.items[i];
        ASSERT_TRUE(!f.items[i] || (bins[f.bins].suits >> i & 1));
      }
      ASSERT_TRUE(bins[f.bins].room.covers(sum));
      ASSERT_TRUE(!one_each || tasks <= 1);
      ASSERT_LE(++bins_used[f.bins], bins[f.bins].count);
    }
    for (const uint32_t n : left) ASSERT_EQ(n, 0u);
  }
  EXPECT_GT(fit, cases / 5);
  EXPECT_LT(fit, cases * 4 / 5);
}

TEST(Packing, ComesToItsLimitAndSaysSo) {
  // Even sizes in odd nodes: each of the ten nodes of 21 leaves one over, so that 204 do not fit 210; sums alone do not show it.
  std::vector<PackingItems> items;
  for (const auto& [size, count] : {std::pair{2, 8u}, {4, 9u}, {6, 8u}, {8, 3u}, {10, 2u}, {12, 1u}, {14, 1u}, {16, 1u}, {18, 1u}}) {
    auto& i = items.emplace_back();
    i.count = count, i.need[kGpu] = size;
  }
  std::vector<PackingBins> bins(1);
  bins[0].count = 10, bins[0].room[kGpu] = 21;
  std::vector<PackingFill> fills;
  EXPECT_EQ(pack_items(items, bins, false, fills), Packing::limit);
  bins[0].room[kGpu] = 22;
  EXPECT_EQ(pack_items(items, bins, false, fills), Packing::fits);
}

}}  // namespace muster
