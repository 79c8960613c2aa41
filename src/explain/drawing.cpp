// Trees and bars as lines of text.
#include <algorithm>

#include "explain/document.hpp"

namespace muster {
namespace {

/// Pads to a width; longer text stays whole.
std::string wide(std::string s, size_t width) {
  if (s.size() < width) s.append(width - s.size(), ' ');
  return s;
}

struct Line {
  std::string left, cells, note;
};

std::string cells_of(const Tree::Node& n, size_t word) {
  if (n.cells.empty()) return {};
  std::string s = "[";
  for (size_t g = 0; g < n.cells.size(); g++) {
    if (g) s += " | ";
    for (size_t c = 0; c < n.cells[g].size(); c++) s += (c ? " " : "") + wide(n.cells[g][c], word);
  }
  return s + "]";
}

size_t longest_cell(const std::vector<Tree::Node>& nodes) {
  size_t w = 1;
  for (const Tree::Node& n : nodes) {
    for (const auto& group : n.cells)
      for (const std::string& c : group) w = std::max(w, c.size());
    w = std::max(w, longest_cell(n.parts));
  }
  return w;
}

void draw(const std::vector<Tree::Node>& nodes, const std::string& indent, bool roots, size_t word, std::vector<Line>& out) {
  for (size_t i = 0; i < nodes.size(); i++) {
    const bool last = i + 1 == nodes.size();
    out.push_back({indent + (roots ? "" : last ? "`- " : "|- ") + nodes[i].label, cells_of(nodes[i], word), nodes[i].note});
    draw(nodes[i].parts, indent + (roots ? "" : last ? "   " : "|  "), false, word, out);
  }
}

}  // namespace

std::vector<std::string> drawn(const Tree& t) {
  std::vector<Line> lines;
  draw(t.roots, "", true, longest_cell(t.roots), lines);
  size_t left = 0, cells = 0;
  for (const Line& l : lines) left = std::max(left, l.left.size()), cells = std::max(cells, l.cells.size());
  std::vector<std::string> out;
  for (const Line& l : lines) {
    std::string s = wide(l.left, left);
    if (cells) s += "  " + wide(l.cells, cells);
    if (!l.note.empty()) s += "  " + l.note;
    s.erase(s.find_last_not_of(' ') + 1);
    out.push_back(std::move(s));
  }
  return out;
}

std::vector<std::string> drawn(const Bars& b, size_t width) {
  size_t labels = 0, notes = 0;
  for (const Bars::Row& r : b.rows) labels = std::max(labels, r.label.size()), notes = std::max(notes, r.note.size());
  const size_t around = labels + 2 + 2 + (notes ? notes + 2 : 0);
  const size_t most = std::min<size_t>(width > around + 20 ? width - around : 20, 60);
  // One column a unit, or two or more when they fit whole, so that equal stretches look equal; else in proportion.
  const int64_t end = std::max<int64_t>(b.end, 1);
  const int64_t each = int64_t(most) / end;
  const size_t length = each >= 1 ? size_t(end * std::min<int64_t>(each, 4)) : most;
  const auto column = [&](int64_t at) { return size_t(Int128{std::clamp<int64_t>(at, 0, end)} * Int128(length) / end); };
  std::vector<std::string> out;
  for (const Bars::Row& r : b.rows) {
    std::string bar(length, '.');
    for (const Bars::Stretch& s : r.stretches) {
      const size_t from = column(s.from), to = column(s.to), room = to - from;
      for (size_t i = from; i < to; i++) bar[i] = '=';
      if (!s.label.empty() && s.label.size() <= room) bar.replace(from, s.label.size(), s.label);
    }
    std::string line = wide(r.label, labels) + "  |" + bar + "|" + (r.note.empty() ? "" : "  " + r.note);
    out.push_back(std::move(line));
  }
  if (!b.end_text.empty()) {
    std::string scale = std::string(labels + 2, ' ') + "0";
    scale = wide(scale, labels + 2 + std::max<size_t>(length + 2, b.end_text.size() + 2) - b.end_text.size());
    out.push_back(scale + b.end_text);
  }
  return out;
}

}  // namespace muster
