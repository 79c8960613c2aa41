#include "parts/kueue_victims.hpp"

#include <algorithm>

namespace muster::kueue {

std::string_view to_text(Why w) {
  switch (w) {
    case Why::in_queue: return "InClusterQueue";
    case Why::reclaim: return "InCohortReclamation";
    case Why::fair_sharing: return "InCohortFairSharing";
    case Why::reclaim_while_borrowing: return "InCohortReclaimWhileBorrowing";
  }
  return "";
}

bool Victims::before(uint32_t a, uint32_t b, uint32_t queue) const {
  const Workload &x = workloads_[a], &y = workloads_[b];
  if (x.evicted != y.evicted) return x.evicted;
  if ((x.queue == queue) != (y.queue == queue)) return x.queue != queue;
  if (local_usage_ && x.queue == queue && y.queue == queue && x.local_queue != y.local_queue && x.local_usage != y.local_usage)
    return x.local_usage > y.local_usage;
  const int64_t p = int64_t(x.priority) + x.boost, q = int64_t(y.priority) + y.boost;
  if (p != q) return p < q;
  if (x.reserved != y.reserved) return x.reserved > y.reserved;
  return x.uid != y.uid ? x.uid < y.uid : a < b;
}

bool Victims::fits(const Workload& in, bool borrowing) const {
  for (const Amount& a : in.usage) {
    if (!borrowing && tree_.borrows(in.queue, a.column, a.amount)) return false;
    if (a.amount > tree_.available(in.queue, a.column)) return false;
  }
  return true;
}

bool Victims::allowed(const Workload& in, const Workload& w, Whom whom) const {
  switch (whom) {
    case Whom::never: return false;
    case Whom::lower: return w.priority < in.priority;
    case Whom::lower_or_newer_equal: return w.priority < in.priority || (w.priority == in.priority && in.queued < w.queued);
    case Whom::any: return true;
  }
  return false;
}

bool Victims::uses(const Workload& w, std::span<const uint32_t> contested) const {
  return std::any_of(w.usage.begin(), w.usage.end(), [&](const Amount& a) {
    return a.amount > 0 && std::find(contested.begin(), contested.end(), a.column) != contested.end();
  });
}

bool Victims::within_nominal(uint32_t node, std::span<const uint32_t> contested) const {
  return std::none_of(contested.begin(), contested.end(), [&](uint32_t c) { return tree_.borrows(node, c); });
}

void Victims::remove(uint32_t w) {
  for (const Amount& a : workloads_[w].usage) tree_.free(workloads_[w].queue, a.column, a.amount);
}
void Victims::restore(uint32_t w) {
  for (const Amount& a : workloads_[w].usage) tree_.use(workloads_[w].queue, a.column, a.amount);
}

void Victims::collect_below(const Workload& in, std::span<const uint32_t> contested, uint32_t root, uint32_t node, uint32_t skip,
                            bool advantage, std::vector<Candidate>& out) const {
  for (const uint32_t k : tree_.children(node)) {
    if (k == skip || k == in.queue || within_nominal(k, contested)) continue;
    for (const uint32_t w : admitted_[k]) {
      const Workload& c = workloads_[w];
      if (!uses(c, contested) || !allowed(in, c, rules_[in.queue].reclaim)) continue;
      if (advantage) {
        out.push_back({w, root, Why::reclaim});
        continue;
      }
      const Rules& r = rules_[in.queue];
      const bool while_borrowing = r.borrow && c.priority < in.priority && (!r.borrow_most || c.priority <= *r.borrow_most);
      out.push_back({w, root, while_borrowing ? Why::reclaim_while_borrowing : Why::reclaim, !while_borrowing});
    }
    collect_below(in, contested, root, k, kNone, advantage, out);
  }
}

bool Victims::still_borrows(const Candidate& c, const Workload& in, std::span<const uint32_t> contested) const {
  const uint32_t queue = workloads_[c.workload].queue;
  if (queue == in.queue) return true;
  for (uint32_t n = queue; n != c.meets; n = tree_.parent(n))
    if (within_nominal(n, contested)) return false;
  return true;
}

void Victims::fill_back(const Workload& in, bool borrowing, std::vector<Victim>& victims, bool counted) {
  for (size_t i = victims.size() - 1; i-- > 0;) {
    restore(victims[i].workload);
    if (counted ? fits_counted(in) : fits(in, borrowing)) {
      victims[i] = victims.back();
      victims.pop_back();
    } else {
      remove(victims[i].workload);
    }
  }
}

std::vector<Victim> Victims::classical(const Workload& in, std::span<const uint32_t> contested) {
  const Rules& rules = rules_[in.queue];
  std::vector<Candidate> own, hierarchy, priority;
  if (rules.within != Whom::never)
    for (const uint32_t w : admitted_[in.queue])
      if (uses(workloads_[w], contested) && allowed(in, workloads_[w], rules.within)) own.push_back({w, kNone, Why::in_queue});
  if (rules.reclaim != Whom::never) {
    // From the queue upwards: once a subtree owns enough for the request, what lies outside of it owes.
    std::vector<Amount> left = in.usage;
    const auto quota_holds = [&](uint32_t n) {
      bool holds = true;
      for (Amount& a : left) {
        holds &= tree_.usage(n, a.column) + a.amount <= tree_.subtree(n, a.column);
        a.amount = std::max<int64_t>(0, a.amount - tree_.local_available(n, a.column));
      }
      return holds;
    };
    bool advantage = quota_holds(in.queue);
    for (uint32_t below = in.queue, n = tree_.parent(below); n != kNone; below = n, n = tree_.parent(n)) {
      collect_below(in, contested, n, n, below, advantage, advantage ? hierarchy : priority);
      const bool holds = quota_holds(n);
      advantage = advantage || holds;
    }
  }
  const auto sort = [&](std::vector<Candidate>& c) {
    std::sort(c.begin(), c.end(), [&](const Candidate& a, const Candidate& b) { return before(a.workload, b.workload, in.queue); });
  };
  sort(hierarchy), sort(priority), sort(own);
  std::vector<Candidate> all;
  for (const bool evicted : {true, false})
    for (const auto* list : {&hierarchy, &priority, &own})
      for (const Candidate& c : *list)
        if (workloads_[c.workload].evicted == evicted) all.push_back(c);

  const bool over_nominal = std::any_of(contested.begin(), contested.end(),
                                        [&](uint32_t c) { return tree_.usage(in.queue, c) >= tree_.quota(in.queue, c).nominal; });
  const bool none_elsewhere = hierarchy.empty() && priority.empty();
  std::vector<bool> attempts = {true, false};  // whether the taker may end up borrowing
  if (none_elsewhere || (!rules.borrow && over_nominal)) attempts = {true};
  else if (!rules.borrow && hierarchy.empty()) attempts = {false, true};

  for (const bool borrowing : attempts) {
    std::vector<Victim> victims;
    bool done = false;
    for (const Candidate& c : all) {
      if ((borrowing && c.never_borrow) || !still_borrows(c, in, contested)) continue;
      remove(c.workload);
      victims.push_back({c.workload, c.why});
      if ((done = fits(in, borrowing))) break;
    }
    if (done) fill_back(in, borrowing, victims, false);
    for (const Victim& v : victims) restore(v.workload);
    if (done) return victims;
  }
  return {};
}

/// The queues of a cohort as candidates: the one with the largest share is asked next.
class Victims::Tournament {
 public:
  Tournament(const Victims& v, const Workload& in, std::vector<uint32_t> candidates) : v_(v), queue_(in.queue) {
    pruned_.resize(v.tree_.nodes());
    left_.resize(v.tree_.nodes());
    on_path_.resize(v.tree_.nodes());
    for (uint32_t n = queue_; n != kNone; n = v.tree_.parent(n)) on_path_[n] = 1;
    std::sort(candidates.begin(), candidates.end(), [&](uint32_t a, uint32_t b) { return v.before(a, b, queue_); });
    for (auto w = candidates.rbegin(); w != candidates.rend(); ++w) left_[v.workloads_[*w].queue].push_back(*w);  // the next one last
  }
  /// The queue to take from, or kNone when none is left.
  uint32_t next() {
    const uint32_t root = v_.tree_.root_of(queue_);
    if (root == queue_) return left_[queue_].empty() ? kNone : queue_;
    while (!pruned_[root])
      if (const uint32_t q = below(root); q != kNone) return q;
    return kNone;
  }
  bool has(uint32_t queue) const { return !left_[queue].empty(); }
  uint32_t pop(uint32_t queue) {
    const uint32_t w = left_[queue].back();
    left_[queue].pop_back();
    return w;
  }
  void drop(uint32_t queue) { left_[queue].clear(); }

