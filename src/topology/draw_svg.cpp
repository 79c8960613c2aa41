// A topology as boxes in boxes.
#include <algorithm>

#include "text/numbers.hpp"
#include "topology/draw.hpp"
#include "topology/looks.hpp"

namespace muster {
namespace {

constexpr int kGap = 8, kTitle = 18, kGpu = 52, kRow = 26, kLetter = 7;
constexpr int kWidest = 1'400;  // of a row of boxes, before the next one begins
constexpr size_t kMostBoxes = 10'000;

std::string escaped(std::string_view s) {
  std::string out;
  for (const char c : s) {
    if (c == '&') out += "&amp;";
    else if (c == '<') out += "&lt;";
    else if (c == '>') out += "&gt;";
    else if (c == '"') out += "&quot;";
    else out += c;
  }
  return out;
}

/// A box with what is in it, placed relative to it.
struct Box {
  std::string title;
  const char* fill = "#ffffff";
  int x = 0, y = 0, width = 0, height = 0;
  int inner = 0;  // height of what the caller draws below the parts
  std::vector<Box> parts;
};

class Picture {
 public:
  explicit Picture(const Topology& t) : t_(t), looks_(t), levels_(t.levels().size()) {}

  std::string text() {
    Box all;
    all.title = (t_.name().empty() ? "" : t_.name() + ": ") + describe(t_);
    add_domains(all, 0, 0, uint32_t(t_.domains(0).size()));
    std::vector<std::string> notes = nvlink_lines(t_);
    all.inner = int(notes.size()) * kTitle;
    arrange(all);
    const std::string w = std::to_string(all.width + 2 * kGap), h = std::to_string(all.height + 2 * kGap);
    out_ = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + w + "\" height=\"" + h + "\" viewBox=\"0 0 " + w + ' ' + h +
           "\" font-family=\"sans-serif\" font-size=\"12\">\n";
    write(all, kGap, kGap);
    for (size_t i = 0; i < notes.size(); i++) label(notes[i], 2 * kGap, kGap + all.height - all.inner - kGap / 2 + int(i + 1) * kTitle - 4);
    return out_ + "</svg>\n";
  }

 private:
  Box& add(Box& in, std::string title, const char* fill) {
    if (++boxes_ > kMostBoxes) throw InputError("more than 10,000 different parts are too many for a picture");
    Box& b = in.parts.emplace_back();
    b.title = std::move(title), b.fill = fill;
    return b;
  }

  void add_domains(Box& in, size_t l, uint32_t from, uint32_t to) {
    const bool inside = l > t_.node_level();
    for (uint32_t i = from; i < to;) {
      const uint32_t next = inside ? i + 1 : looks_.next(l, i, to);
      const Domain& d = t_.domains(l)[i];
      std::string title = short_name(t_, l, i);
      if (next - i > 1) title += " ... " + short_name(t_, l, next - 1) + " (" + with_commas(next - i) + " times)";
      if (l == t_.node_level()) title += ": " + node_text(t_, d.node_begin);
      Box& b = add(in, std::move(title), l < t_.node_level() ? "#f5f5f5" : l == t_.node_level() ? "#ffffff" : "#eef3e2");
      if (l + 1 < levels_) add_domains(b, l + 1, looks_.begin(l, i), looks_.end(l, i));
      else
        for (GpuId g = d.gpu_begin; g < d.gpu_end; g++) add(b, "gpu" + std::to_string(g - t_.first_gpu(d.node_begin)), "#d5e8d4");
      if (l >= t_.node_level()) {
        const std::string cards = looks_.cards(l, i);
        for (size_t at = 0; at < cards.size();) {
          const size_t end = std::min(cards.find(' ', at), cards.size());
          add(b, cards.substr(at, end - at), "#dae8fc");
          at = end + 1;
        }
      }
      i = next;
    }
  }

  /// Sizes from the inside out; parts in rows.
  void arrange(Box& b) {
    int x = kGap, y = kTitle + kGap, row = 0, widest = 0;
    if (b.parts.empty()) {
      b.width = std::max(kGpu, int(b.title.size()) * kLetter + 2 * kGap), b.height = kRow;
      return;
    }
    for (Box& p : b.parts) {
      arrange(p);
      if (x > kGap && x + p.width > kWidest) x = kGap, y += row + kGap, row = 0;
      p.x = x, p.y = y;
      x += p.width + kGap, row = std::max(row, p.height), widest = std::max(widest, x);
    }
    b.width = std::max(widest, int(b.title.size()) * kLetter + 2 * kGap);
    b.height = y + row + kGap + b.inner;
  }

  void write(const Box& b, int x, int y) {
    out_ += "<rect x=\"" + std::to_string(x) + "\" y=\"" + std::to_string(y) + "\" width=\"" + std::to_string(b.width) + "\" height=\"" +
            std::to_string(b.height) + "\" rx=\"3\" fill=\"" + b.fill + "\" stroke=\"#555555\"/>\n";
    label(b.title, x + kGap, y + kTitle - 2);
    for (const Box& p : b.parts) write(p, x + p.x, y + p.y);
  }
  void label(std::string_view text, int x, int y) {
    out_ += "<text x=\"" + std::to_string(x) + "\" y=\"" + std::to_string(y) + "\">" + escaped(text) + "</text>\n";
  }

  const Topology& t_;
  Looks looks_;
  size_t levels_, boxes_ = 0;
  std::string out_;
};

}  // namespace

std::string draw_svg(const Topology& t) { return Picture(t).text(); }

}  // namespace muster
