// A comparison as people and machines read it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/gate.hpp"
#include "text/numbers.hpp"

namespace muster {
namespace {

/// At most six digits that mean something, and no column wider than ten.
std::string number(double x) {
  if (std::isnan(x)) return "-";
  const double size = std::abs(x);
  if (size >= 1e9 || (size > 0 && size < 1e-4)) return fmt::format("{:.3e}", x);
  if (size == std::floor(size) && size < 1e7) return fmt::format("{:.0f}", x);
  return fmt::format("{:.{}f}", x, size >= 1e6 ? 0 : size >= 100 ? 1 : 4);
}

std::string percent(double share) {
  if (std::abs(share) >= 1e6) return fmt::format("{:+.3e} %", 100 * share);
  if (std::abs(share) >= 10) return fmt::format("{:+.0f} %", 100 * share);
  // A change too small for the column is still a change.
  if (share != 0 && std::abs(share) < 0.00005) return share > 0 ? "<+0.01 %" : "<-0.01 %";
  return fmt::format("{:+.2f} %", 100 * share);
}

std::string change(const Row& r) {
  using V = Row::Verdict;
  if (r.verdict == V::fresh) return "new";
  if (r.verdict == V::gone || r.verdict == V::missing) return "missing";
  if (std::isnan(r.base) && std::isnan(r.now)) return "null";
  if (std::isnan(r.base)) return "was null";
  if (std::isnan(r.now)) return "is null";
  if (r.base == r.now) return "0";
  if (std::isnan(r.change)) return (r.now > r.base ? "+" : "") + number(r.now - r.base);
  return percent(r.change);
}

/// Of several seeds: how far the change may be from what was seen.
std::string interval(const Row& r) {
  if (!r.interval) return "-";
  if (r.low == 0 && r.high == 0) return "0";
  if (r.base == 0) return fmt::format("{:.5g}..{:.5g}", r.low, r.high);
  const double low = 100 * r.low / std::abs(r.base), high = 100 * r.high / std::abs(r.base);
  const auto digits = [](double x) { return std::abs(x) < 10 ? 2 : std::abs(x) < 100 ? 1 : 0; };
  return fmt::format("{:+.{}f}..{:+.{}f}", low, digits(low), high, digits(high));
}

std::string bound(const Row& r) {
  if (!r.bound) return "-";
  const Better better = r.bound->better != Better::none ? r.bound->better : r.better;
  const char* sign = r.bound->both_directions ? "+-" : better == Better::higher ? "-" : "+";
  return sign + r.bound->text;
}

const char* verdict(Row::Verdict v) {
  using V = Row::Verdict;
  switch (v) {
    case V::ok: return "ok";
    case V::unsure: return "unsure";
    case V::worse: return "worse";
    case V::moved: return "moved";
    case V::missing: return "missing";
    case V::undefined: return "null";
    case V::ungated:
    case V::fresh:
    case V::gone: return "not gated";
  }
  return "";
}

/// What deserves a line: all that is gated, and whatever else changed.
bool shown(const Row& r) { return r.bound || r.verdict != Row::Verdict::ungated || r.differs(); }

std::vector<std::string> cells(const Comparison& c, const Row& r) {
  std::vector<std::string> v{one_line(r.metric), number(r.base), number(r.now), change(r)};
  if (c.pairs > 1) v[2] = change(r), v[3] = interval(r);
  if (c.gated) v.push_back(bound(r)), v.emplace_back(verdict(r.verdict));
  return v;
}

std::vector<std::string> heads(const Comparison& c) {
  std::vector<std::string> v{"metric", "base", "new", "change"};
  if (c.pairs > 1) v[2] = "change", v[3] = "interval";
  if (c.gated) v.emplace_back("bound"), v.emplace_back("");
  return v;
}

std::string plural(std::size_t n, std::string_view word) { return fmt::format("{} {}{}", n, word, n == 1 ? "" : "s"); }

/// The last lines: the verdict, and what was left out above.
std::string summary(const Comparison& c) {
  const auto same = std::size_t(std::count_if(c.rows.begin(), c.rows.end(), [](const Row& r) { return !shown(r); }));
  const auto unsure =
      std::size_t(std::count_if(c.rows.begin(), c.rows.end(), [](const Row& r) { return r.verdict == Row::Verdict::unsure; }));
  std::string s;
  if (same) s += fmt::format("{} not shown: unchanged{}\n", plural(same, "metric"), c.gated ? " and not gated" : "");
  if (unsure)
    s += fmt::format("{} past the bound, but within the noise of {} seeds: more seeds would tell\n", plural(unsure, "metric"), c.pairs);
  if (c.gated) {
    if (c.failures()) s += fmt::format("{} of {} out of bounds\n", c.failures(), plural(c.gated_rows(), "gated metric"));
    else s += fmt::format("{} within bounds\n", plural(c.gated_rows(), "gated metric"));
  }
  return s;
}

/// One failure in one line, the same for JUnit and annotations.
std::string told(const Comparison& c, const Row& r) {
  if (!r.why.empty()) return fmt::format("{}: {}", r.metric, r.why);
  std::string s = fmt::format("{}: {} -> {} ({}), allowed {}", r.metric, number(r.base), number(r.now), change(r), bound(r));
  if (r.interval) s += fmt::format("; {} % interval {}", fmt::format("{:.4g}", 100 * c.confidence), interval(r));
  return s;
}

std::string xml(std::string_view text) {
  std::string s;
  for (const char ch : text) switch (ch) {
      case '<': s += "&lt;"; break;
      case '>': s += "&gt;"; break;
      case '&': s += "&amp;"; break;
      case '"': s += "&quot;"; break;
      case '\n': s += "&#10;"; break;
      // XML 1.0 has no way to write the other control characters.
      default: s += static_cast<unsigned char>(ch) < 0x20 ? '?' : ch;
    }
  return s;
}

std::string markdown(std::string_view text) {
  std::string s;
  for (const char ch : text) {
    if (ch == '|' || ch == '\\' || ch == '`' || ch == '*' || ch == '_' || ch == '<') s += '\\';
    s += ch == '\n' ? ' ' : ch;
  }
  return s;
}

/// GitHub's log reads % and line ends as escapes, and in a title ':' and ',' as well.
std::string escaped(std::string_view text, bool property) {
  std::string s;
  for (const char ch : text)
    if (ch == '%' || ch == '\r' || ch == '\n' || (property && (ch == ':' || ch == ',')))
      s += fmt::format("%{:02X}", static_cast<unsigned char>(ch));
    else s += ch;
  return s;
}

}  // namespace

std::string gate_table(const Comparison& c) {
  std::vector<std::vector<std::string>> lines{heads(c)};
  for (const Row& r : c.rows)
    if (shown(r)) lines.push_back(cells(c, r));
  std::vector<std::size_t> width(lines[0].size());
  for (const auto& line : lines)
    for (std::size_t i = 0; i < line.size(); ++i) width[i] = std::max(width[i], line[i].size());
  std::string s;
  if (c.pairs > 1)
    s += fmt::format("{} against {}, {} seeds in pairs; intervals of {:.4g} %\n", one_line(c.now), one_line(c.base), c.pairs, 100 * c.confidence);
  if (lines.size() == 1) return s + fmt::format("no metric changed ({} compared)\n", c.rows.size()) + (c.gated ? summary(c) : "");
  for (const auto& line : lines) {
    std::string text;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const bool left = i == 0 || (c.gated && i + 1 >= line.size());
      text += left ? fmt::format("{}{:<{}}", i ? "  " : "", line[i], width[i]) : fmt::format("  {:>{}}", line[i], width[i]);
    }
    s += text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
  }
  return s + summary(c);
}

