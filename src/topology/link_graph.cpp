#include "topology/link_graph.hpp"

#include <boost/graph/dijkstra_shortest_paths.hpp>
#include <boost/graph/filtered_graph.hpp>
#include <boost/property_map/function_property_map.hpp>
#include <functional>
#include <set>

namespace muster {
namespace {

/// Adds the inside of node `n`, whose GPUs are the vertices from `first` on, and returns its root.
size_t add_inside(LinkGraph& g, const LinkTables& tables, NodeId n, size_t first) {
  const Topology& t = tables.t;
  const NodeInside& in = tables.inside(n);
  const size_t node_level = t.node_level(), levels = t.levels().size();
  const GpuId gpu0 = t.first_gpu(n);
  const size_t root = add_vertex({LinkVertex::node, t.node_name(n)}, g);
  std::vector<size_t> above(in.gpus, root);  // by GPU, the vertex it is part of so far
  for (size_t l = node_level + 1; l < levels; l++) {
    const auto& domains = t.domains(l);
    for (uint32_t i = 0; i < in.gpus;) {
      const uint32_t d = tables.at(l, gpu0 + i);
      const size_t v = add_vertex({LinkVertex::part, domains[d].name}, g);
      const Link& up = tables.links[tables.link_of(l, d)];
      add_edge(above[i], v, {up.kind == Link::pcie ? LinkEdge::pcie : LinkEdge::cpu, up.rate, 1}, g);
      for (; i < domains[d].gpu_end - gpu0; i++) above[i] = v;
    }
  }
  for (uint32_t i = 0; i < in.gpus; i++) add_edge(above[i], first + i, {LinkEdge::pcie, in.gpu, 1}, g);
  if (in.nvlink == NodeLinks::NvLink::pairs)
    for (const NodeLinks::Pair& p : in.pairs)
      add_edge(first + p.a, first + p.b, {LinkEdge::nvlink, {in.nvlink_rate.mb_s * p.links, in.nvlink_rate.ns}, p.links}, g);
  if (in.nvlink == NodeLinks::NvLink::all && in.gpus > 1 && tables.nvlink_level == node_level) {
    const size_t v = add_vertex({LinkVertex::nvswitch, t.node_name(n) + "/nvswitch"}, g);
    for (uint32_t i = 0; i < in.gpus; i++) add_edge(first + i, v, {LinkEdge::nvlink, {in.nvlink_rate.mb_s, in.nvlink_rate.ns / 2}, 1}, g);
  }
  return root;
}

/// A card hangs where all GPUs it is nearest to are together.
size_t place_of_nic(const LinkGraph& g, const LinkTables& tables, NodeId n, const NodeLinks::Nic& nic, size_t root) {
  if (nic.begin == nic.end) return root;
  const GpuId gpu0 = tables.t.first_gpu(n);
  const size_t level = std::min(tables.meet_inside(gpu0 + nic.begin, gpu0 + nic.end - 1), tables.t.levels().size() - 1);
  const std::string& name = tables.t.domains(level)[tables.at(level, gpu0 + nic.begin)].name;
  for (size_t v = root; v < num_vertices(g); v++)
    if (g[v].name == name) return v;
  return root;
}

}  // namespace

LinkGraph node_graph(const LinkTables& tables, NodeId n) {
  LinkGraph g;
  for (uint32_t i = 0; i < tables.inside(n).gpus; i++) add_vertex({LinkVertex::gpu, tables.t.gpu_name(tables.t.first_gpu(n) + i)}, g);
  add_inside(g, tables, n, 0);
  return g;
}

LinkGraph cluster_graph(const LinkTables& tables) {
  const Topology& t = tables.t;
  const size_t node_level = t.node_level();
  LinkGraph g;
  for (GpuId i = 0; i < t.gpus(); i++) add_vertex({LinkVertex::gpu, t.gpu_name(i)}, g);
  // With rails a domain above the node, and the cluster, has a switch for each; they meet in the uplinks' other ends alone.
  std::vector<std::vector<size_t>> above;  // by domain of the level above, its switches
  const size_t spine = add_vertex({LinkVertex::fabric, t.name().empty() ? "cluster" : t.name()}, g);
  above.push_back({spine});
  for (size_t l = 0; l < node_level; l++) {
    std::vector<std::vector<size_t>> here;
    for (uint32_t d = 0; d < t.domains(l).size(); d++) {
      auto& switches = here.emplace_back();
      const bool leaf = l + 1 == node_level;
      const auto& up = above[l ? t.domains(l)[d].parent : 0];
      const size_t all = leaf ? 0 : add_vertex({LinkVertex::fabric, t.domains(l)[d].name}, g);
      for (uint32_t r = 0; r < tables.rails; r++) {
        const uint32_t link = tables.link_of(l, d, r);
        const std::string name = t.domains(l)[d].name + (tables.rails > 1 ? "/rail" + std::to_string(r) : "");
        const size_t v = leaf ? add_vertex({LinkVertex::fabric, name}, g) : all;
        add_edge(v, up[0], {LinkEdge::fabric, tables.links[link].rate, 1}, g);
        switches.push_back(v);
      }
    }
    above = std::move(here);
  }
  std::vector<size_t> nvswitch;
  if (tables.nvlink_level < node_level)
    for (const Domain& d : t.domains(tables.nvlink_level)) nvswitch.push_back(add_vertex({LinkVertex::nvswitch, d.name + "/nvswitch"}, g));
  for (NodeId n = 0; n < t.nodes(); n++) {
    const NodeInside& in = tables.inside(n);
    const size_t root = add_inside(g, tables, n, t.first_gpu(n));
    const auto& leaf = above[node_level ? t.domains(node_level)[n].parent : 0];
    for (uint32_t c = 0; c < in.nics.size(); c++) {
      const LinkRate rate = tables.links[tables.first_nic[n] + c].rate;
      const size_t v = add_vertex({LinkVertex::nic, t.node_name(n) + "/nic" + std::to_string(c)}, g);
      // The latency of a card is that of its slot too.
      add_edge(place_of_nic(g, tables, n, in.nics[c], root), v, {LinkEdge::pcie, {in.gpu.mb_s, 0}, 1}, g);
      add_edge(v, leaf[c % leaf.size()], {LinkEdge::nic, rate, 1}, g);
    }
    if (!nvswitch.empty())
      for (uint32_t i = 0; i < in.gpus; i++)
        add_edge(t.first_gpu(n) + i, nvswitch[t.domain_of_node(tables.nvlink_level, n)],
                 {LinkEdge::nvlink, {tables.nvlink_rate.mb_s, tables.nvlink_rate.ns / 2}, 1}, g);
  }
  return g;
}

std::vector<LinkRate> widest_paths(const LinkGraph& g, size_t from) {
  struct Open {  // edges wide enough that lead on
    const LinkGraph* g = nullptr;
    size_t from = 0;
    int64_t least = 0;
    bool operator()(LinkGraph::edge_descriptor e) const {
      return (*g)[e].rate.mb_s >= least && (boost::source(e, *g) == from || (*g)[boost::source(e, *g)].kind != LinkVertex::gpu);
    }
  };
  const auto search = [&](int64_t least, auto weight, auto better, auto through, int64_t none, int64_t zero) {
    std::vector<int64_t> best(num_vertices(g), none);
    const boost::filtered_graph<LinkGraph, Open> open(g, Open{&g, from, least});
    boost::dijkstra_shortest_paths(open, from,
                                   boost::weight_map(boost::make_function_property_map<LinkGraph::edge_descriptor>(weight))
                                       .distance_map(boost::make_iterator_property_map(best.begin(), boost::get(boost::vertex_index, g)))
                                       .distance_compare(better)
                                       .distance_combine(through)
                                       .distance_inf(none)
                                       .distance_zero(zero));
    return best;
  };
  const auto width = search(
      0, [&](LinkGraph::edge_descriptor e) { return g[e].rate.mb_s; }, std::greater<>(),
      [](int64_t a, int64_t b) { return std::min(a, b); }, 0, Links::kUnlimited);
  // Latency second, and only over edges of the width found: a search for both at once would keep a quick way that a wider one must not
  // take.
  std::vector<LinkRate> r(num_vertices(g));
  for (const int64_t w : std::set<int64_t>(width.begin(), width.end())) {
    if (w == 0) continue;
    constexpr int64_t kFar = Links::kUnlimited / 2;
    const auto ns = search(
        w == Links::kUnlimited ? 0 : w, [&](LinkGraph::edge_descriptor e) { return g[e].rate.ns; }, std::less<>(), std::plus<>(), kFar, 0);
    for (size_t v = 0; v < r.size(); v++)
      if (width[v] == w) r[v] = {w, ns[v]};
  }
  return r;
}

}  // namespace muster
