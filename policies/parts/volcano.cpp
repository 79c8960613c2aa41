#include "parts/volcano.hpp"

#include <algorithm>
#include <map>

namespace muster::volcano {

Ratio binpack_score(std::span<const Packed> resources, int64_t plugin_weight) {
  Ratio sum{0, 1};
  int64_t weights = 0;
  for (const Packed& r : resources) {
    if (r.request == 0 || r.weight == 0) continue;
    weights += r.weight;
    if (r.allocatable == 0) continue;
    if (r.used + r.request > r.allocatable) return {0, 1};
    sum = {sum.over * r.allocatable + Int128(r.weight) * (r.used + r.request) * sum.under, sum.under * r.allocatable};
  }
  if (weights == 0) return {0, 1};
  return {sum.over * 100 * plugin_weight, sum.under * weights};
}

Ratio topology_score(int64_t meeting_tier, int64_t lowest_tier, int64_t highest_tier, int64_t plugin_weight) {
  if (highest_tier <= lowest_tier) return {0, 1};
  return {Int128(100) * plugin_weight * (highest_tier - meeting_tier), highest_tier - lowest_tier};
}

Bundles gang_bundles(std::span<const GangTask> tasks, const GangMinima& minima) {
  std::map<uint32_t, uint32_t> running;  // by sub-job
  for (const GangTask& t : tasks) running[t.sub_job]++;
  const auto is_whole = [&](uint32_t n) { return minima.tasks_per_sub == 0 || n >= minima.tasks_per_sub; };
  uint32_t whole_subs = 0, left = uint32_t(tasks.size());
  for (const auto& [sub, n] : running) whole_subs += is_whole(n);
  const bool ready = left >= minima.tasks && whole_subs >= minima.sub_jobs;

  std::vector<uint32_t> order;
  for (uint32_t t = 0; t < tasks.size(); t++)
    if (tasks[t].candidate) order.push_back(t);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return tasks[a].priority < tasks[b].priority; });
  Bundles out;
  if (!ready) {
    out.safe = order;
    return out;
  }
  for (const uint32_t t : order) {
    uint32_t& n = running[tasks[t].sub_job];
    // A sub-job that is broken already may lose more; a whole one only while enough others stay whole.
    const bool breaks = is_whole(n) && !is_whole(n - 1);
    if (left > minima.tasks && !(breaks && whole_subs <= minima.sub_jobs)) {
      left--, n--, whole_subs -= breaks;
      out.safe.push_back(t);
    } else {
      out.whole.push_back(t);
    }
  }
  return out;
}

bool goes_before(const BundleRank& a, const BundleRank& b) {
  if (a.whole != b.whole) return b.whole;
  if (a.job_priority != b.job_priority) return a.job_priority < b.job_priority;
  return b.gain < a.gain;
}

}  // namespace muster::volcano
