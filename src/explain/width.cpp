#include "explain/width.hpp"

#include <utf8proc.h>

#include <algorithm>

namespace muster {
namespace {

struct Character {
  size_t bytes;
  size_t columns;
  bool wide;
  bool closes;  ///< never first on a line
};

Character first_of(std::string_view s) {
  utf8proc_int32_t code = 0;
  const auto n = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(s.data()), utf8proc_ssize_t(s.size()), &code);
  if (n <= 0 || code < 0) return {1, 1, false, false};
  const int width = code == '\t' ? 1 : utf8proc_charwidth(code);
  const auto category = utf8proc_category(code);
  return {size_t(n), size_t(std::max(width, 0)), width == 2, category == UTF8PROC_CATEGORY_PE || category == UTF8PROC_CATEGORY_PF || category == UTF8PROC_CATEGORY_PO};
}

/// Calls `piece(text, blank)` for each word and each run of blanks of a line; a wide character is a word, with what closes behind it.
template <class F> void pieces_of(std::string_view line, F piece) {
  while (!line.empty()) {
    size_t n = 0;
    if (line[0] == ' ') {
      while (n < line.size() && line[n] == ' ') n++;
      piece(line.substr(0, n), true);
    } else {
      for (bool wide = false; n < line.size() && line[n] != ' ';) {
        const Character c = first_of(line.substr(n));
        if (n > 0 && c.columns > 0 && !(c.wide && c.closes) && (c.wide || wide)) break;
        wide = c.wide || (wide && c.columns == 0);
        n += c.bytes;
      }
      piece(line.substr(0, n), false);
    }
    line.remove_prefix(n);
  }
}

}  // namespace

size_t columns_of(std::string_view s) {
  size_t columns = 0;
  while (!s.empty()) {
    const Character c = first_of(s);
    columns += c.columns;
    s.remove_prefix(c.bytes);
  }
  return columns;
}

std::string padded_to(std::string s, size_t columns) {
  const size_t has = columns_of(s);
  if (has < columns) s.append(columns - has, ' ');
  return s;
}

std::vector<std::string> wrapped(std::string_view text, size_t columns) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t newline = std::min(text.find('\n'), text.size());
    std::string line;
    std::string_view blanks;
    size_t has = 0;
    pieces_of(text.substr(0, newline), [&](std::string_view piece, bool blank) {
      if (blank) {
        blanks = piece;
        if (line.empty() && (lines.empty() || has == 0)) line = piece, has = piece.size(), blanks = {};
        return;
      }
      const size_t width = columns_of(piece);
      if (has > 0 && has + blanks.size() + width > columns && line.find_first_not_of(' ') != std::string::npos) {
        lines.push_back(std::move(line));
        line.clear(), has = 0;
      } else {
        line += blanks, has += blanks.size();
      }
      line += piece, has += width, blanks = {};
    });
    line.erase(line.find_last_not_of(' ') + 1);
    lines.push_back(std::move(line));
    text.remove_prefix(std::min(newline + 1, text.size()));
  }
  if (lines.empty()) lines.emplace_back();
  return lines;
}

size_t widest_word(std::string_view s) {
  size_t most = 0;
  while (true) {
    const size_t newline = std::min(s.find('\n'), s.size());
    pieces_of(s.substr(0, newline), [&](std::string_view piece, bool blank) { most = blank ? most : std::max(most, columns_of(piece)); });
    if (newline == s.size()) return most;
    s.remove_prefix(newline + 1);
  }
}

}  // namespace muster
