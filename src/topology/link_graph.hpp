// The link graph: GPUs, switches, sockets, network cards and fabric switches, joined by edges with bandwidth and latency.
#pragma once
#include <boost/graph/adjacency_list.hpp>
#include <string>
#include <vector>

#include "topology/link_tables.hpp"

namespace muster {

struct LinkVertex {
  enum Kind : uint8_t { gpu, part, node, nvswitch, nic, fabric } kind = gpu;
  std::string name;
};
struct LinkEdge {
  enum Kind : uint8_t { nvlink, pcie, cpu, nic, fabric } kind = pcie;
  LinkRate rate;       // per direction
  uint32_t links = 1;  // NVLinks side by side
};
using LinkGraph = boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS, LinkVertex, LinkEdge>;

/// One node without the network: GPU i of it is vertex i.
LinkGraph node_graph(const LinkTables& tables, NodeId n);
/// Everything: GPU g is vertex g.
LinkGraph cluster_graph(const LinkTables& tables);

/// How vertex `from` reaches every other over its widest path: the bottleneck, and the least latency of such paths. GPUs pass nothing on.
/// No path: 0 MB/s.
std::vector<LinkRate> widest_paths(const LinkGraph& g, size_t from);

}  // namespace muster
