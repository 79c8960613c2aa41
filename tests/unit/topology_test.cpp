#include "muster/topology.hpp"

#include <gmock/gmock.h>

#include "topology/draw.hpp"
#include "topology/json.hpp"
#include "topology/resolve.hpp"

namespace muster { namespace {

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const InputError& e) { return e.what(); }
  return "no error";
}
std::string no_file(const std::string& path) { throw InputError(path + ": no such file"); }

TEST(TopologyLine, NumbersDepthFirst) {
  const Topology t = Topology::parse_line("rack:2 node:3 socket:2 gpu:4");
  EXPECT_EQ(t.gpus(), 48u);
  EXPECT_EQ(t.nodes(), 6u);
  EXPECT_EQ(t.most_gpus(), 8u);
  EXPECT_EQ(t.levels(), (std::vector<std::string>{"rack", "node", "socket"}));
  EXPECT_EQ(t.node_level(), 1u);
  const Domain& rack = t.domains(0)[1];  // nodes 3, 4, 5
  EXPECT_EQ(rack.name, "rack1");
  EXPECT_EQ(rack.node_begin, 3u);
  EXPECT_EQ(rack.node_end, 6u);
  EXPECT_EQ(rack.gpu_begin, 24u);
  EXPECT_EQ(rack.gpu_end, 48u);
  const Domain& socket = t.domains(2)[9];  // the second of node 4
  EXPECT_EQ(socket.name, "n4/socket1");
  EXPECT_EQ(socket.parent, 4u);
  EXPECT_EQ(socket.gpu_begin, 36u);
  EXPECT_EQ(socket.gpu_end, 40u);
  EXPECT_EQ(socket.node_begin, 4u);
  EXPECT_EQ(socket.node_end, 5u);
  EXPECT_EQ(t.domain_of_gpu(0, 37), 1u);
  EXPECT_EQ(t.domain_of_gpu(1, 37), 4u);
  EXPECT_EQ(t.domain_of_gpu(2, 37), 9u);
  EXPECT_EQ(t.domain_of_node(0, 2), 0u);
  EXPECT_EQ(t.gpu_name(37), "n4/gpu5");
  EXPECT_EQ(t.first_gpu(4), 32u);
  EXPECT_EQ(t.node_of(37), 4u);
  EXPECT_EQ(t.find_node("n5"), 5u);
  for (const char* no : {"n6", "n05", "n", "", "n-1", "rack0"}) EXPECT_EQ(t.find_node(no), kNone) << no;
  EXPECT_FALSE(t.limits(kCpu));
}

TEST(TopologyLine, AttributesRoundDown) {
  const Topology t = Topology::parse_line("node:2[cpus=1.9999,mem_gib=0.5,gpu_type=A100,gpu_mem_gib=80] gpu:1");
  EXPECT_EQ(t.kind(1).capacity[kCpu], 1999);
  EXPECT_EQ(t.kind(1).capacity[kMem], 512);
  EXPECT_EQ(t.kind(1).capacity[kGpu], 1000);
  EXPECT_EQ(t.kind(1).gpu_mem_mib, 81920);
  EXPECT_EQ(t.kind(1).gpu_type, "A100");
  EXPECT_TRUE(t.limits(kCpu) && t.limits(kMem));
}

TEST(TopologyLine, NodesMayBeLeftOutAndSoMayGpus) {
  EXPECT_EQ(Topology::parse_line("gpu:8").nodes(), 1u);
  EXPECT_EQ(Topology::parse_line("rack:4 gpu:8").nodes(), 4u);
  const Topology cpu = Topology::parse_line("node:3[cpus=4]");
  EXPECT_EQ(cpu.nodes(), 3u);
  EXPECT_EQ(cpu.gpus(), 0u);
}

TEST(TopologyLine, Errors) {
  const std::pair<const char*, const char*> kTable[] = {
      {"node:4000000000 gpu:8", "4,000,000,000 times node: more than 2,147,483,647"},
      {"node:300000000 gpu:8", "more than 2,147,483,647 GPUs"},
      {"node:9000000 gpu:8", "more than 50,000,000 nodes, other domains and GPUs together"},
      {"a:65536 b:65536 c:65536 d:65536 node:65536 gpu:1", "65,536 times b: more than 2,147,483,647 of them"},
      {"node:1 gpu:16385", "more than 16,384 GPUs a node"},
      {"node:1 socket:4294967296 gpu:4294967296", "more than 16,384 GPUs a node"},
      {"node:0 gpu:8", "node: want a whole number from 1, found \"0\""},
      {"node:-1 gpu:8", "node: want a whole number from 1, found \"-1\""},
      {"node:two gpu:8", "found \"two\""},
      {"gpu:2 node:1", "\"gpu\" comes last"},
      {"node:1 node:1 gpu:1", "level \"node\" is named twice"},
      {"node:1 socket:2", "levels below \"node\" end with \"gpu\""},
      {"rack:2", "neither \"node\" nor \"gpu\""},
      {"rack:2[cpus=1] node:1", "belong to the node"},
      {"node:1[cpu=1] gpu:1", "no attribute of a node is called \"cpu\"; did you mean cpus?"},
      {"node:1[cpus=1,cpus=2] gpu:1", "\"cpus\" is given twice"},
      {"node:1[cpus=-1] gpu:1", "cpus: want a number from 0"},
      {"node:1[cpus=1 gpu:1", "a [ has no ]"},
      {"", "neither \"node\" nor \"gpu\""},
      {"node", "want level:count pairs"},
  };
  for (const auto& [line, message] : kTable)
    EXPECT_THAT(error_of([l = line] { Topology::parse_line(l); }), testing::HasSubstr(message)) << line;
}

