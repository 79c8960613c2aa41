// The queue of timers against a sorted list.
#include "engine/timers.hpp"

#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "random_workload.hpp"

namespace muster { namespace {

TEST(TimerQueue, OrdersByTimeThenRankThenFirstIn) {
  for (uint64_t seed = 0; seed < 50; seed++) {
    Dice dice(seed);
    TimerQueue queue;
    std::set<std::tuple<Time, Rank, uint32_t, uint32_t>> sorted;
    for (uint32_t i = 0; i < 2000; i++) {
      if (sorted.empty() || dice.below(5) < 3) {
        const Time at = dice.below(50);
        const Rank rank = Rank(dice.below(10));
        sorted.insert({at, rank, queue.push(at, rank, i), i});
      } else {
        const Timer t = queue.pop();
        ASSERT_EQ(std::make_tuple(t.at, t.rank(), t.seq(), t.subject()), *sorted.begin());
        sorted.erase(sorted.begin());
      }
      ASSERT_EQ(queue.size(), sorted.size());
    }
  }
}

TEST(TimerQueue, RenumberingDropsWhatIsStaleAndKeepsTheOrder) {
  TimerQueue queue;
  queue.set_limit(40);
  std::vector<uint32_t> armed(10);
  for (uint32_t i = 0; i < 39; i++) {  // every subject arms several; only its last counts
    ASSERT_FALSE(queue.full());
    armed[i % 10] = queue.push(5, Rank::finish, i % 10);
  }
  ASSERT_TRUE(queue.full());
  queue.renumber([&](const Timer& t) { return &armed[t.subject()]; });
  EXPECT_FALSE(queue.full());
  ASSERT_EQ(queue.size(), 10u);
  for (uint32_t i = 0; i < 10; i++) {
    const Timer t = queue.pop();
    EXPECT_EQ(t.subject(), (i + 9) % 10);  // subject 9 armed last at push 29, the others at pushes 30 to 38
    EXPECT_EQ(t.seq(), armed[t.subject()]);
  }
}

}}  // namespace muster
