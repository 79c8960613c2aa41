#include "parts/elastic.hpp"

#include <algorithm>

namespace muster {

namespace {

/// The lowest word of the node with so many free GPUs, or kNone.
uint32_t word_with(const Cluster& c, NodeId n, unsigned gpus) {
  for (unsigned w = 0; w < c.words(n); w++)
    if (unsigned(std::popcount(c.free_now(n, w))) >= gpus) return w;
  return kNone;
}

NodeId node_for(const Plan& plan, const TaskGroup& g) {
  const NodeIndex& index = plan.index();
  for (uint32_t count = index.count_from(g.gpus); count != kNone; count = index.count_from(count + 1))
    for (NodeId n = index.begin(); (n = index.first_with_room(count, g.per_task, n)) != kNone; n++)
      if (plan.cluster().room(n, g, 1) && word_with(plan.cluster(), n, g.gpus) != kNone) return n;
  return kNone;
}

}  // namespace

std::vector<unsigned> tasks_by_group(const Shape& s, Pieces held) {
  std::vector<unsigned> tasks(s.groups.size());
  for (const Piece& p : held) tasks[p.group] += p.tasks;
  return tasks;
}

std::vector<Piece> grown(const View& now, const Plan& plan, JobId j) {
  const Shape& s = now.shape(j);
  const Pieces held = plan.at(j);
  const std::vector<unsigned> tasks = tasks_by_group(s, held);
  for (uint8_t group = 0; group < s.groups.size(); group++) {
    const TaskGroup& g = s.groups[group];
    if (tasks[group] >= g.max_tasks) continue;
    // What must be aligned is placed by a placer alone, with its job.
    const bool aligned = (s.numa == Numa::restricted || s.numa == Numa::single) && now.topology().numa_level() > now.topology().node_level();
    if (aligned && g.gpus > 1) continue;
    const NodeId n = node_for(plan, g);
    if (n == kNone) continue;
    const unsigned word = word_with(plan.cluster(), n, g.gpus);
    uint64_t mask = 0;
    for (uint64_t free = plan.cluster().free_now(n, word); unsigned(std::popcount(mask)) < g.gpus; free &= free - 1) mask |= free & -free;
    std::vector<Piece> out(held.begin(), held.end());
    const auto same = std::find_if(out.begin(), out.end(), [&](const Piece& p) {
      return p.node == n && p.group == group && p.word == word && p.share == Share::whole;
    });
    if (same != out.end()) {
      same->what |= mask, same->tasks++;
    } else {
      const auto at = std::find_if(out.begin(), out.end(), [&](const Piece& p) {
        return p.node != n ? p.node > n : p.word != word ? p.word > word : p.group > group;
      });
      out.insert(at, Piece::whole(n, 1, mask, uint8_t(word), group));
    }
    return out;
  }
  return {};
}

std::vector<Piece> shrunk(Pieces held, unsigned tasks) {
  std::vector<Piece> keep(held.begin(), held.end());
  while (tasks > 0 && !keep.empty()) {
    Piece& p = keep.back();
    const unsigned has = std::max<unsigned>(1, p.tasks), goes = std::min(tasks, has);
    tasks -= goes;
    if (goes == has) {
      keep.pop_back();
      continue;
    }
    for (unsigned gpus = p.gpus() / has * goes; gpus > 0; gpus--) p.what &= ~(uint64_t{1} << (63 - std::countl_zero(p.what)));
    p.tasks = uint16_t(p.tasks - goes);
  }
  return keep;
}

}  // namespace muster