TEST(TopologyLine, LargestNode) {
  const Topology t = Topology::parse_line("node:2 gpu:16384");
  EXPECT_EQ(t.gpus_of(1), 16384u);
  EXPECT_EQ(t.gpu_name(32767), "n1/gpu16383");
}

TEST(TopologyJson, Tree) {
  const Topology t = topology_from_json(R"({
    "name": "lab", "levels": ["rack", "node", "switch"], "resources": ["licence"],
    "kinds": {"big": {"cpus": 64, "mem_mib": 1000, "gpu_type": "A100", "resources": {"licence": 2}}, "cpu": {"cpus": 8}},
    "tree": [ // a comment
      {"name": "left", "parts": [{"count": 2, "name": "a", "kind": "big", "parts": [{"gpus": 3}, {"gpus": 1}]}]},
      {"name": "right", "parts": [{"name": "login", "kind": "cpu"}, {"gpus": 2}]}]})",
                                        "t.json");
  EXPECT_EQ(t.name(), "lab");
  EXPECT_EQ(t.nodes(), 4u);
  EXPECT_EQ(t.gpus(), 10u);
  EXPECT_EQ(t.node_name(0), "a0");
  EXPECT_EQ(t.node_name(1), "a1");
  EXPECT_EQ(t.find_node("login"), 2u);
  EXPECT_EQ(t.find_node("n3"), 3u);
  EXPECT_EQ(t.domains(0)[1].name, "right");
  EXPECT_EQ(t.domains(2)[3].name, "a1/switch1");
  EXPECT_EQ(t.domains(2).back().name, "n3/switch0");  // no parts given: one switch
  EXPECT_EQ(t.domains(2).size(), 5u);
  EXPECT_EQ(t.domain_of_gpu(2, 7), 3u);
  EXPECT_EQ(t.kind(0).gpus, 4u);
  EXPECT_EQ(t.kind(0).capacity[3], 2);
  EXPECT_EQ(t.kind(2).capacity[kCpu], 8000);
  EXPECT_EQ(t.resource_names(), (std::vector<std::string>{"gpu", "cpu", "mem", "licence"}));
  EXPECT_TRUE(t.limits(3));
}

TEST(TopologyJson, FlatWithRacks) {
  const Topology t = topology_from_json(
      R"({"nodes": [{"name": "x", "gpus": 2, "rack": "r1"}, {"name": "y", "gpus": 1, "rack": "r2"}, {"name": "z", "gpus": 2, "rack": "r1"}]})",
      "some/where.json");
  EXPECT_EQ(t.name(), "where");
  EXPECT_EQ(t.node_name(1), "z");  // racks in order of appearance, nodes together
  EXPECT_EQ(t.domains(0)[0].gpu_end, 4u);
  EXPECT_EQ(t.kinds().size(), 2u);
}

