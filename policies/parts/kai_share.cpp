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

bool may_reclaim(std::span<const TreeQueue> tree, uint32_t claimant, int64_t amount, bool preemptible, std::span<const GivesBack> victims,
                 int64_t multiplier_millionths) {
  std::vector<int64_t> allocated;
  for (const TreeQueue& q : tree) allocated.push_back(q.allocated);
  const auto path = [&](uint32_t q) {  // from the top
    std::vector<uint32_t> p;
    for (; q != kRoot; q = tree[q].parent) p.push_back(q);
    std::reverse(p.begin(), p.end());
    return p;
  };
  const std::vector<uint32_t> mine = path(claimant);
  std::vector<std::vector<uint32_t>> theirs;
  for (const GivesBack& v : victims) {
    theirs.push_back(path(v.queue));
    const auto& p = theirs.back();
    size_t split = 0;
    while (split + 1 < p.size() && split + 1 < mine.size() && p[split] == mine[split]) split++;
    const TreeQueue &us = tree[mine[split]], &them = tree[p[split]];
    const int64_t allowed = std::min(std::max(them.deserved, them.fair), them.most);
    const bool above_fair = allocated[p[split]] > allowed;
    const bool by_quota = allocated[mine[split]] + amount <= us.deserved && allocated[p[split]] > them.deserved;
    if (!above_fair && !by_quota) return false;
    for (const uint32_t q : p) allocated[q] -= v.amount;
  }
  // Nobody may end further above its fair share than the siblings it took from.
  for (size_t level = mine.size(); level-- > 0;) {
    const uint32_t q = mine[level];
    const int64_t holds = allocated[q] + amount;
    if (!preemptible && tree[q].fixed + amount > tree[q].deserved) return false;
    if (holds <= tree[q].fair) continue;
    for (const auto& p : theirs) {
      if (p.size() <= level || p[level] == q || (level && p[level - 1] != mine[level - 1])) continue;
      const uint32_t s = p[level];
      // holds / fair x multiplier >= theirs / their fair; a fair share of nothing is passed by anything.
      const Int128 left = Int128(holds) * multiplier_millionths * tree[s].fair;
      const Int128 right = Int128(allocated[s]) * kMillion * tree[q].fair;
      if (tree[q].fair == 0 || tree[s].fair == 0 ? tree[q].fair == 0 || allocated[s] == 0 : left >= right) return false;
    }
  }
  return true;
}

}  // namespace muster::kai
