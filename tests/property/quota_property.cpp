// Quota trees and exact fractions under random use.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "parts/kueue_victims.hpp"
#include "parts/ratio.hpp"

namespace muster { namespace {

using kueue::Victim;
using kueue::Victims;

/// A random forest of one root with two levels of queues, one column.
struct Forest {
  QuotaTree tree{{0}};
  std::vector<uint32_t> queues;
  std::vector<kueue::Rules> rules;

  void add(uint32_t parent, bool queue) {
    QuotaTree::Quota q{*rc::gen::inRange<int64_t>(0, 8), QuotaTree::kUnlimited, QuotaTree::kUnlimited};
    if (*rc::gen::inRange(0, 3) == 0) q.borrowing = *rc::gen::inRange<int64_t>(0, 6);
    if (*rc::gen::inRange(0, 3) == 0) q.lending = *rc::gen::inRange<int64_t>(0, 6);
    const uint32_t n = tree.add(parent, std::vector{q}, *rc::gen::inRange<int64_t>(0, 4) * 500);
    kueue::Rules r;
    r.within = *rc::gen::element(kueue::Whom::never, kueue::Whom::lower, kueue::Whom::lower_or_newer_equal);
    r.reclaim = *rc::gen::element(kueue::Whom::never, kueue::Whom::lower, kueue::Whom::any);
    r.borrow = *rc::gen::arbitrary<bool>();
    rules.push_back(r);
    if (queue) queues.push_back(n);
  }
  Forest() {
    add(kNone, false);
    const int cohorts = *rc::gen::inRange(1, 4);
    for (int c = 0; c < cohorts; c++) add(0, false);
    for (int q = *rc::gen::inRange(1, 7); q-- > 0;) add(uint32_t(*rc::gen::inRange(0, cohorts + 1)), true);
  }
  std::vector<int64_t> usages() const {
    std::vector<int64_t> u;
    for (uint32_t n = 0; n < tree.nodes(); n++) u.push_back(tree.usage(n, 0));
    return u;
  }
};

RC_GTEST_PROP(QuotaTree, UseAndFreeAreInverseInAnyOrder, ()) {
  Forest f;
  std::vector<std::pair<uint32_t, int64_t>> held;
  const auto before = f.usages();
  for (int i = *rc::gen::inRange(0, 20); i-- > 0;) {
    held.emplace_back(*rc::gen::elementOf(f.queues), *rc::gen::inRange<int64_t>(0, 5));
    f.tree.use(held.back().first, 0, held.back().second);
  }
  // What a queue could take it can take, and not one more.
  const uint32_t q = *rc::gen::elementOf(f.queues);
  const int64_t most = f.tree.available(q, 0);
  if (most > 0) {
    f.tree.use(q, 0, most);
    RC_ASSERT(f.tree.available(q, 0) == 0);
    f.tree.free(q, 0, most);
  }
  RC_ASSERT(f.tree.available(q, 0) == most);
  while (!held.empty()) {
    const size_t i = *rc::gen::inRange<size_t>(0, held.size());
    f.tree.free(held[i].first, 0, held[i].second);
    held.erase(held.begin() + ptrdiff_t(i));
  }
  RC_ASSERT(f.usages() == before);
}

RC_GTEST_PROP(Victims, HelpAreNeededAndLeaveTheTreeAsItWas, ()) {
  Forest f;
  std::vector<kueue::Workload> workloads;
  std::vector<std::vector<uint32_t>> admitted(f.tree.nodes());
  for (int i = *rc::gen::inRange(0, 12); i-- > 0;) {
    kueue::Workload w;
    w.queue = *rc::gen::elementOf(f.queues);
    w.priority = *rc::gen::inRange(0, 3);
    w.queued = w.reserved = i;
    w.usage = {{0, *rc::gen::inRange<int64_t>(1, 4)}};
    if (w.usage[0].amount > f.tree.available(w.queue, 0)) continue;
    f.tree.use(w.queue, 0, w.usage[0].amount);
    admitted[w.queue].push_back(uint32_t(workloads.size()));
    workloads.push_back(w);
  }
  kueue::Workload in;
  in.queue = *rc::gen::elementOf(f.queues);
  in.priority = *rc::gen::inRange(0, 4);
  in.queued = 100;
  in.usage = {{0, *rc::gen::inRange<int64_t>(1, 6)}};
  const auto before = f.usages();
  const std::vector<uint32_t> contested = {0};
  Victims victims(f.tree, f.rules, workloads, admitted);
  if (victims.fits(in, true)) return;
  for (const bool fair : {false, true}) {
    const auto found = fair ? victims.fair(in, contested, {}) : victims.classical(in, contested);
    RC_ASSERT(f.usages() == before);
    if (found.empty()) continue;
    const auto remove = [&](const Victim& v) { f.tree.free(workloads[v.workload].queue, 0, workloads[v.workload].usage[0].amount); };
    const auto restore = [&](const Victim& v) { f.tree.use(workloads[v.workload].queue, 0, workloads[v.workload].usage[0].amount); };
    for (const Victim& v : found) remove(v);
    RC_ASSERT(victims.fits(in, true));  // no eviction without benefit
    for (const Victim& v : found) {
      const kueue::Rules& r = f.rules[in.queue];
      const auto whom = workloads[v.workload].queue == in.queue ? r.within : r.reclaim;
      RC_ASSERT(whom != kueue::Whom::never);
      if (whom == kueue::Whom::lower) RC_ASSERT(workloads[v.workload].priority < in.priority);
    }
    for (const Victim& v : found) restore(v);
  }
}

RC_GTEST_PROP(Ratio, ComparesAsTheProductsDo, ()) {
  const auto draw = [] { return Ratio{*rc::gen::inRange<int64_t>(-50, 50), *rc::gen::inRange<int64_t>(1, 20)}; };
  const Ratio a = draw(), b = draw();
  RC_ASSERT((a < b) == (a.over * b.under < b.over * a.under));
  RC_ASSERT((a == b) == (a.over * b.under == b.over * a.under));
}

TEST(Ratio, HoldsWhatNoProductOf128BitsHolds) {
  const Int128 huge = Int128(1) << 120;
  EXPECT_TRUE((Ratio{huge, huge + 1} < Ratio{huge + 1, huge + 2}));
  EXPECT_TRUE((Ratio{huge, 3} == Ratio{huge * 2, 6}));
}

}}  // namespace muster
