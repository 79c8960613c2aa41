#include "muster/links.hpp"

#include <gmock/gmock.h>

#include "text/json_config.hpp"
#include "topology/json.hpp"
#include "topology/to_json.hpp"

namespace muster { namespace {

using testing::ElementsAre;

struct Case {
  explicit Case(const std::string& json) : t(topology_from_json(json, "t.json")), links(t) {}
  Ring ring(std::string_view pieces) const { return links.ring(parse_pieces(t, pieces)); }
  /// "n0/switch0+n0/switch1 n0/nic0": stages by spaces, links of one by plus signs.
  std::string uses(const Ring& r) const {
    std::string s;
    for (size_t i = 0; i < r.uses.size(); i++)
      s += (i == 0 ? "" : r.uses[i].stage == r.uses[i - 1].stage ? "+" : " ") + links.name(r.uses[i].link);
    return s;
  }
  Topology t;
  Links links;
};

const char* const kTree = R"({"levels": ["rack", "node", "socket", "switch"],
  "links": {"gpu": {"gb_s": 16, "us": 2}, "switch": {"gb_s": 8, "us": 1}, "socket": {"gb_s": 20, "us": 1}, "nvlink": "none",
            "nics": {"count": 2, "gb_s": 10, "us": 4}, "rack": {"oversubscription": 2}},
  "tree": [{"count": 2, "parts": [{"count": 2, "parts": [{"count": 2, "parts": [{"count": 2, "gpus": 2}]}]}]}]})";

TEST(Links, ARingGoesUpTheTreeAsFarAsItMust) {
  const Case c(kTree);
  struct Row {
    const char* at;
    size_t level;
    int64_t mb_s, ns;
    const char* uses;
  };
  const Row kTable[] = {
      {"n0", 4, Links::kUnlimited, 0, ""},
      {"n0/gpu3", 4, Links::kUnlimited, 0, ""},
      {"n0/gpu0-1", 3, 16'000, 4'000, ""},
      {"n0/gpu0+2", 2, 8'000, 6'000, "n0/switch0 n0/switch1"},
      {"n0/gpu0+4", 1, 8'000, 8'000, "n0/socket0 n0/socket1 n0/switch0 n0/switch2"},
      // Each card is next to one socket; a GPU reaches it through its switch.
      {"n0/gpu0,n1/gpu0", 0, 8'000, 14'000, "n0/switch0 n0/nic0 n1/switch0 n1/nic0"},
      {"n0/gpu0,n2/gpu4", Links::kCluster, 8'000, 15'000, "n0/switch0 n0/nic0 n2/switch2 n2/nic1 rack0 rack1"},
      {"n0/gpu0+4,n1/gpu0", 0, 8'000, 14'000, "n0/socket0 n0/socket1 n0/switch0 n0/switch2 n0/nic0+n0/nic1 n1/switch0 n1/nic0"},
  };
  for (const Row& r : kTable) {
    const Ring ring = c.ring(r.at);
    EXPECT_EQ(ring.level, r.level) << r.at;
    EXPECT_EQ(c.links.meet(parse_pieces(c.t, r.at)), r.level) << r.at;
    EXPECT_EQ(ring.mb_s, r.mb_s) << r.at;
    EXPECT_EQ(ring.ns, r.ns) << r.at;
    EXPECT_EQ(c.uses(ring), r.uses) << r.at;
  }
}

