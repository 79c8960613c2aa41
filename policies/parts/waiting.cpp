#include "parts/waiting.hpp"

#include <algorithm>
#include <map>

namespace muster {

Waiting::Waiting(const Topology& t, const Workload& w)
    : members_(std::max<size_t>(w.jobs.size(), 1)), rows_(w.jobs.size()) {
  std::map<std::array<int64_t, kMaxKinds>, std::vector<uint32_t>> known;  // classes by their want
  std::vector<uint32_t> class_of_shape;
  for (const Shape& s : w.shapes) {
    Class c;
    for (const TaskGroup& g : s.groups) {
      Resources task = g.per_task;
      task[kGpu] = int64_t(g.gpus) * kMilli;
      c.want += task.times(g.max_tasks);
      TaskGroup kind = g, any;
      kind.min_tasks = kind.max_tasks = 1, kind.per_task = {};
      any.gpus = kind.gpus = std::min(g.gpus, 1u);  // without a GPU its type would be nothing to it
      if (kind != any) c.kinds.push_back(std::move(kind));
    }
    for (size_t k = 1; k < kMaxKinds; k++)
      if (!t.limits(k)) c.want[k] = 0;
    std::vector<uint32_t>& alike = known[c.want.amount];
    const auto at = std::find_if(alike.begin(), alike.end(), [&](uint32_t i) { return classes_[i].kinds == c.kinds; });
    class_of_shape.push_back(at == alike.end() ? uint32_t(classes_.size()) : *at);
    if (at != alike.end()) continue;
    alike.push_back(uint32_t(classes_.size()));
    classes_.push_back(std::move(c));
  }
  for (JobId j = 0; j < w.jobs.size(); j++) {
    Class& c = classes_[rows_[j].of = class_of_shape[w.jobs[j].shape]];
    rows_[j].place = uint32_t(c.jobs.size());
    c.jobs.push_back(j);
  }
  size_t width = 1;
  while (width < classes_.size()) width *= 2;
  for (Class& c : classes_) c.runs = WinnerTree(std::max<size_t>(c.jobs.size(), 1));
  nodes_.resize(2 * width);
  leaves_.assign(width, kNone);
  std::vector<uint32_t> all(classes_.size());
  for (uint32_t i = 0; i < all.size(); i++) all[i] = i;
  if (!all.empty()) arrange(all, 1);
}

/// Splits the classes between the two halves below `node`, along the kind in which they differ most.
void Waiting::arrange(std::span<uint32_t> some, size_t node) {
  Resources least, most;
  for (size_t k = 0; k < kMaxKinds; k++) {
    const auto [a, b] =
        std::minmax_element(some.begin(), some.end(), [&](uint32_t x, uint32_t y) { return classes_[x].want[k] < classes_[y].want[k]; });
    least[k] = classes_[*a].want[k], most[k] = classes_[*b].want[k];
  }
  nodes_[node].least = least;
  const size_t width = nodes_.size() / 2;
  if (node >= width) {
    leaves_[node - width] = some[0];
    classes_[some[0]].leaf = uint32_t(node);
    return;
  }
  if (some.size() == 1) return arrange(some, 2 * node);
  size_t widest = 0;
  double spread = -1;
  for (size_t k = 0; k < kMaxKinds; k++) {
    const double s = most[k] == 0 ? 0 : double(most[k] - least[k]) / double(most[k]);
    if (s > spread) spread = s, widest = k;
  }
  std::stable_sort(some.begin(), some.end(), [&](uint32_t x, uint32_t y) { return classes_[x].want[widest] < classes_[y].want[widest]; });
  size_t below = 1;  // leaves of each half
  for (size_t i = node; 2 * i < width; i *= 2) below *= 2;
  const size_t left = std::min(below, (some.size() + 1) / 2);
  arrange(some.first(left), 2 * node);
  arrange(some.subspan(left), 2 * node + 1);
}

void Waiting::set(JobId j, Duration d) {
  Class& c = classes_[rows_[j].of];
  c.runs.set(rows_[j].place, d);
  if (d != WinnerTree::kOut) c.first = std::min(c.first, j);
  else if (c.first == j) {
    const uint32_t at = c.runs.leftmost(WinnerTree::kOut - 1);
    c.first = at == kNone ? kNone : c.jobs[at];
  }
  const Duration shortest = c.runs.best();
  size_t i = c.leaf;
  if (nodes_[i].first == c.first && nodes_[i].shortest == shortest) return;
  nodes_[i].first = c.first, nodes_[i].shortest = shortest;
  for (i /= 2; i > 0; i /= 2) {
    const Node &a = nodes_[2 * i], &b = nodes_[2 * i + 1];
    nodes_[i].first = std::min(a.first, b.first);
    nodes_[i].shortest = std::min(a.shortest, b.shortest);
  }
}

void Waiting::search(size_t node, const Cluster& cluster, NodeId n, const Resources& free, Duration d, JobId& best) const {
  const Node& x = nodes_[node];
  if (x.first >= best || x.shortest > d) return;
  for (size_t k = 0; k < kMaxKinds; k++)
    if (x.least[k] > 0 && x.least[k] > free[k]) return;
  const size_t width = nodes_.size() / 2;
  if (node < width) {
    const bool swap = nodes_[2 * node + 1].first < nodes_[2 * node].first;  // the better one first
    search(2 * node + swap, cluster, n, free, d, best);
    search(2 * node + !swap, cluster, n, free, d, best);
    return;
  }
  const uint32_t id = leaves_[node - width];
  const Class& c = classes_[id];
  if (!suits(cluster, n, id)) return;
  const uint32_t at = d == WinnerTree::kOut - 1 ? 0 : c.runs.leftmost(d);
  const JobId j = d == WinnerTree::kOut - 1 ? c.first : at == kNone ? kNone : c.jobs[at];
  best = std::min(best, j);
}

}  // namespace muster
