// Text of a field to integers.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "muster/types.hpp"

namespace muster {

enum class Parsed : uint8_t { ok, empty, not_a_number, negative, too_large, not_whole };

/// How much one unit of a field is in the unit that it is kept in: numerator / denominator.
struct Scale {
  int64_t num = 1, den = 1;
  friend bool operator==(const Scale&, const Scale&) = default;
};
enum class Rounding : uint8_t { nearest, up, exact };  ///< exact: a fraction is refused

/// A decimal number ("12", "10.5", "1e3"), exactly: times `scale`, rounded, at least 0 and at most `most`. No blanks around it.
Parsed parse_number(std::string_view text, Scale scale, Rounding rounding, int64_t most, int64_t& out);

/// Whether it looks like a date ("2020-..."); parse_date says whether it is one.
bool looks_like_date(std::string_view text);
/// "2020-06-01 00:00:05", "2020-06-01T00:00:05.25+08:00", "2020/06/01 00:00", "2020-06-01", ending in Z or UTC: microseconds since 1970
/// in UTC. Without a zone it is taken as UTC. Years 1970 to 9999; a day that does not exist, 24:00 and leap seconds are refused.
bool parse_date(std::string_view text, Time& out);
/// "2020-06-01 00:00:05" in UTC.
std::string format_date(Time t);

inline std::string_view trim(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t')) s.remove_suffix(1);
  return s;
}

/// A whole number of at most 18 digits and nothing else: the common field, read without a look at anything rarer.
inline bool parse_plain(std::string_view s, int64_t& out) {
  if (s.size() - 1 >= 18) return false;
  int64_t v = 0;
  for (const char c : s) {
    const unsigned d = unsigned(uint8_t(c)) - '0';
    if (d > 9) return false;
    v = v * 10 + int64_t(d);
  }
  out = v;
  return true;
}

}  // namespace muster
