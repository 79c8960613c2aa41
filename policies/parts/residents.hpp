// Which jobs are on which node, and until when.
#pragma once
#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "muster/types.hpp"
#include "parts/large_pages.hpp"

namespace muster {

/// Jobs by node, in no order. The usual few of a node lie in two cache lines of their own, since each start and each end looks at a node
/// that was not looked at for long.
class Residents {
 public:
  struct Here {
    Time end = 0;
    JobId job = kNone;
    uint32_t gpus = 0;
  };
  explicit Residents(size_t nodes) : count_(nodes), few_(nodes) {}
  std::span<Here> on(NodeId n) { return {data(n), count_[n]}; }
  void add(NodeId n, const Here& h) {
    if (count_[n] == kFew) {
      if (many_.empty()) many_.resize(count_.size());
      many_[n].assign(few_[n].here.begin(), few_[n].here.end());
    }
    if (count_[n] < kFew) few_[n].here[count_[n]] = h;
    else many_[n].push_back(h);
    count_[n]++;
  }
  /// Returns when it was believed to leave; 0 when it is not there.
  Time remove(NodeId n, JobId j) {
    const std::span<Here> all = on(n);
    const auto at = std::find_if(all.begin(), all.end(), [&](const Here& h) { return h.job == j; });
    if (at == all.end()) return 0;
    const Time end = at->end;
    *at = all.back();
    count_[n]--;
    if (count_[n] > kFew) many_[n].pop_back();
    else if (count_[n] == kFew) std::copy_n(many_[n].begin(), kFew, few_[n].here.begin());
    return end;
  }
  void clear(NodeId n) { count_[n] = 0; }

 private:
  static constexpr size_t kFew = 8;
  struct alignas(64) Few {
    std::array<Here, kFew> here;
  };
  Here* data(NodeId n) { return count_[n] <= kFew ? few_[n].here.data() : many_[n].data(); }

  std::vector<uint32_t> count_;
  std::vector<Few, OnLargePages<Few>> few_;
  std::vector<std::vector<Here>> many_;  // of nodes with more than kFew
};

}  // namespace muster
