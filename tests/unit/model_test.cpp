// Models: arithmetic by hand, tables as they are published, who is asked anew.
#include <gtest/gtest.h>

#include "model/all_reduce.hpp"
#include "model/numa.hpp"
#include "model/throughput_table.hpp"
#include "workload/ideal.hpp"

namespace muster {
namespace {

TEST(AllReduce, AlphaAndBeta) {
  EXPECT_DOUBLE_EQ(all_reduce_ns(1e9, 1, 1000, 50), 0);
  EXPECT_DOUBLE_EQ(all_reduce_ns(1e9, 2, 1000, 0), 1e9);       // 2 (2-1) / 2 x 1 GB at 1 GB/s
  EXPECT_DOUBLE_EQ(all_reduce_ns(1e9, 4, 2000, 100), 75e7 + 600);  // 2 x 3 / 4 x 0.5 s, 6 steps
}

TEST(AllReduce, Overlap) {
  EXPECT_DOUBLE_EQ(overlapped(3, 4, 1), 7);
  EXPECT_DOUBLE_EQ(overlapped(3, 4, 2), 5);
  EXPECT_DOUBLE_EQ(overlapped(5, 0, 3), 5);
  EXPECT_NEAR(overlapped(2, 3, 1.8), std::pow(std::pow(2, 1.8) + std::pow(3, 1.8), 1 / 1.8), 1e-11);
  for (const double x : {0.01, 0.3, 0.999, 1.0, 2.0})
    for (const double y : {0.0, 0.1, 0.5, 1.0, 1.7, 3.0, 9.9}) EXPECT_NEAR(power(x, y) / std::pow(x, y), 1, 1e-11) << x << "^" << y;
}

TEST(Speeds, Ratios) {
  EXPECT_EQ(Speed::slowed(1'500'000), (Speed{1'000'000, 1'500'000}));
  EXPECT_EQ(Speed::slowed(int64_t{1} << 40).time, ~uint32_t{0});
}

TEST(ThroughputTables, Gavel) {
  const auto t = ThroughputTable::read(R"j({"v100": {"('ResNet-18 (batch size 16)', 1)": {"null": 32.5, "('LM (batch size 5)', 1)": [1, 2]},
                                                     "('ResNet-18 (batch size 16)', 4)": {"null": 100}, "('LM (batch size 5)', 1)": {"null": 0.0}},
                                            "v100_unconsolidated": {"('ResNet-18 (batch size 16)', 4)": {"null": 40}}, "k80": {}})j",
                                       "t.json");
  EXPECT_EQ(t.types(), (std::vector<std::string>{"k80", "v100"}));
  EXPECT_TRUE(t.knows("ResNet-18 (batch size 16)"));
  EXPECT_FALSE(t.knows("LM (batch size 5)"));  // 0: it did not fit the GPU
  EXPECT_EQ(t.rate("ResNet-18 (batch size 16)", "v100", {1}), 32.5);
  EXPECT_EQ(t.rate("ResNet-18 (batch size 16)", "v100", {4}), 100);
  EXPECT_EQ(t.rate("ResNet-18 (batch size 16)", "v100", {2, 2}), 40);
  EXPECT_EQ(t.rate("ResNet-18 (batch size 16)", "v100", {1, 3}), 40);
  EXPECT_EQ(t.rate("ResNet-18 (batch size 16)", "k80", {1}), std::nullopt);
  EXPECT_EQ(t.rate("ResNet-18 (batch size 16)", "v100", {8}), std::nullopt);
}

TEST(ThroughputTables, PlacementsAgainstTheClosestOfTheSameBatch) {
  const auto t = ThroughputTable::read("placement,local_bsz,step_time,sync_time\n4,16,0.2,0\n22,16,0.4,0\n4,32,0.3,0\n22,32,0.4,0\n1111,16,0.8,0\n", "p.csv");
  EXPECT_TRUE(t.knows("anything"));
  EXPECT_EQ(t.rate("x", "", {4}), 1);
  EXPECT_DOUBLE_EQ(*t.rate("x", "", {2, 2}), (0.5 + 0.75) / 2);
  EXPECT_DOUBLE_EQ(*t.rate("x", "", {1, 1, 1, 1}), 0.25);
  EXPECT_EQ(t.rate("x", "", {3, 1}), std::nullopt);
}

