#include "parts/shape_groups.hpp"

#include <algorithm>

namespace muster {

namespace {
/// Whether two shapes want the same GPUs in the same way.
bool same_gpus(const Shape& a, const Shape& b) {
  return a.nodes == b.nodes && a.total_gpus == b.total_gpus && a.numa == b.numa && a.apart == b.apart &&
         a.required_level == b.required_level && a.preferred_level == b.preferred_level &&
         std::equal(a.groups.begin(), a.groups.end(), b.groups.begin(), b.groups.end(), [](const TaskGroup& x, const TaskGroup& y) {
           return x.min_tasks == y.min_tasks && x.max_tasks == y.max_tasks && x.gpus == y.gpus && x.gpu_milli() == y.gpu_milli() &&
                  x.gpu_mem_mib == y.gpu_mem_mib &&
                  x.gpu_types == y.gpu_types && x.driver == y.driver && x.cuda == y.cuda && x.labels == y.labels;
         });
}
constexpr auto kLater = [](const auto& a, const auto& b) { return b < a; };
}  // namespace

ShapeGroups::Line& ShapeGroups::line(const View& now, ShapeId s) {
  if (s >= lines_.size()) lines_.resize(std::max(now.shapes(), size_t(s) + 1));
  Line& l = lines_[s];
  if (l.group != kNone) return l;
  const Shape& shape = now.shape_of(s);
  l.group =
      uint32_t(std::find_if(groups_.begin(), groups_.end(), [&](const Group& g) { return same_gpus(now.shape_of(g.example), shape); }) -
               groups_.begin());
  if (l.group == groups_.size()) groups_.emplace_back().example = s;
  Group& g = groups_[l.group];
  l.leaf = uint32_t(g.shapes.size());
  g.shapes.push_back(s);
  const size_t leaves = g.heads.size() / 2;
  if (l.leaf >= leaves) {
    const size_t more = std::max<size_t>(1, leaves * 2);
    std::vector<Entry> heads(2 * more, kNobody);
    g.heads.swap(heads);
    for (uint32_t i = 0; i < leaves; i++) set_head(g, i, heads[leaves + i]);
  }
  return l;
}

void ShapeGroups::set_head(Group& g, uint32_t leaf, Entry e) {
  size_t i = g.heads.size() / 2 + leaf;
  g.heads[i] = e;
  for (i >>= 1; i > 0; i >>= 1) g.heads[i] = std::min(g.heads[2 * i], g.heads[2 * i + 1]);
}

/// Brings the shape's first job to light.
void ShapeGroups::show(ShapeId s) {
  Line& l = lines_[s];
  while (!l.heap.empty() && (!members_.contains(l.heap[0].job) || keys_[l.heap[0].job] != l.heap[0].key)) {
    std::pop_heap(l.heap.begin(), l.heap.end(), kLater);
    l.heap.pop_back();
  }
  if (!l.parked) set_head(groups_[l.group], l.leaf, l.heap.empty() ? kNobody : l.heap[0]);
}

void ShapeGroups::insert(const View& now, JobId j, int64_t key) {
  const ShapeId s = now.job(j).shape;
  Line& l = line(now, s);
  members_.insert(j);
  keys_[j] = key;
  l.heap.push_back({key, j});
  std::push_heap(l.heap.begin(), l.heap.end(), kLater);
  if (l.heap[0].job == j) show(s);
}

void ShapeGroups::erase(const View& now, JobId j) {
  const ShapeId s = now.job(j).shape;
  members_.erase(j);
  if (lines_[s].heap[0].job == j) show(s);
}

JobId ShapeGroups::first() const {
  Entry best = kNobody;
  for (const Group& g : groups_)
    if (!g.failed) best = std::min(best, g.heads[1]);
  return best.job;
}

void ShapeGroups::fail(const View& now, JobId j, Reason why, bool group) {
  const ShapeId s = now.job(j).shape;
  Line& l = lines_[s];
  if (group) {
    groups_[l.group].failed = true, groups_[l.group].why = why;
    return;
  }
  l.parked = true, l.failed = why;
  parked_.push_back(s);
  set_head(groups_[l.group], l.leaf, kNobody);
}

Reason ShapeGroups::failed(const View& now, JobId j) const {
  const Line& l = lines_[now.job(j).shape];
  if (l.parked) return l.failed;
  return groups_[l.group].failed ? groups_[l.group].why : Reason::none;
}

}  // namespace muster
