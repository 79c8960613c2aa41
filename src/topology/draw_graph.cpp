// The link graph for Graphviz, and a topology file with every link stated.
#include <algorithm>

#include "text/numbers.hpp"
#include "topology/draw.hpp"
#include "topology/link_graph.hpp"
#include "topology/looks.hpp"
#include "topology/to_json.hpp"
#include "topology/write.hpp"

namespace muster {
namespace {

std::string quoted(std::string_view s) {
  std::string out = "\"";
  for (const char c : s) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string microseconds(int64_t ns) {
  std::string s = with_commas(ns / 1000);
  if (const int64_t part = ns % 1000) {
    s += '.' + std::to_string(1000 + part).substr(1);
    while (s.back() == '0') s.pop_back();
  }
  return s + " us";
}

}  // namespace

std::string draw_dot(const Topology& t) {
  constexpr uint64_t kMost = 10'000;
  if (uint64_t{t.gpus()} + t.nodes() > kMost)
    throw InputError(with_commas(t.gpus()) + " GPUs on " + with_commas(t.nodes()) + " nodes are too many to draw one by one; at most " +
                     with_commas(int64_t(kMost)) + " together");
  static constexpr const char* kShapes[] = {
      "box, style=filled, fillcolor=\"#d5e8d4\"",     "box",    "box, style=bold", "hexagon, style=filled, fillcolor=\"#fff2cc\"",
      "ellipse, style=filled, fillcolor=\"#dae8fc\"", "diamond"};
  static constexpr const char* kColours[] = {"\"#7a9a01\"", "\"#555555\"", "\"#000000\"", "\"#1f6fb2\"", "\"#b2521f\""};
  const LinkGraph g = cluster_graph(LinkTables(t));
  std::string out = "graph " + quoted(t.name().empty() ? "topology" : t.name()) +
                    " {\n  layout=dot; rankdir=TB; node [fontname=\"sans-serif\", fontsize=10];"
                    " edge [fontname=\"sans-serif\", fontsize=8];\n";
  for (size_t v = 0; v < num_vertices(g); v++)
    out += "  v" + std::to_string(v) + " [label=" + quoted(g[v].name) + ", shape=" + kShapes[g[v].kind] + "];\n";
  const auto [first, last] = edges(g);
  for (auto e = first; e != last; ++e) {
    const LinkEdge& edge = g[*e];
    int width = 1;  // one step for a fourfold bandwidth
    for (int64_t r = edge.rate.mb_s; r >= 4'000; r /= 4) width++;
    out += "  v" + std::to_string(source(*e, g)) + " -- v" + std::to_string(target(*e, g)) + " [label=\"" + gb_s(edge.rate.mb_s);
    if (edge.rate.ns) out += ", " + microseconds(edge.rate.ns);
    out += std::string("\", color=") + kColours[edge.kind] + ", penwidth=" + std::to_string(width);
    if (edge.kind == LinkEdge::nvlink) out += ", constraint=false";
    out += "];\n";
  }
  return out + "}\n";
}

std::string draw_json(const Topology& t) {
  const LinkTables tables(t);
  TopologySpec spec = spec_of(t);
  std::vector<uint8_t> done(spec.kinds.size());
  for (const NodeInside& in : tables.insides) {
    const uint32_t kind = t.kind_id(in.example);
    if (done[kind]++) continue;
    NodeLinks& links = spec.kinds[kind].links;
    links = {};
    if (in.gpus) {
      links.uplinks.push_back({"gpu", in.gpu});
      for (size_t l = 0; l < in.uplink.size(); l++) links.uplinks.push_back({t.levels()[t.node_level() + 1 + l], in.uplink[l]});
      links.nvlink = in.nvlink;
      if (in.nvlink != NodeLinks::NvLink::none) links.nvlink_rate = in.nvlink_rate, links.pairs = in.pairs;
    }
    links.states_nics = true;
    links.nics = in.nics;
  }
  if (tables.nvlink_level < t.node_level())
    spec.links.nvlink_level = t.levels()[tables.nvlink_level], spec.links.nvlink_rate = tables.nvlink_rate;
  return topology_file(spec);
}

}  // namespace muster
