#include "topology/draw.hpp"

#include <algorithm>
#include <map>

#include "text/numbers.hpp"

namespace muster {
namespace {

constexpr size_t kMostRows = 16;   // of different neighbours at or above the node
constexpr size_t kMostInside = 4;  // equal parts of a node that are still drawn one by one
constexpr size_t kNameWidth = 24;

/// The children of every domain are an interval of the level below, since domains are numbered depth first.
class Drawing {
 public:
  explicit Drawing(const Topology& t) : t_(t), levels_(t.levels().size()), first_child_(levels_), looks_(levels_) {
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
        looks_[l].push_back(seen.try_emplace(std::move(key), uint32_t(seen.size())).first->second);
      }
    }
  }

  std::string text() {
    out_ = (t_.name().empty() || t_.name().find(':') != std::string::npos ? "" : t_.name() + "   ") + describe(t_) + '\n';
    rows(0, 0, uint32_t(t_.domains(0).size()), "");
    return std::move(out_);
  }

 private:
  uint32_t begin(size_t l, uint32_t i) const { return l + 1 < levels_ ? first_child_[l][i] : 0; }
  uint32_t end(size_t l, uint32_t i) const { return l + 1 < levels_ ? first_child_[l][i + 1] : 0; }

  std::string short_name(size_t l, uint32_t i) const {
    std::string_view s = t_.domains(l)[i].name;
    s = s.substr(s.rfind('/') + 1);
    const std::string& level = t_.levels()[l];
    // "rack3" and "n12" speak for themselves.
    return (s.starts_with(level) || l == t_.node_level() ? "" : level + ' ') + std::string(s);
  }

  std::string node_text(NodeId n) const {
    const NodeKind& k = t_.kind(n);
    std::string s =
        k.gpus ? std::to_string(k.gpus) + (k.gpu_type.empty() ? (k.gpus == 1 ? " GPU" : " GPUs") : " x " + k.gpu_type) : "no GPU";
    if (k.gpus && k.gpu_mem_mib) s += ", " + memory(k.gpu_mem_mib) + " each";
    if (k.limits_cpu) {
      s += ", " + with_commas(k.capacity[kCpu] / kMilli);
      if (const int64_t part = k.capacity[kCpu] % kMilli) {
        s += '.' + std::to_string(1000 + part).substr(1);
        while (s.back() == '0') s.pop_back();
      }
      s += k.capacity[kCpu] == kMilli ? " CPU" : " CPUs";
    }
    if (k.limits_mem) s += ", " + memory(k.capacity[kMem]);
    if (!k.driver.empty()) s += ", driver " + k.driver;
    if (!k.cuda.empty()) s += ", CUDA " + k.cuda;
    for (const auto& [key, value] : k.labels) s += ", " + key + '=' + value;
    for (size_t r = 3; r < t_.resource_names().size(); r++) s += ", " + with_commas(k.capacity[r]) + ' ' + t_.resource_names()[r];
    return s;
  }
  static std::string memory(int64_t mib) { return mib % 1024 ? with_commas(mib) + " MiB" : with_commas(mib / 1024) + " GiB"; }

  std::string gpu_text(const Domain& d) const {
    const uint32_t first = d.gpu_begin - t_.first_gpu(d.node_begin), n = d.gpu_end - d.gpu_begin;
    std::string s;
    for (uint32_t i = 0; i < n; i++) {
      if (n > 8 && i == 1) s += " ...", i = n - 1;
      s += (i ? " gpu" : "gpu") + std::to_string(first + i);
    }
    return s;
  }

  void rows(size_t l, uint32_t from, uint32_t to, const std::string& indent) {
    const bool inside = l > t_.node_level();
    size_t drawn = 0;
    for (uint32_t i = from; i < to; drawn++) {
      if (drawn == kMostRows) {
        out_ += indent + "`- ... " + with_commas(to - i) + " more\n";
        return;
      }
      uint32_t next = i + 1;
      while (next < to && looks_[l][next] == looks_[l][i]) next++;
      if (next - i == 1 || (inside && next - i <= kMostInside)) next = i + 1;
      const bool last = next == to;
      std::string line = indent + (last ? "`- " : "|- ") + short_name(l, i);
      if (next - i > 1) line += " ... " + short_name(l, next - 1);
      std::string right = next - i > 1 ? with_commas(next - i) + " x   " : "";
      const Domain& d = t_.domains(l)[i];
      if (l == t_.node_level()) right += node_text(d.node_begin);
      if (inside && l + 1 == levels_) right += gpu_text(d);
      while (!right.empty() && right.back() == ' ') right.pop_back();
      if (!right.empty()) line.append(line.size() < kNameWidth ? kNameWidth - line.size() : 0, ' ').append("   ").append(right);
      out_ += line + '\n';
      if (l + 1 < levels_) rows(l + 1, begin(l, i), end(l, i), indent + (last ? "   " : "|  "));
      i = next;
    }
  }

  const Topology& t_;
  size_t levels_;
  std::vector<std::vector<uint32_t>> first_child_;  // by level and domain, one more at the end
  std::vector<std::vector<uint32_t>> looks_;        // by level: equal numbers, equal subtrees
  std::string out_;
};

}  // namespace

std::string describe(const Topology& t) {
  std::string s =
      with_commas(t.nodes()) + (t.nodes() == 1 ? " node, " : " nodes, ") + with_commas(t.gpus()) + (t.gpus() == 1 ? " GPU: " : " GPUs: ");
  auto add = [&s](const std::string& level, uint32_t least, uint32_t most) {
    s += level + ' ' + with_commas(least) + (least == most ? "" : "-" + with_commas(most));
  };
  for (size_t l = 0; l < t.levels().size(); l++) {
    // How many children a domain of the level above has.
    std::vector<uint32_t> n(l ? t.domains(l - 1).size() : 1);
    for (const Domain& d : t.domains(l)) n[l ? d.parent : 0]++;
    const auto [least, most] = std::minmax_element(n.begin(), n.end());
    add(t.levels()[l], *least, *most);
    s += " > ";
  }
  uint32_t least = kNone, most = 0;
  for (const Domain& d : t.domains(t.levels().size() - 1))
    least = std::min(least, d.gpu_end - d.gpu_begin), most = std::max(most, d.gpu_end - d.gpu_begin);
  add("gpu", std::min(least, most), most);
  return s;
}

std::string draw(const Topology& t) { return Drawing(t).text(); }

}  // namespace muster
