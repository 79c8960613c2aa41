// Trees and bars as lines of text.
#include <algorithm>

#include "explain/document.hpp"
#include "explain/width.hpp"

namespace muster {
namespace {

struct Line {
  std::string left, cells, note;
};

std::string cells_of(const Tree::Node& n, size_t word) {
  if (n.cells.empty()) return {};
  std::string s = "[";
  for (size_t g = 0; g < n.cells.size(); g++) {
    if (g) s += " | ";
    for (size_t c = 0; c < n.cells[g].size(); c++) s += (c ? " " : "") + padded_to(n.cells[g][c], word);
  }
  return s + "]";
}

size_t longest_cell(const std::vector<Tree::Node>& nodes) {
  size_t w = 1;
  for (const Tree::Node& n : nodes) {
    for (const auto& group : n.cells)
      for (const std::string& c : group) w = std::max(w, columns_of(c));
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
  for (const Line& l : lines) left = std::max(left, columns_of(l.left)), cells = std::max(cells, columns_of(l.cells));
  std::vector<std::string> out;
  for (const Line& l : lines) {
    std::string s = padded_to(l.left, left);
    if (cells) s += "  " + padded_to(l.cells, cells);
    if (!l.note.empty()) s += "  " + l.note;
    s.erase(s.find_last_not_of(' ') + 1);
    out.push_back(std::move(s));
  }
  return out;
}

std::vector<std::string> drawn(const Bars& b, size_t width) {
  size_t labels = 0, notes = 0;
  for (const Bars::Row& r : b.rows) labels = std::max(labels, columns_of(r.label)), notes = std::max(notes, columns_of(r.note));
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
    std::vector<std::pair<size_t, std::string_view>> labels_in;
    for (const Bars::Stretch& s : r.stretches) {
      const size_t from = column(s.from), to = column(s.to), room = to - from;
      for (size_t i = from; i < to; i++) bar[i] = '=';
      if (!s.label.empty() && columns_of(s.label) <= room) labels_in.emplace_back(from, s.label);
    }
    // From the right, since a character may be longer than the column it takes.
    for (auto l = labels_in.rbegin(); l != labels_in.rend(); ++l) bar.replace(l->first, columns_of(l->second), l->second);
    std::string line = padded_to(r.label, labels) + "  |" + bar + "|" + (r.note.empty() ? "" : "  " + r.note);
    out.push_back(std::move(line));
  }
  if (!b.end_text.empty()) {
    std::string scale = std::string(labels + 2, ' ') + "0";
    scale = padded_to(scale, labels + 2 + std::max<size_t>(length + 2, columns_of(b.end_text) + 2) - columns_of(b.end_text));
    out.push_back(scale + b.end_text);
  }
  return out;
}

}  // namespace muster
