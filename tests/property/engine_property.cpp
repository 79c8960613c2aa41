// The engine under random plans: invariants, refusals without a trace, the same bytes every time.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstdlib>
#include <thread>

#include "random_plans.hpp"

namespace muster { namespace {

/// Cases of each property: MUSTER_CASES, or 10,000.
uint64_t cases() {
  const char* n = std::getenv("MUSTER_CASES");
  return n ? std::strtoull(n, nullptr, 10) : 10'000;
}

/// `property(seed, size)` for cases() seeds; sizes from 1 to 100. A failure is tried again in smaller worlds, and named by seed and size.
template <class F>
void for_all(const char* name, F property) {
  uint64_t left = cases();
  const bool ok = rc::check(name, [&] {
    const uint64_t seed = *rc::gen::noShrink(rc::gen::resize(1000, rc::gen::arbitrary<uint64_t>()));
    const uint32_t size = *rc::gen::inRange<uint32_t>(1, 101);
    const uint64_t here = std::min(left, (cases() + 99) / 100);
    for (uint64_t i = 0; i < here; i++) {
      try {
        property(seed + i, size);
      } catch (const std::exception& e) { RC_FAIL("seed " + std::to_string(seed + i) + " size " + std::to_string(size) + ": " + e.what()); }
    }
  });
  EXPECT_TRUE(ok);
}

/// Runs a random world under random plans and returns all records as text.
std::string play(uint64_t seed, uint32_t size, Policy* before = nullptr, bool illegal = false, uint64_t* refused = nullptr) {
  Dice dice(seed);
  const RandomWorld r = random_world(dice, size);
  RandomPolicy policy(seed + 1);
  policy.illegal = illegal;
  Simulator s(r.topology, r.workload, policy, r.options);
  policy.run = &s;
  s.before_pass(before);
  RecordText text(r.topology, r.workload);
  s.observe(text);
  try {
    s.run();
  } catch (const NoProgress& e) { text.text += e.what(); }
  if (refused) *refused += policy.refused;
  return text.text;
}

/// Edits at random and takes everything back.
class WhatIf final : public RandomPolicy {
 public:
  using RandomPolicy::RandomPolicy;
  void schedule(const View& now, Plan& plan) override {
    const Plan::Mark m = plan.mark();
    edits(now, plan, 6, 0);
    plan.rollback(m);
  }
};

TEST(Engine, RandomPlansKeepEveryInvariant) {
  for_all("invariants", [](uint64_t seed, uint32_t size) { play(seed, size); });
}

TEST(Engine, IllegalEditsAreRefusedWithoutATrace) {
  uint64_t refused = 0;
  for_all("refusals", [&](uint64_t seed, uint32_t size) { play(seed, size, nullptr, true, &refused); });
  EXPECT_GT(refused, cases() / 2);
}

TEST(Engine, AWhatIfBeforeEachPassChangesNoByte) {
  for_all("what-if", [](uint64_t seed, uint32_t size) {
    WhatIf what_if(seed + 2);
    const std::string a = play(seed, size), b = play(seed, size, &what_if);
    if (a != b) throw std::logic_error("records differ\n" + a + "----\n" + b);
  });
}

}}  // namespace muster