TEST(ThroughputTables, SayWhatIsWrong) {
  const auto why = [](std::string_view text) {
    try {
      ThroughputTable::read(text, "t");
    } catch (const InputError& e) { return std::string(e.what()); }
    return std::string("nothing");
  };
  EXPECT_EQ(why(""), "t: want a JSON object or a CSV with the columns placement and step_time; it is empty");
  EXPECT_EQ(why("{}"), "t: no throughput in it");
  EXPECT_EQ(why("{\"v100\": 3}"), "t: /v100: want an object with a key for each sort of job");
  EXPECT_EQ(why("{\"v100\": {\"LM\": {\"null\": 1}}}"), "t: /v100/LM: want a key such as ('ResNet-18 (batch size 16)', 2), found \"LM\"");
  EXPECT_EQ(why("placement,step\n"), "t:1: no column is called step_time");
  EXPECT_EQ(why("placement,step_time\n4a,1\n"), "t:2: column placement: want the GPUs on each node as digits, as in 44, found \"4a\"");
  EXPECT_EQ(why("placement,step_time\n4,-1\n"), "t:2: column step_time: want a number from 0, found \"-1\"");
  EXPECT_EQ(why("placement,step_time\n4,0\n"), "t:2: an empty placement, or a step that takes no time");
  EXPECT_EQ(why("placement,step_time\n4\n"), "t:2: the row has fewer fields than the header");
}

TEST(Numa, ATaskCrossesWhenItsGpusAreInTwoDomains) {
  const Topology t = Topology::parse_line("node:2 socket:2 gpu:4");
  Config given;
  given.set("numa_crossing", Config::text("1.4", "--model numa_crossing"));
  const NumaCrossing numa(t, given);
  Shape s;
  s.groups.resize(1);
  const auto factor = [&](uint32_t gpus_per_task, std::string_view at) {
    s.groups[0].gpus = gpus_per_task;
    return numa.factor(s, parse_pieces(t, at));
  };
  EXPECT_EQ(factor(4, "n0/gpu0-3"), kFullSpeed);
  EXPECT_EQ(factor(4, "n0/gpu2-5"), 1'400'000);
  EXPECT_EQ(factor(2, "n0*2/gpu2-5"), kFullSpeed);        // a task in each socket
  EXPECT_EQ(factor(2, "n0*2/gpu3-6"), 1'400'000);         // 1 and 3: one of the tasks has a GPU of each
  EXPECT_EQ(factor(8, "n0/gpu0-7"), 1'400'000);
  EXPECT_EQ(factor(1, "n0*2/gpu0+4,n1/gpu0"), kFullSpeed);
  const Topology flat = Topology::parse_line("node:2 gpu:4");
  EXPECT_THROW(NumaCrossing(flat, given), InputError);
}

TEST(BestLevels, AsCloseAsAnEmptyClusterAllows) {
  const Topology t = Topology::parse_line("rack:2 node:2 switch:2 gpu:2");
  const BestLevel best(t);
  const auto level = [&](uint32_t gpus, Nodes nodes = Nodes::one, uint32_t tasks = 1) {
    Shape s;
    s.nodes = nodes, s.total_gpus = gpus;
    s.groups.resize(1);
    s.groups[0].gpus = gpus / tasks, s.groups[0].min_tasks = s.groups[0].max_tasks = tasks, s.groups[0].per_task[kGpu] = int64_t{gpus / tasks} * kMilli;
    const size_t l = best.of(s);
    const std::vector<Piece> at = ideal_placement(best, t, s, gpus);
    return std::string(l == ~size_t{0} ? "cluster" : l == t.levels().size() ? "gpu" : t.levels()[l]) + " " + to_text(t, at);
  };
  EXPECT_EQ(level(1), "gpu n0/gpu0");
  EXPECT_EQ(level(2), "switch n0/gpu0-1");
  EXPECT_EQ(level(3), "node n0/gpu0-2");
  EXPECT_EQ(level(4, Nodes::any, 4), "node n0*4/gpu0-3");
  EXPECT_EQ(level(4, Nodes::each, 2), "rack n0*2/gpu0-3");  // the wish for two nodes has its price
  EXPECT_EQ(level(6, Nodes::any, 2), "rack n0/gpu0-2,n1/gpu0-2");
  EXPECT_EQ(level(16, Nodes::any, 4), "cluster n0/gpu0-3,n1/gpu0-3,n2/gpu0-3,n3/gpu0-3");
}

}  // namespace
}  // namespace muster
