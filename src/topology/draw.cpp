#include "topology/draw.hpp"

#include <algorithm>

#include "text/numbers.hpp"
#include "topology/looks.hpp"

namespace muster {
namespace {

constexpr size_t kMostRows = 16;   // of different neighbours at or above the node
constexpr size_t kMostInside = 4;  // equal parts of a node that are still drawn one by one
constexpr size_t kNameWidth = 24;

class Drawing {
 public:
  explicit Drawing(const Topology& t) : t_(t), levels_(t.levels().size()), looks_(t) {}

  std::string text() {
    out_ = (t_.name().empty() || t_.name().find(':') != std::string::npos ? "" : t_.name() + "   ") + describe(t_) + '\n';
    rows(0, 0, uint32_t(t_.domains(0).size()), "");
    for (const std::string& line : nvlink_lines(t_)) out_ += line + '\n';
    return std::move(out_);
  }

 private:
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
      uint32_t next = looks_.next(l, i, to);
      if (next - i == 1 || (inside && next - i <= kMostInside)) next = i + 1;
      const bool last = next == to;
      std::string line = indent + (last ? "`- " : "|- ") + short_name(t_, l, i);
      if (next - i > 1) line += " ... " + short_name(t_, l, next - 1);
      std::string right = next - i > 1 ? with_commas(next - i) + " x   " : "";
      const Domain& d = t_.domains(l)[i];
      if (l == t_.node_level()) right += node_text(t_, d.node_begin);
      if (inside && l + 1 == levels_) right += gpu_text(d);
      if (l >= t_.node_level())
        if (const std::string cards = looks_.cards(l, i); !cards.empty()) right += (right.empty() ? "" : "   ") + cards;
      while (!right.empty() && right.back() == ' ') right.pop_back();
      if (!right.empty()) line.append(line.size() < kNameWidth ? kNameWidth - line.size() : 0, ' ').append("   ").append(right);
      out_ += line + '\n';
      if (l + 1 < levels_) rows(l + 1, looks_.begin(l, i), looks_.end(l, i), indent + (last ? "   " : "|  "));
      i = next;
    }
  }

  const Topology& t_;
  size_t levels_;
  Looks looks_;
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
