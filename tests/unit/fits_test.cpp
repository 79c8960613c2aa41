// Requests that no empty cluster could hold.
#include "muster/fits.hpp"

#include <gtest/gtest.h>

#include "topology/json.hpp"
#include "workload/trace.hpp"

namespace muster {
namespace {

Reason why(const Topology& t, const std::string& header, const std::string& row) {
  auto trace = read_trace("submit_s,run_s," + header + "\n0,1," + row + "\n", "j.csv");
  EXPECT_EQ(trace.workload.jobs.size(), 1U) << row;
  fit_shapes(trace.workload, t);
  return never_fits(trace.workload.shapes.at(0), t);
}

TEST(NeverFits, RowsOfGpus) {
  const auto t = Topology::parse_line("node:2 gpu:4");
  EXPECT_EQ(why(t, "gpus", "0"), Reason::none);
  EXPECT_EQ(why(t, "gpus", "4"), Reason::none);
  EXPECT_EQ(why(t, "gpus", "5"), Reason::none);  // a whole node and one of the other
  EXPECT_EQ(why(t, "gpus", "8"), Reason::none);
  EXPECT_EQ(why(t, "gpus", "9"), Reason::cluster_size);
  EXPECT_EQ(why(t, "gpus", "4294967295"), Reason::cluster_size);
  EXPECT_EQ(why(t, "gpus,locality", "4,node"), Reason::none);
  EXPECT_EQ(why(t, "gpus,locality", "5,node"), Reason::node_size);
}

TEST(NeverFits, RowsOfGpusWithOtherRequests) {
  const auto t = Topology::parse_line("node:2[cpus=8] gpu:4");
  EXPECT_EQ(why(t, "gpus,cpus", "8,8"), Reason::none);  // of each node
  EXPECT_EQ(why(t, "gpus,cpus", "8,9"), Reason::node_size);
  const auto uneven = topology_from_json(R"({"nodes": [{"gpus": 4, "cpus": 16}, {"gpus": 4, "cpus": 8}, {"gpus": 2, "cpus": 16}]})", "t.json");
  EXPECT_EQ(why(uneven, "gpus,cpus", "6,16"), Reason::none);
  EXPECT_EQ(why(uneven, "gpus,cpus", "7,16"), Reason::node_size);
}

TEST(NeverFits, RowsOverAStatedNumberOfNodes) {
  const auto t = topology_from_json(R"({"nodes": [{"gpus": 4}, {"gpus": 0}]})", "t.json");
  EXPECT_EQ(why(t, "gpus,nodes", "1,2"), Reason::none);          // one GPU and none
  EXPECT_EQ(why(t, "gpus,nodes", "2,2"), Reason::cluster_size);
  EXPECT_EQ(why(t, "gpus,nodes", "3,2"), Reason::cluster_size);  // two and one: both want the node with GPUs
  const auto three = topology_from_json(R"({"nodes": [{"gpus": 4}, {"gpus": 1}, {"gpus": 1}]})", "t.json");
  EXPECT_EQ(why(three, "gpus,nodes", "3,2"), Reason::none);
  EXPECT_EQ(why(three, "gpus,nodes", "4,3"), Reason::none);
  EXPECT_EQ(why(three, "gpus,nodes", "5,3"), Reason::cluster_size);
}

TEST(NeverFits, Tasks) {
  const auto t = Topology::parse_line("node:2 gpu:4");
  EXPECT_EQ(why(t, "tasks,gpus_per_task", "1,5"), Reason::node_size);
  EXPECT_EQ(why(t, "tasks,gpus_per_task", "1,9"), Reason::cluster_size);
  EXPECT_EQ(why(t, "tasks,gpus_per_task", "8,1"), Reason::none);
  EXPECT_EQ(why(t, "tasks,gpus_per_task", "9,1"), Reason::cluster_size);
  EXPECT_EQ(why(t, "tasks,gpus_per_task", "2,3"), Reason::none);
  EXPECT_EQ(why(t, "tasks,gpus_per_task", "2,4"), Reason::none);
  EXPECT_EQ(why(t, "tasks,gpus_per_task", "3,2"), Reason::none);
  EXPECT_EQ(why(Topology::parse_line("node:4 gpu:4"), "tasks,gpus_per_task", "5,3"), Reason::cluster_size);
  EXPECT_EQ(why(t, "tasks,min_tasks,gpus_per_task", "9,2,1"), Reason::none);  // the least counts
  EXPECT_EQ(why(t, "tasks,gpus_per_task,locality", "4,1,node"), Reason::none);
  EXPECT_EQ(why(t, "tasks,gpus_per_task,locality", "5,1,node"), Reason::node_size);
  EXPECT_EQ(why(t, "tasks,gpus_per_task,spread", "2,1,one-per-node"), Reason::none);
  EXPECT_EQ(why(t, "tasks,gpus_per_task,spread", "3,1,one-per-node"), Reason::cluster_size);
}

TEST(NeverFits, SharesOfAGpu) {
  const auto t = Topology::parse_line("node:2 gpu:2");
  EXPECT_EQ(why(t, "gpus", "0.999"), Reason::none);
  EXPECT_EQ(why(t, "tasks,gpus_per_task", "8,0.5"), Reason::none);
  EXPECT_EQ(why(t, "tasks,gpus_per_task", "9,0.5"), Reason::cluster_size);
  EXPECT_EQ(why(t, "tasks,gpus_per_task", "4,0.6"), Reason::none);
  EXPECT_EQ(why(t, "tasks,gpus_per_task", "5,0.6"), Reason::cluster_size);  // three GPUs' worth, and no two of them on one GPU
  EXPECT_EQ(why(t, "tasks,gpus_per_task,locality", "6,0.3,node"), Reason::none);
  EXPECT_EQ(why(t, "tasks,gpus_per_task,locality", "7,0.3,node"), Reason::node_size);
  EXPECT_EQ(why(t, "tasks,gpus_per_task,spread", "3,0.1,one-per-node"), Reason::cluster_size);
  EXPECT_EQ(why(Topology::parse_line("node:2[gpu_type=A100] gpu:2"), "gpus,gpu_type", "0.5,H100"), Reason::type);
  EXPECT_EQ(why(Topology::parse_line("node:2[cpus=8] gpu:0"), "gpus", "0.5"), Reason::cluster_size);
}

TEST(NeverFits, OtherResourcesAndTypes) {
  const auto t = Topology::parse_line("node:2[cpus=8,mem_gib=16,gpu_type=A100] gpu:4");
  EXPECT_EQ(why(t, "tasks,gpus_per_task,cpus", "2,1,8"), Reason::none);
  EXPECT_EQ(why(t, "tasks,gpus_per_task,cpus", "1,1,8.5"), Reason::node_size);
  EXPECT_EQ(why(t, "tasks,gpus_per_task,cpus", "3,1,5"), Reason::cluster_size);
  EXPECT_EQ(why(t, "tasks,gpus_per_task,mem_gib", "1,1,17"), Reason::node_size);
  EXPECT_EQ(why(t, "gpus,gpu_type", "1,A100"), Reason::none);
  EXPECT_EQ(why(t, "gpus,gpu_type", "1,H100"), Reason::type);
  EXPECT_EQ(why(t, "gpus,gpu_type", "8,H100"), Reason::type);
  // Where CPUs are not modelled, requests for them always fit.
  EXPECT_EQ(why(Topology::parse_line("node:2 gpu:4"), "tasks,gpus_per_task,cpus", "1,1,1000"), Reason::none);
}

TEST(NeverFits, WishesForAKindOfNode) {
  const auto t = Topology::parse_line("node:2[gpu_type=A100,driver=535.104.05,cuda=12.2,label.zone=a] gpu:4");
  EXPECT_EQ(why(t, "gpus,gpu_type", "1,H100|A100"), Reason::none);
  EXPECT_EQ(why(t, "gpus,gpu_type", "1,H100|H200"), Reason::type);
  EXPECT_EQ(why(t, "gpus,driver", "1,535.104.5"), Reason::none);
  EXPECT_EQ(why(t, "gpus,driver", "1,525.60.13"), Reason::none);
  EXPECT_EQ(why(t, "gpus,driver", "1,535.105"), Reason::driver);
  EXPECT_EQ(why(t, "gpus,cuda", "1,12"), Reason::none);
  EXPECT_EQ(why(t, "gpus,cuda", "1,12.10"), Reason::driver);
  EXPECT_EQ(why(t, "gpus,cuda", "0,12.10"), Reason::none);  // nothing to a job without a GPU
  EXPECT_EQ(why(Topology::parse_line("gpu:4"), "gpus,cuda", "1,99"), Reason::none);  // not stated
  EXPECT_EQ(why(t, "gpus,labels", "1,zone=a;disk!=hdd"), Reason::none);
  EXPECT_EQ(why(t, "gpus,labels", "0,zone=b"), Reason::label);
  EXPECT_EQ(why(t, "gpus,labels", "1,zone!=a"), Reason::label);
  EXPECT_EQ(why(t, "gpus,labels", "1,zone"), Reason::none);
  EXPECT_EQ(why(t, "gpus,labels", "1,fast"), Reason::label);
  // The hardest that holds.
  EXPECT_EQ(why(t, "gpus,gpu_type,labels", "5,H100,fast"), Reason::type);
  EXPECT_EQ(why(t, "gpus,gpu_type,labels", "9,H100,fast"), Reason::cluster_size);
}

TEST(NeverFits, NumaDomains) {
  const auto t = Topology::parse_line("node:2 socket:2 gpu:3");
  EXPECT_EQ(why(t, "gpus,numa", "3,single-numa-node"), Reason::none);
  EXPECT_EQ(why(t, "gpus,numa", "4,single-numa-node"), Reason::numa);
  EXPECT_EQ(why(t, "gpus,numa", "4,restricted"), Reason::none);  // two domains are as few as an empty node needs
  EXPECT_EQ(why(t, "gpus,numa", "4,best-effort"), Reason::none);
  EXPECT_EQ(why(t, "gpus,numa", "7,best-effort"), Reason::none);
  EXPECT_EQ(why(t, "gpus,numa", "7,restricted"), Reason::none);  // whole nodes
  EXPECT_EQ(why(t, "gpus,numa", "7,single-numa-node"), Reason::numa);
  // 12 GPUs hold six tasks of 2, four domains of 3 only four.
  EXPECT_EQ(why(t, "tasks,gpus_per_task,numa", "4,2,restricted"), Reason::none);
  EXPECT_EQ(why(t, "tasks,gpus_per_task,numa", "5,2,restricted"), Reason::numa);
  EXPECT_EQ(why(t, "tasks,gpus_per_task,numa,locality", "2,2,restricted,node"), Reason::none);
  EXPECT_EQ(why(t, "tasks,gpus_per_task,numa,locality", "3,2,restricted,node"), Reason::numa);
  EXPECT_EQ(why(t, "tasks,gpus_per_task,numa,locality", "3,2,none,node"), Reason::none);
  EXPECT_EQ(why(t, "tasks,gpus_per_task,numa", "12,1,single-numa-node"), Reason::none);
  const auto flat = Topology::parse_line("node:2 gpu:4");  // a node is one domain
  EXPECT_EQ(why(flat, "gpus,numa", "4,single-numa-node"), Reason::none);
}

TEST(NeverFits, Levels) {
  const auto t = Topology::parse_line("rack:2 node:2[cpus=8] socket:2 gpu:2");
  EXPECT_EQ(why(t, "gpus,locality", "2,socket"), Reason::none);
  EXPECT_EQ(why(t, "gpus,locality", "3,socket"), Reason::level);
  EXPECT_EQ(why(t, "gpus,locality", "8,rack"), Reason::none);
  EXPECT_EQ(why(t, "gpus,locality", "9,rack"), Reason::level);
  EXPECT_EQ(why(t, "gpus,locality", "17,rack"), Reason::cluster_size);
  EXPECT_EQ(why(t, "gpus,locality", "1,pod"), Reason::level);  // no such level
  EXPECT_EQ(why(t, "tasks,gpus_per_task,locality", "2,1,socket"), Reason::none);
  EXPECT_EQ(why(t, "tasks,gpus_per_task,cpus,locality", "2,1,5,socket"), Reason::level);  // one node, 8 CPUs
  EXPECT_EQ(why(t, "tasks,gpus_per_task,spread,locality", "2,4,one-per-node,rack"), Reason::none);
  EXPECT_EQ(why(t, "tasks,gpus_per_task,spread,locality", "3,1,one-per-node,rack"), Reason::level);
  EXPECT_EQ(why(t, "tasks,gpus_per_task,spread,locality", "2,1,one-per-node,socket"), Reason::level);
}

}  // namespace
}  // namespace muster
