#include "topology/looks.hpp"

#include <algorithm>
#include <map>

#include "text/numbers.hpp"
#include "topology/link_defaults.hpp"

namespace muster {
namespace {

std::string thousandths(int64_t n) {
  std::string s = with_commas(n / 1000);
  if (const int64_t part = n % 1000) {
    s += '.' + std::to_string(1000 + part).substr(1);
    while (s.back() == '0') s.pop_back();
  }
  return s;
}

std::string memory(int64_t mib) { return mib % 1024 ? with_commas(mib) + " MiB" : with_commas(mib / 1024) + " GiB"; }

}  // namespace

Looks::Looks(const Topology& t) : t_(t), levels_(t.levels().size()), first_child_(levels_), looks_(levels_) {
  for (size_t l = 0; l + 1 < levels_; l++) {
    auto& first = first_child_[l];
    first.assign(t.domains(l).size() + 1, 0);
    for (const Domain& d : t.domains(l + 1)) first[d.parent + 1]++;
    for (size_t i = 1; i < first.size(); i++) first[i] += first[i - 1];
  }
  for (size_t l = levels_; l-- > 0;) {
    std::map<std::vector<uint32_t>, uint32_t> seen;
    for (uint32_t i = 0; i < t.domains(l).size(); i++) {
      const Domain& d = t.domains(l)[i];
      std::vector<uint32_t> key{d.gpu_end - d.gpu_begin, l == t.node_level() ? t.kind_id(d.node_begin) : 0};
      for (uint32_t c = begin(l, i); c < end(l, i); c++) key.push_back(looks_[l + 1][c]);
      if (l > t.node_level() && t.kind(d.node_begin).links.states_nics) key.push_back(~uint32_t(cards(l, i).size()));
      looks_[l].push_back(seen.try_emplace(std::move(key), uint32_t(seen.size())).first->second);
    }
  }
}

std::string Looks::cards(size_t l, uint32_t i) const {
  const Domain& d = t_.domains(l)[i];
  const NodeLinks& links = t_.kind(d.node_begin).links;
  const GpuId first = t_.first_gpu(d.node_begin);
  std::string s;
  const auto even = spread_nics(uint32_t(links.nics.size()), t_.kind(d.node_begin).gpus, {});
  for (size_t c = 0; c < links.nics.size(); c++) {
    const NodeLinks::Nic& nic = links.nics[c].begin < links.nics[c].end ? links.nics[c] : even[c];
    if (nic.begin == nic.end || first + nic.begin < d.gpu_begin || first + nic.end > d.gpu_end) continue;
    bool lower = false;  // whether a part of the domain has all its GPUs
    for (uint32_t p = begin(l, i); p < end(l, i); p++)
      lower = lower || (t_.domains(l + 1)[p].gpu_begin <= first + nic.begin && first + nic.end <= t_.domains(l + 1)[p].gpu_end);
    if (!lower) s += (s.empty() ? "nic" : " nic") + std::to_string(c);
  }
  return s;
}

std::string short_name(const Topology& t, size_t l, uint32_t i) {
  std::string_view s = t.domains(l)[i].name;
  s = s.substr(s.rfind('/') + 1);
  const std::string& level = t.levels()[l];
  return (s.starts_with(level) || l == t.node_level() ? "" : level + ' ') + std::string(s);
}

std::string node_text(const Topology& t, NodeId n) {
  const NodeKind& k = t.kind(n);
  std::string s = k.gpus ? std::to_string(k.gpus) + (k.gpu_type.empty() ? (k.gpus == 1 ? " GPU" : " GPUs") : " x " + k.gpu_type) : "no GPU";
  if (k.gpus && k.gpu_mem_mib) s += ", " + memory(k.gpu_mem_mib) + " each";
  if (k.limits_cpu) s += ", " + thousandths(k.capacity[kCpu]) + (k.capacity[kCpu] == kMilli ? " CPU" : " CPUs");
  if (k.limits_mem) s += ", " + memory(k.capacity[kMem]);
  if (!k.driver.empty()) s += ", driver " + k.driver;
  if (!k.cuda.empty()) s += ", CUDA " + k.cuda;
  for (const auto& [key, value] : k.labels) s += ", " + key + '=' + value;
  for (size_t r = 3; r < t.resource_names().size(); r++) s += ", " + with_commas(k.capacity[r]) + ' ' + t.resource_names()[r];
  return s;
}

std::string gb_s(int64_t mb_s) { return thousandths(mb_s) + " GB/s"; }

std::vector<std::string> nvlink_lines(const Topology& t) {
  std::vector<std::string> lines;
  const auto rate = [](LinkRate r, const char* of) { return r.mb_s ? ", " + gb_s(r.mb_s) + of : std::string(); };
  if (!t.links().nvlink_level.empty())
    lines.push_back("nvlink: all pairs of a " + t.links().nvlink_level + rate(t.links().nvlink_rate, " a GPU"));
  for (const NodeKind& k : t.kinds()) {
    std::string s = "nvlink";
    if (t.kinds().size() > 1) s += " of " + k.name;
    if (k.links.nvlink == NodeLinks::NvLink::all) {
      lines.push_back(s + ": all pairs" + rate(k.links.nvlink_rate, " a GPU"));
    } else if (k.links.nvlink == NodeLinks::NvLink::pairs && !k.links.pairs.empty()) {
      constexpr size_t kMostPairs = 28;  // of eight GPUs
      s += ':';
      for (size_t i = 0; i < k.links.pairs.size() && i < kMostPairs; i++) {
        const NodeLinks::Pair& p = k.links.pairs[i];
        s += ' ' + std::to_string(p.a) + '-' + std::to_string(p.b);
        if (p.links != 1) s += 'x' + std::to_string(p.links);
      }
      if (k.links.pairs.size() > kMostPairs) s += " and " + std::to_string(k.links.pairs.size() - kMostPairs) + " more pairs";
      lines.push_back(s + rate(k.links.nvlink_rate, " a link"));
    }
  }
  return lines;
}

}  // namespace muster