std::string gate_markdown(const Comparison& c) {
  std::string s = fmt::format("**{}** against {}{}\n\n", markdown(c.now), markdown(c.base),
                              c.pairs > 1 ? fmt::format(", {} seeds in pairs", c.pairs) : "");
  const std::vector<std::string> head = heads(c);
  std::string rule;
  for (std::size_t i = 0; i < head.size(); ++i) {
    s += "| " + markdown(head[i]) + " ";
    rule += i == 0 || (c.gated && i + 1 == head.size()) ? "|:---" : "|---:";
  }
  s += "|\n" + rule + "|\n";
  for (const Row& r : c.rows) {
    if (!shown(r)) continue;
    const std::vector<std::string> v = cells(c, r);
    for (std::size_t i = 0; i < v.size(); ++i)
      s += "| " + (r.failed() && i + 1 == v.size() ? "**" + markdown(v[i]) + "**" : markdown(v[i])) + " ";
    s += "|\n";
  }
  return s + "\n" + summary(c);
}

std::string gate_junit(const std::vector<Comparison>& all) {
  std::size_t tests = 0, failures = 0;
  for (const Comparison& c : all) tests += c.gated_rows(), failures += c.failures();
  std::string s = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  s += fmt::format("<testsuites name=\"muster compare\" tests=\"{}\" failures=\"{}\" errors=\"0\">\n", tests, failures);
  for (const Comparison& c : all) {
    s += fmt::format("  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"0\">\n", xml(c.now + " against " + c.base),
                     c.gated_rows(), c.failures());
    for (const Row& r : c.rows) {
      if (!r.bound) continue;
      s += fmt::format("    <testcase classname=\"muster.gate\" name=\"{}\"", xml(r.metric));
      if (r.failed())
        s += fmt::format(">\n      <failure type=\"{}\" message=\"{}\"/>\n    </testcase>\n", verdict(r.verdict), xml(told(c, r)));
      else s += "/>\n";
    }
    s += "  </testsuite>\n";
  }
  return s + "</testsuites>\n";
}

std::string gate_annotations(const Comparison& c) {
  std::string s;
  for (const Row& r : c.rows) {
    if (r.failed())
      s += fmt::format("::error title={}::{}\n", escaped("muster: " + r.metric + " out of bounds", true), escaped(told(c, r), false));
    else if (r.verdict == Row::Verdict::unsure)
      s += fmt::format("::warning title={}::{}\n", escaped("muster: " + r.metric + " within noise", true), escaped(told(c, r), false));
  }
  return s;
}

}  // namespace muster
