// What muster topo draws besides text, for topologies small enough to write down what must be there.
#include "topology/draw.hpp"

#include <gmock/gmock.h>

#include "muster/links.hpp"
#include "topology/json.hpp"
#include "topology/resolve.hpp"

namespace muster { namespace {

using testing::HasSubstr;

Topology shipped(std::string_view name) {
  return resolve_topology(name, [](const std::string&) { return std::string(); });
}

TEST(Draw, NvLinkAndCardsAsFarAsTheyAreStated) {
  const Topology t = topology_from_json(
      R"({"name": "x", "levels": ["node", "switch"], "links": {"nvlink": {"gb_s": 25, "pairs": [[0, 1, 2], [2, 3]]}, "nics": [{"gpus": [0, 1]}, {}]},
    "tree": [{"parts": [{"count": 2, "gpus": 2}]}]})",
      "x");
  EXPECT_EQ(draw(t), R"(x   1 node, 4 GPUs: node 1 > switch 2 > gpu 2
`- n0                      4 GPUs
   |- switch0              gpu0 gpu1   nic0
   `- switch1              gpu2 gpu3   nic1
nvlink: 0-1x2 2-3, 25 GB/s a link
)");
}

TEST(Draw, DotHasEveryLink) {
  const std::string dot = draw_dot(topology_from_json(
      R"({"levels": ["node"], "links": {"gpu": {"gb_s": 16, "us": 2}, "nvlink": {"gb_s": 300, "us": 3}, "nics": {"gb_s": 12.5, "us": 1.5}}, "tree": [{"name": "a", "gpus": 2}]})",
      "x"));
  EXPECT_THAT(dot, testing::StartsWith("graph \"x\" {\n"));
  // 2 slots, 2 NVLinks to the switch, the card's slot and its cable
  EXPECT_EQ(std::count(dot.begin(), dot.end(), '\n'), 3 + 2 + 1 + 1 + 1 + 1 + 6 - 0);
  for (const char* label :
       {"\"a/gpu1\"", "\"a/nvswitch\"", "\"a/nic0\"", "\"16 GB/s, 2 us\"", "\"300 GB/s, 1.5 us\"", "\"12.5 GB/s, 1.5 us\""})
    EXPECT_THAT(dot, HasSubstr(label));
  EXPECT_THROW(draw_dot(shipped("100k-gpu")), InputError);
}

TEST(Draw, SvgHasABoxForEveryPartAndEscapesNames) {
  const std::string svg = draw_svg(topology_from_json(
      R"({"levels": ["rack", "node", "switch"], "tree": [{"name": "a&<b>", "parts": [{"count": 3, "parts": [{"gpus": 1}, {"gpus": 2}]}]}]})",
      "x"));
  EXPECT_THAT(svg, HasSubstr("rack a&amp;&lt;b&gt;"));
  EXPECT_THAT(svg, HasSubstr("n0 ... n2 (3 times): 3 GPUs"));
  size_t boxes = 0;
  for (size_t at = 0; (at = svg.find("<rect", at)) != svg.npos; at++) boxes++;
  EXPECT_EQ(boxes, 1U + 1 + 1 + 2 + 3) << "picture, rack, one node of three, its switches, GPUs";
}

TEST(Draw, JsonReadsBackWithTheSameLinks) {
  for (const std::string_view name : shipped_topologies()) {
    if (name == "100k-gpu") continue;
    const Topology t = shipped(name), again = topology_from_json(draw_json(t), "again.json");
    EXPECT_EQ(draw_json(again), draw_json(t)) << name;
    const Links a(t), b(again);
    ASSERT_EQ(a.size(), b.size()) << name;
    for (uint32_t i = 0; i < a.size(); i++) {
      EXPECT_EQ(a[i].rate, b[i].rate) << name << ' ' << a.name(i);
      EXPECT_EQ(a.name(i), b.name(i));
    }
  }
}

/// Every shipped topology is what its name says: nodes, GPUs, bandwidth among all GPUs of the first node, and of everything.
TEST(Draw, ShippedTopologies) {
  struct Row {
    const char* name;
    uint32_t nodes, gpus;
    int64_t node_gb_s, all_gb_s;
  };
  const Row kTable[] = {
      {"dgx-1-v100", 1, 8, 50, 50},       {"dgx-a100", 1, 8, 300, 300},       {"dgx-a100-16", 16, 128, 300, 200},
      {"dgx-h100", 1, 8, 450, 450},       {"dgx-h100-32", 32, 256, 450, 400}, {"hgx-b200", 1, 8, 900, 900},
      {"hgx-b200-16", 16, 128, 900, 400}, {"gb200-nvl72", 18, 72, 900, 900},  {"gb200-nvl72-8", 144, 576, 900, 900},
      {"pcie-4", 1, 4, 32, 32},           {"pcie-8", 1, 8, 32, 32},           {"pcie-10", 1, 10, 32, 32},
  };
  for (const Row& r : kTable) {
    const Topology t = shipped(r.name);
    EXPECT_EQ(t.nodes(), r.nodes) << r.name;
    EXPECT_EQ(t.gpus(), r.gpus) << r.name;
    const Links links(t);
    std::vector<Piece> all;
    for (NodeId n = 0; n < t.nodes(); n++) all.push_back(Piece::whole(n, 1, (uint64_t{1} << t.gpus_of(n)) - 1));
    EXPECT_EQ(links.ring(Pieces(all).first(1)).mb_s, r.node_gb_s * 1000) << r.name;
    EXPECT_EQ(links.ring(all).mb_s, r.all_gb_s * 1000) << r.name;
  }
}

}}  // namespace muster
