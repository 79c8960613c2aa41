// The measure of fragmentation: cases worked out by hand, and the fast sum against the definition.
#include "muster/fragmentation.hpp"

#include <gtest/gtest.h>

#include "random_workload.hpp"

namespace muster { namespace {

TaskClass task(int64_t cpus, uint32_t gpus, int32_t milli, int64_t count = 1, std::vector<std::string> types = {}) {
  return {cpus * kMilli, gpus, milli, std::move(types), count};
}

TEST(Fragmentation, OfOneNodeForOneClass) {
  // 10 CPUs left; of four GPUs one is free, one has 0.7 left, one 0.3, one nothing: 2000 milli-GPUs.
  const std::vector<int32_t> parts{700, 300};
  const NodeLeft n{10 * kMilli, "T4", 1, parts};
  EXPECT_EQ(n.milli(), 2000);
  struct Case {
    const char* why;
    TaskClass m;
    Fragment f;
    int64_t lost;
  };
  const Case cases[] = {
      {"half a GPU: what is on the GPU with 0.3 left is of no use to it", task(1, 1, 500), Fragment::satisfied, 300},
      {"0.3: all GPUs hold it", task(1, 1, 300), Fragment::satisfied, 0},
      {"a whole one: 0.7 and 0.3 are of no use", task(1, 1, 1000), Fragment::satisfied, 1000},
      {"two whole ones: only one is free", task(1, 2, 1000), Fragment::lacks_gpu, 2000},
      {"CPUs for 10, not 11", task(11, 1, 500), Fragment::lacks_cpu, 2000},
      {"exactly 10 CPUs", task(10, 1, 500), Fragment::satisfied, 300},
      {"neither", task(11, 2, 1000), Fragment::lacks_both, 2000},
      {"no GPU: all of them are lost to it, though it could run", task(1, 0, 0), Fragment::cpu_task, 2000},
      {"no GPU and not the CPUs", task(11, 0, 0), Fragment::cpu_task_lacks_cpu, 2000},
      {"another type, whatever else", task(11, 2, 1000, 1, {"V100M16", "V100M32"}), Fragment::no_access, 2000},
      {"one of its types", task(1, 1, 500, 1, {"P100", "T4"}), Fragment::satisfied, 300},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(fragment_of(n, c.m), c.f) << c.why;
    EXPECT_EQ(fragmented(n, c.m), c.lost) << c.why;
  }
  // Over all of them, each as common as the next: 300 + 0 + 1000 + 2000 x 3 + 300 ... by case.
  std::vector<TaskClass> all;
  for (const Case& c : cases) all.push_back(c.m);
  Fragmentation f(all);
  EXPECT_EQ(f.tasks(), 11);
  EXPECT_EQ(f.sum(n, f.type("T4")), 300 + 0 + 1000 + 2000 + 2000 + 300 + 2000 + 2000 + 2000 + 2000 + 300);
  const auto by = f.by_case(n);
  EXPECT_EQ(by[size_t(Fragment::lacks_gpu)], 300 + 0 + 1000 + 2000 + 300 + 300);
  EXPECT_EQ(by[size_t(Fragment::satisfied)], 1700 + 2000 + 1000 + 1700 + 1700);
  EXPECT_EQ(by[size_t(Fragment::lacks_cpu)], 2000);
  EXPECT_EQ(by[size_t(Fragment::lacks_both)], 2000);
  EXPECT_EQ(by[size_t(Fragment::cpu_task)], 2000);
  EXPECT_EQ(by[size_t(Fragment::cpu_task_lacks_cpu)], 2000);
  EXPECT_EQ(by[size_t(Fragment::no_access)], 2000);
}

TEST(Fragmentation, AnIdleNodeIsFragmentedForWhatItCannotRunAlone) {
  const NodeLeft idle{64 * kMilli, "", 8, {}};
  EXPECT_EQ(fragmented(idle, task(8, 8, 1000)), 0);
  EXPECT_EQ(fragmented(idle, task(65, 1, 1000)), 8000);
  const NodeLeft full{64 * kMilli, "", 0, {}};
  EXPECT_EQ(fragmented(full, task(8, 8, 1000)), 0) << "nothing is left to be lost";
}

TEST(Fragmentation, ClassesAreTheCommonestThatMakeUpNineteenTwentieths) {
  Workload w;
  w.tenants.add(""), w.queues.add("");
  const auto add = [&](int64_t cpus, int64_t mem, int64_t milli, uint32_t tasks, int times) {
    Shape s;
    TaskGroup& g = s.groups.emplace_back();
    g.gpus = uint32_t(milli / kMilli), g.per_task[kGpu] = milli, g.per_task[kCpu] = cpus * kMilli, g.per_task[kMem] = mem;
    g.min_tasks = g.max_tasks = tasks;
    w.shapes.push_back(s);
    for (int i = 0; i < times; i++) w.jobs.emplace_back().shape = ShapeId(w.shapes.size() - 1);
  };
  add(4, 1, 500, 1, 40);   // 40 tasks, and 10 more of another memory: one class
  add(4, 2, 500, 1, 10);
  add(8, 1, 2000, 5, 6);   // 30 tasks
  add(2, 1, 0, 1, 15);     // without a GPU they count as well
  add(1, 1, 1000, 1, 3);   // 98 tasks so far; 95 of 100 are reached by the first three
  add(3, 1, 1000, 1, 2);
  const std::vector<TaskClass> want{task(4, 1, 500, 50), task(8, 2, 1000, 30), task(2, 0, 0, 15)};
  EXPECT_EQ(task_classes(w), want);
  const auto all = task_classes(w, 100);
  ASSERT_EQ(all.size(), 5u);
  EXPECT_EQ(all[3], task(1, 1, 1000, 3));
  EXPECT_TRUE(task_classes(Workload{}).empty());
}

TEST(Fragmentation, TheFastSumIsTheDefinition) {
  const std::string types[] = {"A", "B", ""};
  for (uint64_t seed = 0; seed < 2000; seed++) {
    Dice dice(seed);
    std::vector<TaskClass> classes;
    for (uint32_t i = dice.from_to(0, 12); i > 0; i--) {
      const bool gpu = !dice.one_in(4), share = dice.one_in(2);
      TaskClass m = task(dice.below(12), gpu ? share ? 1 : dice.from_to(1, 9) : 0, gpu ? share ? int32_t(dice.from_to(1, 9) * 100) : 1000 : 0, dice.from_to(1, 50));
      if (dice.one_in(4)) m.gpu_types = {types[dice.below(2)]};
      classes.push_back(m);
    }
    Fragmentation fast(classes);
    for (int k = 0; k < 10; k++) {
      std::vector<int32_t> parts;
      for (uint32_t i = dice.below(5); i > 0; i--) parts.push_back(int32_t(dice.one_in(3) ? dice.from_to(1, 999) : dice.from_to(1, 9) * 100));
      const NodeLeft n{int64_t(dice.below(12)) * kMilli, types[dice.below(3)], dice.below(9), parts};
      int64_t sum = 0, tasks = 0;
      for (const TaskClass& m : classes) sum += m.count * fragmented(n, m), tasks += m.count;
      ASSERT_EQ(fast.sum(n, fast.type(n.gpu_type)), sum) << seed;
      int64_t by_case = 0, useful = fast.by_case(n)[size_t(Fragment::satisfied)];
      for (const int64_t x : fast.by_case(n)) by_case += x;
      ASSERT_EQ(by_case, tasks * n.milli()) << seed;
      ASSERT_EQ(by_case - useful, sum) << seed;
    }
  }
}

}}  // namespace muster
