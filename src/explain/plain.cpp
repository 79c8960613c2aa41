// A document as plain text, 80 columns wide.
#include <algorithm>

#include "explain/document.hpp"

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

/// Breaks at spaces; a word longer than the width stays whole. Runs of spaces inside a line are kept.
std::vector<std::string> wrapped(std::string_view text, size_t width) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t newline = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, newline);
    if (newline <= width) {
      text.remove_prefix(std::min(newline + 1, text.size()));
    } else {
      size_t cut = line.rfind(' ', width);
      if (cut == std::string_view::npos || cut == 0) cut = std::min(line.find(' ', width), line.size());
      line = line.substr(0, cut);
      text.remove_prefix(cut);
      while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    }
    while (!line.empty() && line.back() == ' ') line.remove_suffix(1);
    lines.emplace_back(line);
  }
  if (lines.empty()) lines.emplace_back();
  return lines;
}

size_t longest_line(std::string_view s) {
  size_t most = 0;
  while (true) {
    const size_t end = std::min(s.find('\n'), s.size());
    most = std::max(most, end);
    if (end == s.size()) return most;
    s.remove_prefix(end + 1);
  }
}

size_t longest_word(std::string_view s) {
  size_t most = 0, now = 0;
  for (const char c : s) now = c == ' ' || c == '\n' ? 0 : now + 1, most = std::max(most, now);
  return most;
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
        const std::string pad = spaces(width[columns[i]] - std::min(text.size(), width[columns[i]]));
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
      least[c] = std::max(least[c], longest_word(s));
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
    if (p.label.size() > kLabel) {
      for (const std::string& l : wrapped(p.label + ": " + p.text, kWidth - indent)) put(out, indent, l);
      return;
    }
    const size_t left = indent + (labels ? labels + 2 : 0);
    const auto lines = wrapped(p.text, kWidth - (p.label.empty() ? indent : left));
    for (size_t i = 0; i < lines.size(); i++) {
      if (i == 0 && !p.label.empty()) put(out, indent, p.label + spaces(left - indent - p.label.size()) + lines[0]);
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
      if (step.aside.empty() || step.title.size() + step.aside.size() + 2 + indent > kWidth) {
        for (const std::string& l : wrapped(step.title, kWidth - indent)) put(out, indent, l);
        if (!step.aside.empty()) put(out, indent + 2, step.aside);
      } else {
        put(out, indent, step.title + spaces(kWidth - indent - step.title.size() - step.aside.size()) + step.aside);
      }
      blocks(step.blocks, indent + 2, out);
    }
  }
};

void blocks(const std::vector<Block>& all, size_t indent, std::string& out) {
  size_t labels = 0;
  for (const Block& b : all)
    if (const auto* p = std::get_if<Paragraph>(&b.what)) labels = p->label.size() > kLabel ? labels : std::max(labels, p->label.size());
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
