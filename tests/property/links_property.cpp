// Rings of random small clusters against a search over the link graph that knows nothing of trees.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <numeric>

#include "muster/random.hpp"
#include "topology/link_graph.hpp"

namespace muster { namespace {

/// A cluster of two kinds of nodes with random rates, one card a node at its root, and perhaps NVLink switches. Links narrow outwards,
/// since a path through the graph has one link where a ring may have several side by side: slots to a card, cards of a rack.
Topology random_cluster(Random& random) {
  const auto pick = [&](uint64_t n) { return random.below(n); };
  TopologySpec s;
  s.levels = {"row", "rack", "node", "socket", "switch"};
  for (const char* l : {"row", "rack"}) s.links.uplinks.push_back({l, {int64_t(5 + pick(8)), int64_t(1 + pick(5))}, 0});
  s.kinds.resize(2);
  for (size_t k = 0; k < 2; k++) {
    NodeKind& kind = s.kinds[k];
    kind.name = k ? "b" : "a";
    kind.gpus = k ? 3 : 4;
    NodeLinks& links = kind.links;
    links.uplinks = {{"gpu", {int64_t(20 + pick(10)), int64_t(1 + pick(5))}},
                     {"socket", {int64_t(20 + pick(20)), int64_t(1 + pick(5))}},
                     {"switch", {int64_t(20 + pick(20)), int64_t(1 + pick(5))}}};
    links.nvlink = pick(2) ? NodeLinks::NvLink::all : NodeLinks::NvLink::none;
    links.nvlink_rate = {int64_t(40 + pick(20)), 2 * int64_t(1 + pick(3))};
    links.states_nics = true;
    links.nics = {{0, kind.gpus, {int64_t(13 + pick(7)), int64_t(1 + pick(5))}}};
  }
  if (pick(3) == 0) s.links.nvlink_level = "rack", s.links.nvlink_rate = {int64_t(40 + pick(20)), 2 * int64_t(1 + pick(3))};
  const auto node = [&] {
    TopologySpec::Vertex v;
    v.kind = uint32_t(pick(2));
    for (uint32_t left = s.kinds[v.kind].gpus; left;) {
      TopologySpec::Vertex socket;
      for (uint64_t parts = 1 + pick(2); parts && left; parts--) {
        TopologySpec::Vertex one;
        one.gpus = uint32_t(1 + pick(left));
        left -= one.gpus;
        socket.children.push_back(std::move(one));
      }
      v.children.push_back(std::move(socket));
    }
    return v;
  };
  for (uint64_t rows = 1 + pick(2); rows; rows--) {
    TopologySpec::Vertex& row = s.top.emplace_back();
    for (uint64_t racks = 1 + pick(2); racks; racks--) {
      TopologySpec::Vertex& rack = row.children.emplace_back();
      for (uint64_t nodes = 1 + pick(2); nodes; nodes--) rack.children.push_back(node());
    }
  }
  return Topology::build(std::move(s));
}

TEST(LinksProperty, NoRingIsWiderThanOurs) {
  rc::check([] {
    Random random(*rc::gen::arbitrary<uint64_t>(), "links");
    const Topology t = random_cluster(random);
    const Links links(t);
    const LinkGraph g = cluster_graph(LinkTables(t));
    std::vector<GpuId> gpus(t.gpus());
    std::iota(gpus.begin(), gpus.end(), 0U);
    for (size_t i = 0; i < gpus.size(); i++) std::swap(gpus[i], gpus[i + random.below(gpus.size() - i)]);
    gpus.resize(std::min<size_t>(gpus.size(), 2 + random.below(5)));
    std::sort(gpus.begin(), gpus.end());
    if (gpus.size() < 2) return;
    std::vector<Piece> pieces;
    for (const GpuId x : gpus) pieces.push_back(Piece::whole(t.node_of(x), 1, uint64_t{1} << (x - t.first_gpu(t.node_of(x)))));
    const Ring ours = links.ring(pieces);

    std::vector<std::vector<LinkRate>> way;
    for (const GpuId a : gpus) way.push_back(widest_paths(g, a));
    std::vector<size_t> order(gpus.size());
    std::iota(order.begin(), order.end(), 0U);
    int64_t best = 0;
    do {
      int64_t w = Links::kUnlimited;
      for (size_t i = 0; i < order.size(); i++) w = std::min(w, way[order[i]][gpus[order[(i + 1) % order.size()]]].mb_s);
      best = std::max(best, w);
    } while (std::next_permutation(order.begin() + 1, order.end()));
    RC_ASSERT(ours.mb_s == best);
    int64_t slowest = 0;
    for (size_t i = 0; i < gpus.size(); i++)
      for (size_t j = 0; j < i; j++) slowest = std::max(slowest, way[i][gpus[j]].ns);
    if (gpus.size() == 2) RC_ASSERT(ours.ns == slowest);
    std::vector<uint32_t> alone(links.size(), 1);
    RC_ASSERT(links.mb_s(ours, alone) == ours.mb_s);
  });
}

}}  // namespace muster
