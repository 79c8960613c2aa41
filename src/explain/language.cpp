#include "explain/language.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace muster {
namespace {

constexpr size_t kParts = 9;
struct Match {
  std::array<std::string_view, kParts> parts;
  size_t count = 0;
};

/// Whether `s` is `pattern`; each part is as short as it can be, and not empty.
bool matches(std::string_view s, std::string_view pattern, Match& m) {
  const size_t hole = pattern.find("{}");
  if (hole == std::string_view::npos) return s == pattern;
  if (s.substr(0, hole) != pattern.substr(0, hole) || m.count == kParts) return false;
  s.remove_prefix(hole);
  pattern.remove_prefix(hole + 2);
  const size_t next = std::min(pattern.find("{}"), pattern.size());
  const std::string_view until = pattern.substr(0, next);
  if (next == pattern.size()) {  // the last one takes what is left
    if (s.size() <= until.size() || s.substr(s.size() - until.size()) != until) return false;
    m.parts[m.count++] = s.substr(0, s.size() - until.size());
    return true;
  }
  for (size_t at = s.find(until, 1); at != std::string_view::npos; at = s.find(until, at + 1)) {
    Match more = m;
    more.parts[more.count++] = s.substr(0, at);
    if (!matches(s.substr(at), pattern, more)) continue;
    m = more;
    return true;
  }
  return false;
}

class Translator {
 public:
  explicit Translator(const Language& to) : to_(to) {}

  std::string operator()(std::string_view s) const {
    std::string out;
    return phrase(s, out) ? out : std::string(s);
  }

 private:
  /// False: nothing in it is a phrase.
  bool phrase(std::string_view s, std::string& out) const {
    for (const Phrase& p : to_.phrases)
      if (p.english == s) return out = p.other, true;
    if (list(s, "\n", "\n", out) || sentences(s, out)) return true;
    // A phrase binds what it names itself; else the widest separator divides.
    static constexpr std::pair<std::string_view, std::string_view> kSeparators[] = {{"; ", "；"}, {": ", "："}, {", ", "，"}, {" and ", "、"}};
    for (const auto& [separator, other] : kSeparators)
      if (filled(s, separator, out) || list(s, separator, other, out)) return true;
    return filled(s, "", out);
  }

  /// A phrase with parts that has `separator` in it.
  bool filled(std::string_view s, std::string_view separator, std::string& out) const {
    if (s.find(separator) == std::string_view::npos) return false;
    for (const Phrase& p : to_.phrases) {
      Match m;
      if (p.english.find("{}") == std::string_view::npos || p.english.find(separator) == std::string_view::npos || !matches(s, p.english, m)) continue;
      out.clear();
      for (size_t i = 0; i < p.other.size(); i++) {
        if (p.other[i] != '{') out += p.other[i];
        else out += (*this)(m.parts[size_t(p.other[i + 1] - '1')]), i += 2;
      }
      return true;
    }
    return false;
  }

  /// Parts between `separator`, if one of them is a phrase.
  bool list(std::string_view s, std::string_view separator, std::string_view other, std::string& out) const {
    if (s.find(separator) == std::string_view::npos) return false;
    bool any = false;
    out.clear();
    while (true) {
      const size_t end = std::min(s.find(separator), s.size());
      std::string part;
      const bool is = phrase(s.substr(0, end), part);
      any |= is;
      out += is ? part : std::string(s.substr(0, end));
      if (end == s.size()) return any;
      out += other;
      s.remove_prefix(end + separator.size());
    }
  }

  bool sentences(std::string_view s, std::string& out) const {
    if (s.find(". ") == std::string_view::npos) return false;
    std::string all;
    bool any = false;
    while (!s.empty()) {
      const size_t stop = s.find(". ");
      const size_t end = stop == std::string_view::npos ? s.size() : stop + 1;
      std::string one;
      const bool is = phrase(s.substr(0, end), one);
      any |= is;
      all += is ? one : std::string(s.substr(0, end)) + (end < s.size() ? " " : "");
      s.remove_prefix(std::min(end + 1, s.size()));
    }
    out = std::move(all);
    return any;
  }

  const Language& to_;
};

void translate(std::vector<Block>& blocks, const Translator& t);

void translate(Tree::Node& n, const Translator& t) {
  n.label = t(n.label), n.note = t(n.note);
  for (Tree::Node& part : n.parts) translate(part, t);
}

void translate(std::vector<Block>& blocks, const Translator& t) {
  for (Block& b : blocks) {
    if (auto* p = std::get_if<Paragraph>(&b.what)) {
      p->label = t(p->label), p->text = t(p->text);
    } else if (auto* table = std::get_if<TableBlock>(&b.what)) {
      for (auto& c : table->columns) c.head = t(c.head);
      for (auto& row : table->rows)
        for (std::string& cell : row) cell = t(cell);
    } else if (auto* bars = std::get_if<Bars>(&b.what)) {
      for (auto& row : bars->rows) row.note = t(row.note);
    } else if (auto* tree = std::get_if<Tree>(&b.what)) {
      for (Tree::Node& n : tree->roots) translate(n, t);
    } else if (auto* steps = std::get_if<Steps>(&b.what)) {
      for (auto& step : steps->steps) {
        step.title = t(step.title), step.aside = t(step.aside);
        translate(step.blocks, t);
      }
    }
  }
}

}  // namespace

std::string translated(std::string_view text, const Language& to) { return Translator(to)(text); }

Document translated(Document d, const Language& to) {
  const Translator t(to);
  d.language = to.name;
  d.title = t(d.title);
  translate(d.blocks, t);
  return d;
}

}  // namespace muster
