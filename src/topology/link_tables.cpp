#include "topology/link_tables.hpp"

#include <algorithm>
#include <map>

#include "topology/link_defaults.hpp"

namespace muster {
namespace {

/// What is stated of a rate wins; the rest is as usual.
LinkRate stated_or(LinkRate stated, LinkRate usual) { return {stated.mb_s ? stated.mb_s : usual.mb_s, stated.ns ? stated.ns : usual.ns}; }

template <typename Uplinks> LinkRate rate_of(const Uplinks& uplinks, std::string_view level) {
  const auto at = std::find_if(uplinks.begin(), uplinks.end(), [&](const auto& u) { return u.level == level; });
  return at == uplinks.end() ? LinkRate{} : at->rate;
}

bool is_pcie(std::string_view level) { return level.starts_with("switch") || level.starts_with("complex") || level.starts_with("pci"); }

NodeInside make_inside(const Topology& t, NodeId n) {
  const NodeKind& kind = t.kind(n);
  const NodeLinks& stated = kind.links;
  const NodeLinks usual = usual_links(kind.gpu_type, kind.gpus);
  NodeInside in;
  in.example = n;
  in.gpus = kind.gpus;
  in.gpu = stated_or(rate_of(stated.uplinks, "gpu"), rate_of(usual.uplinks, "gpu"));
  for (size_t l = t.node_level() + 1; l < t.levels().size(); l++) {
    const std::string& level = t.levels()[l];
    // A PCIe switch goes up by a slot like that of its GPUs.
    in.uplink.push_back(stated_or(rate_of(stated.uplinks, level), is_pcie(level) ? in.gpu : rate_of(usual.uplinks, "socket")));
  }
  const bool ours = stated.nvlink == NodeLinks::NvLink::unstated;
  in.nvlink = ours ? usual.nvlink : stated.nvlink;
  in.pairs = ours ? usual.pairs : stated.pairs;
  constexpr LinkRate kOneNvLink{25'000, 3'000};  // of NVLink 2, 3 and 4; those of 5 have 50
  const bool five = usual.nvlink == NodeLinks::NvLink::all && usual.nvlink_rate.mb_s == 900'000;
  LinkRate rate = usual.nvlink_rate;
  if (in.nvlink == NodeLinks::NvLink::pairs && usual.nvlink != NodeLinks::NvLink::pairs) rate = five ? LinkRate{50'000, 3'000} : kOneNvLink;
  if (!rate.mb_s) rate = {300'000, 3'000};
  in.nvlink_rate = stated_or(ours ? LinkRate{} : stated.nvlink_rate, rate);
  in.nics = stated.states_nics ? stated.nics : usual.nics;
  const auto even = spread_nics(uint32_t(in.nics.size()), in.gpus, {});
  for (size_t i = 0; i < in.nics.size(); i++) {
    NodeLinks::Nic& c = in.nics[i];
    if (c.begin == c.end) c.begin = even[i].begin, c.end = even[i].end;
    c.rate = stated_or(c.rate, usual.nics[0].rate);
  }
  return in;
}

/// The nearest cards of each GPU: those it meets lowest in the tree. A card is where all GPUs that it is nearest to are together.
void find_near(const LinkTables& tables, NodeInside& in) {
  const GpuId first = tables.t.first_gpu(in.example);
  in.near.resize(in.gpus);
  for (uint32_t g = 0; g < in.gpus; g++) {
    size_t best = 0;
    for (uint32_t c = 0; c < in.nics.size(); c++) {
      const NodeLinks::Nic& nic = in.nics[c];
      const size_t level = std::min(tables.meet_inside(first + g, first + nic.begin), tables.meet_inside(first + g, first + nic.end - 1)) + 1;
      if (level > best) best = level, in.near[g].clear();
      if (level == best) in.near[g].push_back(c);
    }
  }
}

}  // namespace

size_t LinkTables::meet_inside(GpuId a, GpuId b) const {
  if (a == b) return t.levels().size();
  size_t level = t.levels().size() - 1;
  while (level > t.node_level() && at(level, a) != at(level, b)) level--;
  return level;
}

LinkTables::LinkTables(const Topology& topology) : t(topology) {
  const size_t node_level = t.node_level(), levels = t.levels().size();
  inside_of.reserve(t.nodes());
  std::map<std::vector<uint32_t>, uint32_t> known;
  for (NodeId n = 0; n < t.nodes(); n++) {
    std::vector<uint32_t> key{t.kind_id(n)};
    for (GpuId g = t.first_gpu(n); g < t.first_gpu(n) + t.gpus_of(n);) {  // how deep each GPU parts from the one before
      const GpuId end = t.domains(levels - 1)[at(levels - 1, g)].gpu_end;
      for (size_t l = node_level + 1; l < levels; l++)
        if (t.domains(l)[at(l, g)].gpu_begin == g) key.push_back(uint32_t(l) << 16U | (g - t.first_gpu(n)));
      g = end;
    }
    const auto [it, fresh] = known.try_emplace(std::move(key), uint32_t(insides.size()));
    if (fresh) insides.push_back(make_inside(t, n)), find_near(*this, insides.back());
    inside_of.push_back(it->second);
  }

  const FabricLinks& fabric = t.links();
  nvlink_level = node_level;
  const auto named = [&](std::string_view name) {
    return size_t(std::find(t.levels().begin(), t.levels().end(), name) - t.levels().begin());
  };
  if (const size_t l = named(fabric.nvlink_level.empty() ? "nvlink" : fabric.nvlink_level); l < node_level) nvlink_level = l;
  nvlink_rate = fabric.nvlink_rate;
  for (const NodeInside& in : insides) {
    if (fabric.rails) rails = std::max(rails, uint32_t(in.nics.size()));
    if (!in.gpus || nvlink_level == node_level) continue;
    const LinkRate usual = in.nvlink == NodeLinks::NvLink::all ? in.nvlink_rate : LinkRate{900'000, 3'000};
    nvlink_rate = stated_or(nvlink_rate, usual);
  }

  base.resize(levels);
  for (size_t l = node_level + 1; l < levels; l++) {
    base[l] = uint32_t(links.size());
    const Link::Kind kind = is_pcie(t.levels()[l]) ? Link::pcie : Link::cpu;
    for (const Domain& d : t.domains(l)) links.push_back({kind, inside(d.node_begin).uplink[l - node_level - 1]});
  }
  std::vector<int64_t> below(t.nodes());  // what goes up from each domain of the level below, in MB/s
  first_nic.reserve(t.nodes() + 1);
  for (NodeId n = 0; n < t.nodes(); n++) {
    first_nic.push_back(uint32_t(links.size()));
    for (const NodeLinks::Nic& c : inside(n).nics) links.push_back({Link::nic, c.rate}), below[n] += c.rate.mb_s;
  }
  first_nic.push_back(uint32_t(links.size()));
  for (size_t l = node_level; l-- > 0;) {
    base[l] = uint32_t(links.size());
    const auto stated = std::find_if(fabric.uplinks.begin(), fabric.uplinks.end(), [&](const auto& u) { return u.level == t.levels()[l]; });
    constexpr int64_t kSwitchNs = 500;
    std::vector<int64_t> out(t.domains(l).size());
    for (size_t i = 0; i < t.domains(l + 1).size(); i++) out[t.domains(l + 1)[i].parent] += below[i];
    for (int64_t& mb_s : out) {
      LinkRate rate{mb_s, kSwitchNs};
      if (stated != fabric.uplinks.end()) {
        if (stated->oversubscription) rate.mb_s = int64_t(Int128(rate.mb_s) * 1000 / stated->oversubscription);
        rate = stated_or(stated->rate, rate);
      }
      mb_s = rate.mb_s;
      for (uint32_t r = 0; r < rails; r++) links.push_back({Link::fabric, {std::max<int64_t>(rate.mb_s / rails, 1), rate.ns}});
    }
    below = std::move(out);
  }
}

}  // namespace muster