 private:
  bool is_queue(uint32_t n) const { return v_.tree_.children(n).empty(); }
  uint32_t below(uint32_t cohort) {
    uint32_t queue = kNone, sub = kNone;
    BorrowedShare queue_share, sub_share;
    for (const uint32_t k : v_.tree_.children(cohort)) {
      if (pruned_[k]) continue;
      const BorrowedShare share = v_.tree_.share(k);
      if (is_queue(k)) {
        // The taker's own queue stays while it has candidates, whatever it borrows.
        if ((share.zero() && k != queue_) || left_[k].empty()) {
          pruned_[k] = 1;
        } else if (queue == kNone || queue_share < share ||
                   (share == queue_share && v_.before(left_[k].back(), left_[queue].back(), queue_))) {
          queue = k, queue_share = share;
        }
      } else if (share.zero() && !on_path_[k]) {
        pruned_[k] = 1;
      } else if (sub == kNone || sub_share <= share) {
        sub = k, sub_share = share;
      }
    }
    if (queue == kNone && sub == kNone) {
      pruned_[cohort] = 1;
      return kNone;
    }
    if (sub != kNone && (queue == kNone || queue_share <= sub_share)) return below(sub);
    return queue;
  }
  const Victims& v_;
  uint32_t queue_;
  std::vector<uint8_t> pruned_, on_path_;
  std::vector<std::vector<uint32_t>> left_;
};

bool Victims::fits_counted(const Workload& in) {
  for (const Amount& a : in.usage) tree_.free(in.queue, a.column, a.amount);
  const bool yes = fits(in, true);
  for (const Amount& a : in.usage) tree_.use(in.queue, a.column, a.amount);
  return yes;
}

std::vector<Victim> Victims::fair(const Workload& in, std::span<const uint32_t> contested, FairStrategies strategies) {
  const Rules& rules = rules_[in.queue];
  std::vector<uint32_t> candidates;
  const auto take_from = [&](uint32_t queue, Whom whom) {
    if (whom == Whom::never) return;
    for (const uint32_t w : admitted_[queue])
      if (uses(workloads_[w], contested) && allowed(in, workloads_[w], whom)) candidates.push_back(w);
  };
  take_from(in.queue, rules.within);
  const auto walk = [&](auto&& self, uint32_t n) -> void {
    if (n != in.queue && tree_.children(n).empty() && !within_nominal(n, contested)) take_from(n, rules.reclaim);
    for (const uint32_t k : tree_.children(n)) self(self, k);
  };
  if (tree_.parent(in.queue) != kNone) walk(walk, tree_.root_of(in.queue));
  if (candidates.empty()) return {};

  for (const Amount& a : in.usage) tree_.use(in.queue, a.column, a.amount);  // shares count the newcomer
  const bool owns_it = within_nominal(in.queue, contested);
  // Shares are compared where the two paths part.
  const auto sides = [&](uint32_t other) {
    std::vector<uint32_t> path;
    for (uint32_t n = in.queue; n != kNone; n = tree_.parent(n)) path.push_back(n);
    uint32_t n = other;
    while (std::find(path.begin(), path.end(), tree_.parent(n)) == path.end()) n = tree_.parent(n);
    const auto common = std::find(path.begin(), path.end(), tree_.parent(n));
    return std::pair{*(common - 1), n};
  };
  std::vector<Victim> victims;
  std::vector<uint32_t> again;
  bool done = false;
  const auto take = [&](uint32_t w, Why why) {
    remove(w);
    victims.push_back({w, why});
    return done = fits_counted(in);
  };
  Tournament first(*this, in, candidates);
  for (uint32_t q; !done && (q = first.next()) != kNone;) {
    if (q == in.queue) {
      take(first.pop(q), Why::in_queue);
      continue;
    }
    if (owns_it) {
      take(first.pop(q), Why::reclaim);
      continue;
    }
    const auto [mine, theirs] = sides(q);
    const BorrowedShare taker = tree_.share(mine), before_it = tree_.share(theirs);
    while (first.has(q)) {
      const uint32_t w = first.pop(q);
      remove(w);
      const BorrowedShare after = tree_.share(theirs);
      restore(w);
      if (strategies.final_share ? taker <= after : taker < before_it) {
        take(w, Why::fair_sharing);
        break;  // the shares are others now
      }
      again.push_back(w);
    }
  }
  if (!done && strategies.final_share && strategies.initial_share) {
    Tournament second(*this, in, again);
    for (uint32_t q; !done && (q = second.next()) != kNone; second.drop(q)) {
      const auto [mine, theirs] = sides(q);
      if (tree_.share(mine) < tree_.share(theirs)) take(second.pop(q), Why::fair_sharing);
    }
  }
  if (done) fill_back(in, true, victims, true);
  for (const Victim& v : victims) restore(v.workload);
  for (const Amount& a : in.usage) tree_.free(in.queue, a.column, a.amount);
  return done ? victims : std::vector<Victim>{};
}

}  // namespace muster::kueue