TEST(Links, WhatSeveralRingsCrossIsDivided) {
  const Case c(kTree);
  const Ring a = c.ring("n0/gpu0,n1/gpu0"), b = c.ring("n0/gpu2,n1/gpu2");
  std::vector<uint32_t> flows(c.links.size());
  for (const Ring* r : {&a, &b})
    for (const auto& u : r->uses) flows[u.link]++;
  EXPECT_EQ(c.links.mb_s(a, flows), 5'000) << "both use card 0 of both nodes, each its own switch";
  std::fill(flows.begin(), flows.end(), 0);
  EXPECT_EQ(c.links.mb_s(a, flows), a.mb_s);
}

TEST(Links, UplinksAboveTheNodeCarryAllCardsBelowThem) {
  const Case c(kTree);
  const Ring r = c.ring("n0/gpu0,n2/gpu0");
  const Link& rack = c.links[r.uses.back().link];
  EXPECT_EQ(rack.kind, Link::fabric);
  EXPECT_EQ(rack.rate.mb_s, 20'000) << "two nodes of two cards of 10 GB/s, two to one";
}

TEST(Links, TheMeshOfADgx1) {
  // Rings by hand from the NVLink matrix: 0-3-2-1-5-6-7-4 has two links on every hop.
  const Case c(R"({"nodes": [{"gpus": 8, "gpu_type": "Tesla V100-SXM2-16GB"}]})");
  EXPECT_EQ(c.ring("n0/gpu0+3").mb_s, 50'000);
  EXPECT_EQ(c.ring("n0/gpu0-1").mb_s, 25'000);
  EXPECT_EQ(c.ring("n0/gpu0-3").mb_s, 25'000);
  EXPECT_EQ(c.ring("n0/gpu0+3-4+7").mb_s, 25'000);
  EXPECT_EQ(c.ring("n0/gpu0+5").mb_s, 16'000) << "no cable: PCIe";
  const Ring all = c.ring("n0/gpu0-7");
  EXPECT_EQ(all.mb_s, 50'000);
  EXPECT_THAT(all.gpus, testing::AnyOf(ElementsAre(0, 3, 2, 1, 5, 6, 7, 4), ElementsAre(0, 4, 7, 6, 5, 1, 2, 3)));
  EXPECT_TRUE(all.uses.empty());
  EXPECT_TRUE(c.links.all_by_nvlink(parse_pieces(c.t, "n0/gpu0-3")));
  EXPECT_FALSE(c.links.all_by_nvlink(parse_pieces(c.t, "n0/gpu0+5")));
}

TEST(Links, ABridgeJoinsTwoGpusOfATree) {
  const Case c(
      R"({"levels": ["node", "switch"], "links": {"gpu": {"gb_s": 16}, "nvlink": {"gb_s": 25, "pairs": [[0, 1, 2], [2, 3]]}}, "tree": [{"parts": [{"gpus": 2}, {"gpus": 2}]}]})");
  EXPECT_EQ(c.ring("n0/gpu0-1").mb_s, 50'000);
  EXPECT_EQ(c.ring("n0/gpu2-3").mb_s, 25'000);
  const Ring all = c.ring("n0/gpu0-3");
  EXPECT_EQ(all.mb_s, 16'000) << "over PCIe between the bridges";
  EXPECT_EQ(c.uses(all), "n0/switch0 n0/switch1");
}

TEST(Links, ARackThatIsOneNvLinkDomain) {
  const Case c(
      R"({"levels": ["pod", "rack", "node"], "kinds": {"tray": {"gpus": 4, "gpu_type": "GB200"}}, "links": {"nvlink": {"level": "rack", "gb_s": 900, "us": 3}},
                   "tree": [{"parts": [{"count": 2, "parts": [{"count": 18, "kind": "tray"}]}]}]})");
  EXPECT_EQ(c.t.gpus(), 144U);
  const Ring in = c.ring("n0/gpu0-3,n7/gpu0-1,n17/gpu3");
  EXPECT_EQ(in.mb_s, 900'000);
  EXPECT_EQ(in.ns, 3'000);
  EXPECT_EQ(in.level, 1U);
  EXPECT_TRUE(in.uses.empty());
  EXPECT_TRUE(c.links.all_by_nvlink(parse_pieces(c.t, "n0/gpu0,n17/gpu0")));
  // To the next rack: all cards of the job's GPUs at once, one of 50 GB/s each.
  const Ring out = c.ring("n0/gpu0,n1/gpu0,n18/gpu0-1");
  EXPECT_EQ(out.mb_s, 100'000);
  EXPECT_EQ(c.uses(out), "n0/nic0+n1/nic0 n18/nic0+n18/nic1 rack0 rack1");
  EXPECT_FALSE(c.links.all_by_nvlink(parse_pieces(c.t, "n17/gpu0,n18/gpu0")));
}

TEST(Links, CardsOfDifferentRailsMeetAboveTheLeaf) {
  const Case c(
      R"({"levels": ["rack", "node"], "kinds": {"hgx": {"gpus": 8, "gpu_type": "H100-SXM5"}}, "links": {"rails": true}, "tree": [{"count": 2, "parts": [{"count": 4, "kind": "hgx"}]}]})");
  EXPECT_EQ(c.uses(c.ring("n0/gpu3,n1/gpu3")), "n0/nic3 n1/nic3");
  EXPECT_EQ(c.uses(c.ring("n0/gpu3,n1/gpu4")), "n0/nic3 n1/nic4 rack0/rail3+rack0/rail4");
  EXPECT_EQ(c.uses(c.ring("n0/gpu3,n4/gpu3")), "n0/nic3 n4/nic3 rack0/rail3 rack1/rail3");
  EXPECT_EQ(c.ring("n0/gpu0-7,n4/gpu0-7").mb_s, 400'000) << "eight rails of 50 GB/s";
}

TEST(Links, WhatIsUsualForATypeOfGpu) {
  const auto two = [](const std::string& type, const std::string& at) {
    const Case c(R"({"nodes": [{"gpus": 8, "count": 2, "gpu_type": ")" + type + "\"}]}");
    return c.ring(at).mb_s;
  };
  EXPECT_EQ(two("A100-SXM4-80GB", "n0/gpu0-7"), 300'000);
  EXPECT_EQ(two("NVIDIA-H100-80GB-HBM3", "n0/gpu0+7"), 450'000);
  EXPECT_EQ(two("NVIDIA B200", "n0/gpu0+7"), 900'000);
  EXPECT_EQ(two("A100-PCIE-40GB", "n0/gpu0-7"), 32'000);
  EXPECT_EQ(two("Tesla T4", "n0/gpu0-7"), 16'000);
  EXPECT_EQ(two("A100-SXM4-80GB", "n0/gpu0-7,n1/gpu0-7"), 200'000);
  EXPECT_EQ(two("Tesla T4", "n0/gpu0,n1/gpu0"), 1'250);
}

TEST(Links, AreReadAndWrittenBack) {
  const char* const json =
      R"({"levels": ["rack", "node", "switch"], "links": {"rack": {"gb_s": 100.5, "us": 0.5}, "nvlink": {"level": "rack", "gb_s": 900}, "rails": true},
    "kinds": {"a": {"links": {"gpu": {"gb_s": 32}, "switch": {"us": 1}, "nvlink": {"gb_s": 25, "pairs": [[0, 1, 4]]}, "nics": [{"gpus": [0, 1], "gb_s": 25}, {}]}},
              "b": {"links": {"nvlink": "none", "nics": {"count": 0}}}},
    "tree": [{"parts": [{"kind": "a", "gpus": 2}, {"kind": "b", "gpus": 1}]}]})";
  const Topology t = topology_from_json(json, "t.json");
  const std::string text = topology_json(t);
  EXPECT_THAT(text, testing::HasSubstr(R"("links":{"rack":{"gb_s":100.5,"us":0.5},"nvlink":{"level":"rack","gb_s":900},"rails":true})"));
  EXPECT_THAT(
      text,
      testing::HasSubstr(
          R"("links":{"gpu":{"gb_s":32},"switch":{"us":1},"nvlink":{"gb_s":25,"pairs":[[0,1,4]]},"nics":[{"gpus":[0,1],"gb_s":25},{}]})"));
  EXPECT_THAT(text, testing::HasSubstr(R"("links":{"nvlink":"none","nics":{"count":0}})"));
  const Topology again = topology_from_record(parse_json_config(text, "r"));
  EXPECT_EQ(again.links(), t.links());
  for (size_t k = 0; k < t.kinds().size(); k++) EXPECT_EQ(again.kinds()[k].links, t.kinds()[k].links);
  EXPECT_EQ(topology_json(again), text);
}

}}  // namespace muster