TEST(TopologyJson, Errors) {
  const std::pair<const char*, const char*> kTable[] = {
      {R"({"nodes": [{"gpus": 1}, {"gpus": "four"}]})", "t.json: /nodes/1/gpus: want a whole number from 0 to 1,000,000, found \"four\""},
      {R"({"nodes": [{"gpus": 1.5}]})", "t.json: /nodes/0/gpus: want a whole number from 0 to 1,000,000, found 1.5"},
      {R"({"nodes": [{"gpus": "8"}]})", "t.json: /nodes/0/gpus: want a whole number from 0 to 1,000,000, found \"8\""},
      {R"({"nodes": [{"gpus": 16385}]})", "t.json: /nodes/0/gpus: a node has at most 16,384 GPUs, found 16,385"},
      {R"({"nodes": [{"gpu": 1}]})", "t.json: /nodes/0/gpu: unknown key \"gpu\"; did you mean gpus?"},
      {R"({"nodes": [{"cpus": -1}]})", "t.json: /nodes/0/cpus: want a number from 0 to 1,000,000, found -1"},
      {R"({"nodes": [{"name": "a"}, {"name": "a"}]})", "t.json: two domains of level node are called \"a\""},
      {R"({"nodes": [{"name": "a b"}]})", "t.json: the name \"a b\" has a character that placements use"},
      {R"({"nodes": []})", "t.json: /nodes: want at least one node"},
      {R"({"nodes": {}})", "t.json: /nodes: want a list"},
      {R"({"nodes": [3]})", "t.json: /nodes/0: want an object"},
      {R"([])", "t.json: want an object"},
      {R"({})", "t.json: want either \"tree\" (with \"levels\") or \"nodes\""},
      {R"({"nodes": [{"mem_gib": 1, "mem_mib": 1}]})", "t.json: /nodes/0/mem_mib: mem_gib and mem_mib are both given"},
      {R"({"nodes": [{"gpus": 2, "gpus": 4}]})", "t.json: /nodes/0: key \"gpus\" is given twice"},
      {R"({"nodes": [{"gpus": 8, "count": 2147483647}]})", "t.json: more than 2,147,483,647 GPUs"},
      {R"({"levels": ["node"], "tree": [{"kind": "x"}]})", "t.json: /tree/0/kind: no kind is called \"x\""},
      {R"({"levels": ["rack"], "tree": []})", "t.json: /levels: want a level called \"node\""},
      {R"({"levels": ["node"], "tree": [{"parts": [{}]}]})", "t.json: /tree/0/parts: \"levels\" has nothing below node"},
      {R"({"levels": ["rack", "node"], "tree": [{"gpus": 4}]})", "t.json: /tree/0/gpus: GPUs belong to a node; this is a rack"},
      {R"({"levels": ["node"], "kinds": {"k": {"gpus": 4}}, "tree": [{"kind": "k", "gpus": 2}]})", "t.json: /tree/0: this node has 2 GPUs"},
      {"{\"nodes\": [\n  {]}", "t.json: line 2, column 4: not JSON"},
  };
  for (const auto& [text, message] : kTable)
    EXPECT_THAT(error_of([s = text] { topology_from_json(s, "t.json"); }), testing::StartsWith(message)) << text;
}

TEST(TopologyBuild, GpusMustBeTheKinds) {
  TopologySpec spec;
  spec.levels = {"node"};
  spec.kinds.resize(1);
  spec.kinds[0].name = "k";
  spec.kinds[0].gpus = 8;
  spec.top.resize(1);
  spec.top[0].name = "a";
  spec.top[0].gpus = 9;
  EXPECT_EQ(error_of([&] { Topology::build(spec); }), "topology: node a has 9 GPUs, its kind \"k\" says 8");
}

TEST(TopologyResolve, FileLineOrShippedName) {
  EXPECT_EQ(resolve_topology("node:2 gpu:3", no_file).gpus(), 6u);
  EXPECT_EQ(resolve_topology("x.json", [](const std::string&) { return std::string(R"({"nodes": [{"gpus": 7}]})"); }).gpus(), 7u);
  EXPECT_EQ(error_of([] { resolve_topology("a/b:2", no_file); }), "a/b:2: no such file");
  EXPECT_EQ(error_of([] { resolve_topology("dgx-a100-61", no_file); }), "no topology is called dgx-a100-61; did you mean dgx-a100-16?");
  EXPECT_EQ(resolve_topology("textbook-8", no_file).gpus(), 8u);
  EXPECT_EQ(resolve_topology("dgx-a100-16", no_file).gpus(), 128u);
  EXPECT_EQ(resolve_topology("100k-gpu", no_file).nodes(), 12'500u);
  const Topology uneven = resolve_topology("uneven-5-3-3", no_file);
  EXPECT_EQ(uneven.gpus_of(0), 5u);
  EXPECT_EQ(uneven.gpus_of(2), 3u);
  for (std::string_view name : shipped_topologies()) EXPECT_EQ(resolve_topology(name, no_file).name(), name);
}

TEST(TopologyDraw, Trees) {
  EXPECT_EQ(draw(resolve_topology("textbook-8", no_file)), R"(textbook-8   1 node, 8 GPUs: node 1 > socket 2 > switch 2 > gpu 2
`- n0                      8 GPUs
   |- socket0
   |  |- switch0           gpu0 gpu1
   |  `- switch1           gpu2 gpu3
   `- socket1
      |- switch2           gpu4 gpu5
      `- switch3           gpu6 gpu7
)");
  EXPECT_EQ(draw(resolve_topology("uneven-5-3-3", no_file)), R"(uneven-5-3-3   3 nodes, 11 GPUs: node 3 > gpu 3-5
|- n0                      5 x A100
`- n1 ... n2               2 x   3 x A100
)");
  const std::string large = draw(resolve_topology("100k-gpu", no_file));
  EXPECT_LT(std::count(large.begin(), large.end(), '\n'), 24);
}

}}  // namespace muster
