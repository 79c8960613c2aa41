// What must always hold, recomputed from the leaves: for tests.
#include <algorithm>
#include <map>

#include "parts/cells.hpp"

namespace muster {

std::string CellForest::check() const {
  const auto wrong = [&](int32_t c, const char* what) {
    return (infos_[size_t(c)].is_physical ? "physical " : "virtual ") + address(c) + ": " + what;
  };
  bool any_bad = false;
  for (size_t c = 0; c < cells_.size(); c++) {
    const Cell& x = cells_[c];
    const auto id = int32_t(c);
    if (infos_[c].is_physical) any_bad |= x.bad != 0;
    if (x.level > 1) {
      int32_t lower = 0, last = x.priority;
      for (int32_t u = x.uses; u >= 0; u = pool_[size_t(u)].next) {
        if (pool_[size_t(u)].priority >= last || pool_[size_t(u)].count <= 0) return wrong(id, "its counts by priority are in disorder");
        lower += pool_[size_t(u)].count, last = pool_[size_t(u)].priority;
      }
      if (x.used > 0 && lower >= x.used) return wrong(id, "its counts by priority are more than all");
      int32_t used = 0, opportunistic = 0, priority = kFreePriority, bad = 0;
      for (int32_t i = 0; i < x.children; i++) {
        const Cell& k = cells_[size_t(x.first + i)];
        used += k.used, opportunistic += k.opportunistic, priority = std::max(priority, k.priority), bad |= k.bad;
      }
      if (used != x.used || opportunistic != x.opportunistic) return wrong(id, "its leaves in use are not the sum of its children's");
      if (priority != x.priority) return wrong(id, "its priority is not the highest of its children's");
      if (bad != x.bad) return wrong(id, "it is bad without a bad leaf, or the other way round");
    }
    if (x.bound == kNoCell) continue;
    const Cell& other = cells_[size_t(x.bound)];
    if (other.bound != id) return wrong(id, "its binding is not mutual");
    if (!infos_[c].is_physical && x.parent != kNoCell &&
        (cells_[size_t(x.parent)].bound == kNoCell || cells_[size_t(x.parent)].bound != other.parent))
      return wrong(id, "its parent is not bound to the parent of its physical cell");
    if (infos_[c].is_physical && x.level == 1 && other.priority != kFreePriority && other.priority != x.priority)
      return wrong(id, "its priority is another one than its virtual leaf's");
  }
  for (const Chain& chain : chains_) {
    std::vector<char> in_list(cells_.size(), 0);
    int64_t leaves = 0, all = 0;
    std::vector<int32_t> left(size_t(chain.top) + 1, 0);
    const std::function<void(int32_t)> count = [&](int32_t c) {
      left[size_t(cells_[size_t(c)].level)]++;
      for (int32_t i = 0; i < cells_[size_t(c)].children; i++) count(cells_[size_t(c)].first + i);
    };
    for (size_t l = 1; l < chain.free.size(); l++)
      for (int32_t i = 0; i < chain.free[l].size(); i++) {
        const int32_t c = chain.free[l][i];
        if (in_list[size_t(c)]) return wrong(c, "it is twice in the free list");
        in_list[size_t(c)] = 1;
        if (!is_free(c)) return wrong(c, "it is in the free list and not free");
        leaves += cells_[size_t(c)].leaves;
        count(c);
      }
    for (const int32_t t : chain.full[size_t(chain.top)]) all += cells_[size_t(t)].leaves;
    for (size_t l = 2; l < chain.full.size(); l++)
      for (const int32_t c : chain.full[l]) {
        bool whole = cells_[size_t(c)].children > 0;
        for (int32_t i = 0; whole && i < cells_[size_t(c)].children; i++) whole = in_list[size_t(cells_[size_t(c)].first + i)];
        if (whole) return wrong(c, "all its children are in the free list, and were not merged");
      }
    for (const VirtualTree& t : trees_) {
      if (&chains_[size_t(t.chain)] != &chain) continue;
      for (size_t l = 1; l < t.roots.size(); l++)
        for (size_t i = 0; i < t.roots[l].size(); i++) {
          const Cell& r = cells_[size_t(t.roots[l][i])];
          if (r.bound != kNoCell) leaves += cells_[size_t(r.bound)].leaves;
          if (t.unused[l].contains(int32_t(i)) != (r.bound == kNoCell && r.priority == kFreePriority))
            return wrong(t.roots[l][i], "it is not known whether it is unused");
        }
    }
    if (leaves != all) return chain.name + ": " + std::to_string(leaves) + " leaves are free or owned, of " + std::to_string(all);
    for (size_t l = 1; l < chain.left.size(); l++) {
      if (chain.left[l] != left[l])
        return chain.name + ": " + std::to_string(chain.left[l]) + " cells of level " + std::to_string(l) +
               " should be left, of these are free " + std::to_string(left[l]);
      int32_t owed = 0;
      for (const auto& of : chain.vc_free) owed += of[l];
      if (owed != chain.all_free[l])
        return chain.name + ": the cells that VCs have not allocated are miscounted at level " + std::to_string(l);
      if (!any_bad && chain.doomed_cells[l] == 0 && chain.left[l] < chain.all_free[l])
        return chain.name + ": not safe at level " + std::to_string(l);
      for (int32_t i = 0; i < chain.bad_free[l].size(); i++)
        if (!cells_[size_t(chain.bad_free[l][i])].bad || !is_free(chain.bad_free[l][i]))
          return wrong(chain.bad_free[l][i], "it is among the bad free cells");
      size_t bad_free = 0;
      for (const int32_t c : chain.full[l]) bad_free += cells_[size_t(c)].bad && is_free(c);
      if (bad_free != size_t(chain.bad_free[l].size()))
        return chain.name + ": bad free cells are missing from the list at level " + std::to_string(l);
    }
  }
  return {};
}

}  // namespace muster
