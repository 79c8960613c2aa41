#include "parts/kai_share.hpp"

#include <algorithm>

namespace muster::kai {

namespace {

constexpr uint32_t kRoot = ~uint32_t{0};
constexpr Int128 kMillion = 1'000'000;

}  // namespace

Division divide(int64_t total, std::span<const ShareQueue> queues, int64_t k_millionths, int64_t unit) {
  Division out;
  out.fair.resize(queues.size());
  const auto requestable = [&](size_t q) { return std::min(queues[q].request, queues[q].most); };
  int64_t left = total;
  for (size_t q = 0; q < queues.size(); q++) left -= out.fair[q] = std::min(queues[q].deserved, requestable(q));
  left = std::max<int64_t>(left, 0);

  std::vector<int32_t> priorities;
  for (const ShareQueue& q : queues) priorities.push_back(q.priority);
  std::sort(priorities.rbegin(), priorities.rend());
  priorities.erase(std::unique(priorities.begin(), priorities.end()), priorities.end());

  struct Cut {
    size_t queue;
    Ratio part;  // what was cut off its last share
  };
  std::vector<std::vector<Cut>> rest;
  for (const int32_t priority : priorities) {
    std::vector<Cut> cut;
    for (bool satisfied = true; satisfied;) {
      satisfied = false;
      std::vector<size_t> open;
      Int128 weights = 0;
      for (size_t q = 0; q < queues.size(); q++)
        if (queues[q].priority == priority && out.fair[q] < requestable(q)) open.push_back(q), weights += queues[q].weight;
      if (weights == 0) break;
      std::vector<Int128> weight;  // w + k (w - usage), each times weights x 10^12
      Int128 sum = 0;
      for (const size_t q : open) {
        const Int128 normal = queues[q].weight * kMillion;
        weight.push_back(std::max<Int128>(0, normal * kMillion + k_millionths * (normal - queues[q].usage_millionths * weights)));
        sum += weight.back();
      }
      if (sum == 0) break;
      cut.clear();
      const int64_t round = left;
      for (size_t i = 0; i < open.size(); i++) {
        const size_t q = open[i];
        const int64_t need = requestable(q) - out.fair[q];
        if (weight[i] == 0) continue;
        const Ratio share{round * weight[i], sum};
        int64_t gets = need;
        if (Ratio{need, 1} <= share) {
          satisfied = true;
        } else {
          gets = share.times_down(1) / unit * unit;
          cut.push_back({q, {share.over - gets * share.under, share.under}});
        }
        out.fair[q] += gets;
        left -= gets;
      }
    }
    rest.push_back(std::move(cut));
  }
  for (auto& cut : rest) {
    std::stable_sort(cut.begin(), cut.end(), [](const Cut& a, const Cut& b) { return b.part < a.part; });
    for (const Cut& c : cut) {
      const int64_t gets = std::min(left, unit);
      out.fair[c.queue] += gets;
      left -= gets;
    }
  }
  out.remaining = left;
  return out;
}

bool may_reclaim(std::span<const TreeQueue> tree, uint32_t claimant, const Amounts& amount, bool preemptible, std::span<const GivesBack> victims,
                 int64_t multiplier_millionths) {
  std::vector<Amounts> allocated;
  for (const TreeQueue& q : tree) allocated.push_back(q.allocated);
  const auto path = [&](uint32_t q) {  // from the top
    std::vector<uint32_t> p;
    for (; q != kRoot; q = tree[q].parent) p.push_back(q);
    std::reverse(p.begin(), p.end());
    return p;
  };
  const std::vector<uint32_t> mine = path(claimant);
  std::vector<std::vector<uint32_t>> theirs;
  Amounts given{};  // by all victims
  for (const GivesBack& v : victims) {
    theirs.push_back(path(v.queue));
    const auto& p = theirs.back();
    size_t split = 0;
    while (split + 1 < p.size() && split + 1 < mine.size() && p[split] == mine[split]) split++;
    const TreeQueue &us = tree[mine[split]], &them = tree[p[split]];
    bool above_fair = false, above_quota = false, within_quota = true;
    for (size_t k = 0; k < kShared; k++) {
      const int64_t theirs_now = allocated[p[split]][k];
      above_fair |= theirs_now > std::min(std::max(them.deserved[k], them.fair[k]), them.most[k]);
      above_quota |= theirs_now > them.deserved[k];
      within_quota &= amount[k] == 0 || allocated[mine[split]][k] + amount[k] <= us.deserved[k];
    }
    if (!above_fair && !(within_quota && above_quota)) return false;
    for (size_t k = 0; k < kShared; k++) {
      given[k] += v.amount[k];
      for (const uint32_t q : p) allocated[q][k] -= v.amount[k];
    }
  }
  // Nobody may end further above its fair share than the siblings it took from.
  for (size_t level = mine.size(); level-- > 0;) {
    const uint32_t q = mine[level];
    for (size_t k = 0; k < kShared; k++) {
      const int64_t holds = allocated[q][k] + amount[k];
      if (!preemptible && amount[k] > 0 && tree[q].fixed[k] + amount[k] > tree[q].deserved[k]) return false;
      if (holds <= tree[q].fair[k] || amount[k] == 0 || given[k] == 0) continue;
      for (const auto& p : theirs) {
        if (p.size() <= level || p[level] == q || (level && p[level - 1] != mine[level - 1])) continue;
        const uint32_t s = p[level];
        const int64_t fair = tree[q].fair[k], others = tree[s].fair[k];
        // holds / fair x multiplier >= theirs / their fair; a fair share of nothing is passed by anything.
        const Int128 left = Int128(holds) * multiplier_millionths * others;
        const Int128 right = Int128(allocated[s][k]) * kMillion * fair;
        if (fair == 0 || others == 0 ? fair == 0 || allocated[s][k] == 0 : left >= right) return false;
      }
    }
  }
  return true;
}

}  // namespace muster::kai
