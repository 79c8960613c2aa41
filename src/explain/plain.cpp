// A document as plain text, 80 columns wide.
#include <algorithm>

#include "explain/document.hpp"
#include "explain/width.hpp"

namespace muster {
namespace {

constexpr size_t kWidth = 80;
constexpr size_t kLabel = 12;  // a longer label runs into its text

std::string spaces(size_t n) { return std::string(n, ' '); }

void put(std::string& out, size_t indent, std::string_view line) {
  std::string s = spaces(indent) + std::string(line);
  s.erase(s.find_last_not_of(' ') + 1);
  out += s + "\n";
}

size_t longest_line(std::string_view s) {
  size_t most = 0;
  while (true) {
    const size_t end = std::min(s.find('\n'), s.size());
    most = std::max(most, columns_of(s.substr(0, end)));
    if (end == s.size()) return most;
    s.remove_prefix(end + 1);
  }
}

void table_part(const TableBlock& t, const std::vector<size_t>& columns, const std::vector<size_t>& width, size_t indent,
                std::string& out) {
  const auto line = [&](auto cell) {
    std::vector<std::vector<std::string>> cells;
    size_t height = 1;
    for (const size_t c : columns) {
      cells.push_back(wrapped(cell(c), width[c]));
      height = std::max(height, cells.back().size());
    }
    for (size_t h = 0; h < height; h++) {
      std::string s;
      for (size_t i = 0; i < columns.size(); i++) {
        const std::string text = h < cells[i].size() ? cells[i][h] : "";
        const std::string pad = spaces(width[columns[i]] - std::min(columns_of(text), width[columns[i]]));
        s += (i ? "  " : "") + (t.columns[columns[i]].number ? pad + text : text + pad);
      }
      put(out, indent, s);
    }
  };
  line([&](size_t c) -> std::string_view { return t.columns[c].head; });
  for (const auto& row : t.rows) line([&](size_t c) -> std::string_view { return row[c]; });
}

void table(const TableBlock& t, size_t indent, std::string& out) {
  if (t.columns.empty()) return;
  const size_t room = kWidth - indent, n = t.columns.size();
  std::vector<size_t> width(n), least(n);
  for (size_t c = 0; c < n; c++) {
    const auto see = [&](std::string_view s) {
      width[c] = std::max(width[c], longest_line(s));
      least[c] = std::max(least[c], widest_word(s));
    };
    see(t.columns[c].head);
    for (const auto& row : t.rows) see(row[c]);
    if (!t.columns[c].wraps) least[c] = width[c];
    else least[c] = std::min(width[c], std::max<size_t>(least[c], 12));
  }
  const auto total = [&](const std::vector<size_t>& columns, const std::vector<size_t>& w) {
    size_t sum = columns.empty() ? 0 : 2 * (columns.size() - 1);
    for (const size_t c : columns) sum += w[c];
    return sum;
  };
  // As many columns as fit with their wrapping ones at their least; the others follow below, the first column beside them again.
  for (size_t next = 1; next < n || next == 1;) {
    std::vector<size_t> columns{0};
    while (next < n && (columns.size() == 1 || [&] {
             auto with = columns;
             with.push_back(next);
             return total(with, least) <= room;
           }()))
      columns.push_back(next++);
    std::vector<size_t> w = width;
    while (total(columns, w) > room) {  // take from the widest that can still wrap
      size_t widest = n;
      for (const size_t c : columns)
        if (w[c] > least[c] && (widest == n || w[c] > w[widest])) widest = c;
      if (widest == n) break;
      w[widest]--;
    }
    table_part(t, columns, w, indent, out);
    if (next >= n) break;
    out += "\n";
  }
}

void blocks(const std::vector<Block>& all, size_t indent, std::string& out);

struct Writer {
  size_t indent;
  size_t labels;  // width of paragraphs' labels
  std::string& out;
  void operator()(const Paragraph& p) const {
    if (columns_of(p.label) > kLabel) {
      for (const std::string& l : wrapped(p.label + ": " + p.text, kWidth - indent)) put(out, indent, l);
      return;
    }
    const size_t left = indent + (labels ? labels + 2 : 0);
    const auto lines = wrapped(p.text, kWidth - (p.label.empty() ? indent : left));
    for (size_t i = 0; i < lines.size(); i++) {
      if (i == 0 && !p.label.empty()) put(out, indent, padded_to(p.label, left - indent) + lines[0]);
      else put(out, p.label.empty() ? indent : left, lines[i]);
    }
  }
  void operator()(const TableBlock& t) const { table(t, indent, out); }
  void operator()(const Bars& b) const {
    for (const std::string& l : drawn(b, kWidth - indent)) put(out, indent, l);
  }
  void operator()(const Tree& t) const {
    for (const std::string& l : drawn(t)) put(out, indent, l);
  }
  void operator()(const Steps& s) const {
    for (size_t i = 0; i < s.steps.size(); i++) {
      const Steps::Step& step = s.steps[i];
      if (i) out += "\n";
      if (step.aside.empty() || columns_of(step.title) + columns_of(step.aside) + 2 + indent > kWidth) {
        for (const std::string& l : wrapped(step.title, kWidth - indent)) put(out, indent, l);
        if (!step.aside.empty()) put(out, indent + 2, step.aside);
      } else {
        put(out, indent, padded_to(step.title, kWidth - indent - columns_of(step.aside)) + step.aside);
      }
      blocks(step.blocks, indent + 2, out);
    }
  }
};

void blocks(const std::vector<Block>& all, size_t indent, std::string& out) {
  size_t labels = 0;
  for (const Block& b : all)
    if (const auto* p = std::get_if<Paragraph>(&b.what)) labels = columns_of(p->label) > kLabel ? labels : std::max(labels, columns_of(p->label));
  const Block* before = nullptr;
  for (const Block& b : all) {
    // Paragraphs with labels stand close together, everything else apart.
    const auto labelled = [](const Block* x) {
      const auto* p = x ? std::get_if<Paragraph>(&x->what) : nullptr;
      return p && !p->label.empty();
    };
    if (before && indent == 0 && !(labelled(before) && labelled(&b))) out += "\n";
    std::visit(Writer{indent, labels, out}, b.what);
    before = &b;
  }
}

}  // namespace

std::string to_plain(const Document& d) {
  std::string out;
  if (!d.title.empty()) {
    for (const std::string& l : wrapped(d.title, kWidth)) put(out, 0, l);
    if (!d.blocks.empty()) out += "\n";
  }
  blocks(d.blocks, 0, out);
  return out;
}

}  // namespace muster
