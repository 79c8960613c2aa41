#include "parts/topology_request.hpp"

#include <algorithm>

namespace muster::kueue {

namespace {

struct Assigner {
  struct Domain {
    int64_t pods = 0, slices = 0;  // what fits; later: what it is given
  };
  const DomainTree& tree;
  const TopologyRequest& request;
  bool smallest_first = false;  // sorted by what is free, the least first
  size_t slice_level = 0;
  int64_t slice_size = 1;
  std::vector<std::vector<Domain>> domains{};
  std::vector<std::vector<std::vector<uint32_t>>> children{};

  size_t levels() const { return tree.parent.size(); }

  void count(std::span<const int64_t> leaf_capacity) {
    domains.resize(levels());
    children.resize(levels());
    for (size_t l = 0; l < levels(); l++) domains[l].resize(tree.parent[l].size()), children[l].resize(tree.parent[l].size());
    for (size_t l = 1; l < levels(); l++)
      for (uint32_t d = 0; d < tree.parent[l].size(); d++) children[l - 1][tree.parent[l][d]].push_back(d);
    for (size_t l = levels(); l-- > 0;) {
      for (uint32_t d = 0; d < domains[l].size(); d++) {
        Domain& x = domains[l][d];
        if (l + 1 == levels()) {
          x.pods = std::max<int64_t>(0, leaf_capacity[d]);
        } else {
          for (const uint32_t k : children[l][d]) x.pods += domains[l + 1][k].pods, x.slices += domains[l + 1][k].slices;
        }
        // Pods that make no whole inner slice cannot be used.
        for (size_t i = 1; i < request.slices.size(); i++)
          if (request.slices[i].level == l) x.pods -= x.pods % request.slices[i].size;
        if (l == slice_level) x.slices = x.pods / slice_size;
      }
    }
  }

  std::vector<uint32_t> sorted(size_t level, std::vector<uint32_t> list) const {
    const auto& x = domains[level];
    std::sort(list.begin(), list.end(), [&](uint32_t a, uint32_t b) {
      if (x[a].slices != x[b].slices) return smallest_first ? x[a].slices < x[b].slices : x[a].slices > x[b].slices;
      if (x[a].pods != x[b].pods) return x[a].pods < x[b].pods;
      return a < b;
    });
    return list;
  }

  /// What counts of a domain: slices down to their level, pods below.
  int64_t held(size_t level, uint32_t d, bool slices) const { return slices ? domains[level][d].slices : domains[level][d].pods; }

  /// Of list[from..], the one with the least that still holds `need`; the first of equals.
  size_t tightest(size_t level, const std::vector<uint32_t>& list, size_t from, int64_t need, bool slices) const {
    size_t best = from;
    for (size_t i = from; i < list.size(); i++) {
      const int64_t h = held(level, list[i], slices);
      if (h >= need && h < held(level, list[best], slices)) best = i;
    }
    return best;
  }

  /// Takes `need` from the sorted domains, as few as may be, and notes what each is given.
  std::vector<uint32_t> fill(size_t level, const std::vector<uint32_t>& list, int64_t need, bool slices) {
    std::vector<uint32_t> taken;
    for (size_t i = 0; i < list.size() && need > 0; i++) {
      uint32_t d = list[i];
      if (held(level, d, slices) == 0) continue;
      if (!smallest_first && held(level, d, slices) >= need) d = list[tightest(level, list, i, need, slices)];
      const int64_t given = std::min(need, held(level, d, slices));
      Domain& x = domains[level][d];
      if (slices) x.slices = given, x.pods = given * slice_size;
      else x.pods = given;
      need -= given;
      taken.push_back(d);
    }
    return taken;
  }

  /// The level and domains in which the search ends; empty when there are none.
  std::pair<size_t, std::vector<uint32_t>> find_level(size_t level, int64_t slices) const {
    for (;; level--) {
      std::vector<uint32_t> all(domains[level].size());
      for (uint32_t d = 0; d < all.size(); d++) all[d] = d;
      const std::vector<uint32_t> list = sorted(level, std::move(all));
      if (list.empty()) return {level, {}};
      if (smallest_first) {
        for (const uint32_t d : list)
          if (held(level, d, true) >= slices) return {level, {d}};
      } else if (held(level, list[0], true) >= slices) {
        return {level, {list[tightest(level, list, 0, slices, true)]}};
      }
      if (request.mode == TopologyRequest::Mode::required) return {level, {}};
      if (level > 0 && request.mode == TopologyRequest::Mode::preferred) continue;
      int64_t sum = 0;
      for (const uint32_t d : list) sum += held(level, d, true);
      return {level, sum >= slices ? list : std::vector<uint32_t>{}};
    }
  }
};

}  // namespace

std::vector<std::pair<uint32_t, int64_t>> assign(const DomainTree& tree, std::span<const int64_t> leaf_capacity,
                                                 const TopologyRequest& request, bool least_free) {
  const bool free_choice = request.mode == TopologyRequest::Mode::unconstrained;
  Assigner a{tree, request, free_choice && least_free};
  if (tree.parent.empty() || request.pods <= 0) return {};
  size_t level = free_choice ? a.levels() - 1 : request.level;
  a.slice_level = a.levels() - 1;
  if (level >= a.levels()) return {};
  for (size_t i = 0; i < request.slices.size(); i++) {
    const auto& s = request.slices[i];
    const int64_t outer = i ? request.slices[i - 1].size : request.pods;
    if (s.size <= 0 || s.level >= a.levels() || outer % s.size != 0) return {};
    if (i ? s.level <= request.slices[i - 1].level : !free_choice && s.level < level) return {};
  }
  if (!request.slices.empty()) {
    a.slice_level = request.slices[0].level, a.slice_size = request.slices[0].size;
    if (free_choice) level = a.slice_level;
  }
  a.count(leaf_capacity);
  const int64_t slices = request.pods / a.slice_size;
  auto [at, chosen] = a.find_level(level, slices);
  if (chosen.empty()) return {};
  chosen = a.fill(at, chosen, slices, true);
  for (; at + 1 < a.levels(); at++) {
    std::vector<uint32_t> next;
    if (at < a.slice_level) {  // domains below all chosen ones compete
      for (const uint32_t d : chosen) next.insert(next.end(), a.children[at][d].begin(), a.children[at][d].end());
      next = a.fill(at + 1, a.sorted(at + 1, std::move(next)), slices, true);
    } else {  // each hands out what it was given
      for (const uint32_t d : chosen)
        for (const uint32_t k : a.fill(at + 1, a.sorted(at + 1, a.children[at][d]), a.domains[at][d].pods, false)) next.push_back(k);
    }
    chosen = std::move(next);
  }
  std::vector<std::pair<uint32_t, int64_t>> out;
  for (const uint32_t d : chosen) out.emplace_back(d, a.domains[at][d].pods);
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace muster::kueue
