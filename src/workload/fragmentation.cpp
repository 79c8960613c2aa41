#include "muster/fragmentation.hpp"

#include <algorithm>
#include <tuple>

namespace muster {

namespace {
bool type_fits(const TaskClass& m, std::string_view type) {
  return m.gpu_types.empty() || std::find(m.gpu_types.begin(), m.gpu_types.end(), type) != m.gpu_types.end();
}
}  // namespace

std::string_view to_text(Fragment f) {
  constexpr std::string_view kNames[] = {"lacks_both", "lacks_gpu", "satisfied", "lacks_cpu", "cpu_task", "cpu_task_lacks_cpu", "no_access"};
  return kNames[size_t(f)];
}

TaskClass task_class(const TaskGroup& g) {
  TaskClass m;
  m.cpu = g.per_task[kCpu];
  m.gpus = g.gpu_milli() ? 1 : g.gpus;
  m.milli = g.gpu_milli() ? int32_t(g.gpu_milli()) : g.gpus ? int32_t(kMilli) : 0;
  m.gpu_types = g.gpu_types;
  std::sort(m.gpu_types.begin(), m.gpu_types.end());
  m.gpu_types.erase(std::unique(m.gpu_types.begin(), m.gpu_types.end()), m.gpu_types.end());
  return m;
}

std::vector<TaskClass> task_classes(const Workload& w, unsigned percent) {
  std::vector<int64_t> jobs(w.shapes.size());
  for (const Job& j : w.jobs) jobs[j.shape]++;
  std::vector<TaskClass> all;
  int64_t tasks = 0;
  for (ShapeId s = 0; s < w.shapes.size(); s++) {
    for (const TaskGroup& g : w.shapes[s].groups) {
      TaskClass m = task_class(g);
      const int64_t count = jobs[s] * g.max_tasks;
      tasks += count;
      const auto same = [&](const TaskClass& o) { return o.cpu == m.cpu && o.gpus == m.gpus && o.milli == m.milli && o.gpu_types == m.gpu_types; };
      auto at = std::find_if(all.begin(), all.end(), same);
      if (at == all.end()) at = all.insert(all.end(), std::move(m));
      at->count += count;
    }
  }
  std::sort(all.begin(), all.end(), [](const TaskClass& a, const TaskClass& b) {
    return std::tie(a.count, a.cpu, a.milli, a.gpus, a.gpu_types) > std::tie(b.count, b.cpu, b.milli, b.gpus, b.gpu_types);
  });
  size_t kept = 0;
  for (int64_t sum = 0; kept < all.size() && sum * 100 < tasks * int64_t{percent}; kept++) sum += all[kept].count;
  all.resize(kept);
  return all;
}

Fragment fragment_of(const NodeLeft& n, const TaskClass& m) {
  const bool cpu = n.cpu >= m.cpu;
  if (m.milli == 0) return cpu ? Fragment::cpu_task : Fragment::cpu_task_lacks_cpu;
  if (!type_fits(m, n.gpu_type)) return Fragment::no_access;
  const auto hold = std::count_if(n.parts.begin(), n.parts.end(), [&](int32_t left) { return left >= m.milli; });
  if (uint64_t(hold) + n.whole >= m.gpus) return cpu ? Fragment::satisfied : Fragment::lacks_cpu;
  return cpu ? Fragment::lacks_gpu : Fragment::lacks_both;
}

int64_t fragmented(const NodeLeft& n, const TaskClass& m) {
  if (fragment_of(n, m) != Fragment::satisfied) return n.milli();
  int64_t sum = 0;
  for (const int32_t left : n.parts) sum += left < m.milli ? left : 0;
  return sum;
}

Fragmentation::Fragmentation(std::vector<TaskClass> classes) : classes_(std::move(classes)) {
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < classes_.size(); i++) {
    tasks_ += classes_[i].count;
    if (classes_[i].milli) order.push_back(i);
    else cpu_tasks_ += classes_[i].count;
  }
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return classes_[a].milli < classes_[b].milli; });
  for (const uint32_t i : order) {
    const TaskClass& m = classes_[i];
    if (sizes_.empty() || sizes_.back().milli != m.milli) sizes_.push_back({m.milli, uint32_t(lines_.size()), 0});
    lines_.push_back({m.cpu, m.count, m.gpus, i});
    sizes_.back().end = uint32_t(lines_.size());
  }
}

uint32_t Fragmentation::type(std::string_view gpu_type) {
  for (uint32_t t = 0; t < types_.size(); t++)
    if (types_[t].first == gpu_type) return t;
  std::vector<uint8_t> good;
  for (const Line& l : lines_) good.push_back(type_fits(classes_[l.id], gpu_type));
  types_.emplace_back(gpu_type, std::move(good));
  return uint32_t(types_.size() - 1);
}

int64_t Fragmentation::sum(const NodeLeft& n, uint32_t type) const {
  const int64_t all = n.milli();
  if (all == 0) return 0;
  const std::vector<uint8_t>& good = types_[type].second;
  int64_t sum = all * cpu_tasks_;
  for (const Size& s : sizes_) {
    uint32_t hold = n.whole;
    int64_t rest = 0;
    for (const int32_t left : n.parts) left >= s.milli ? void(hold++) : void(rest += left);
    for (uint32_t i = s.begin; i < s.end; i++) {
      const Line& l = lines_[i];
      sum += l.count * ((n.cpu >= l.cpu) & (hold >= l.gpus) & good[i] ? rest : all);
    }
  }
  return sum;
}

std::array<int64_t, kFragments> Fragmentation::by_case(const NodeLeft& n) const {
  std::array<int64_t, kFragments> out{};
  const int64_t all = n.milli();
  for (const TaskClass& m : classes_) {
    const Fragment f = fragment_of(n, m);
    const int64_t lost = fragmented(n, m);
    out[size_t(f == Fragment::satisfied ? Fragment::lacks_gpu : f)] += m.count * lost;
    out[size_t(Fragment::satisfied)] += m.count * (all - lost);
  }
  return out;
}

}  // namespace muster
