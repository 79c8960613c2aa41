#include "workload/numbers.hpp"

#include <array>
#include <cstdio>
#include <string>

namespace muster {
namespace {

using U128 = unsigned __int128;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Exactly `n` digits at the front, taken off.
bool take(std::string_view& s, size_t n, int& out) {
  if (s.size() < n) return false;
  out = 0;
  for (size_t i = 0; i < n; i++) {
    if (!is_digit(s[i])) return false;
    out = out * 10 + (s[i] - '0');
  }
  s.remove_prefix(n);
  return true;
}

bool take(std::string_view& s, char c) {
  if (s.empty() || s[0] != c) return false;
  s.remove_prefix(1);
  return true;
}

/// Days since 1970-01-01 of the Gregorian calendar (H. Hinnant, "chrono-compatible low-level date algorithms").
int64_t days_from_civil(int64_t y, int m, int d) {
  y -= m <= 2;
  const int64_t era = y / 400, yoe = y - era * 400;
  const int64_t doy = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
  return era * 146'097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719'468;
}

}  // namespace

Parsed parse_number(std::string_view s, Scale scale, Rounding rounding, int64_t most, int64_t& out) {
  if (s.empty()) return Parsed::empty;
  bool minus = false;
  if (s[0] == '-' || s[0] == '+') minus = s[0] == '-', s.remove_prefix(1);
  U128 m = 0;         // the first 19 digits
  int64_t shift = 0;  // power of ten
  bool any = false, rest = false, point = false;
  size_t i = 0;
  for (; i < s.size(); i++) {
    if (s[i] == '.' && !point) {
      point = true;
    } else if (is_digit(s[i])) {
      any = true;
      if (m < 1'000'000'000'000'000'000)
        m = m * 10 + U128(s[i] - '0'), shift -= point;
      else
        rest |= s[i] != '0', shift += !point;
    } else {
      break;
    }
  }
  if (!any) return Parsed::not_a_number;
  if (i < s.size() && (s[i] == 'e' || s[i] == 'E')) {
    i++;
    bool negative = false;
    if (i < s.size() && (s[i] == '-' || s[i] == '+')) negative = s[i++] == '-';
    if (i == s.size()) return Parsed::not_a_number;
    int64_t e = 0;
    for (; i < s.size() && is_digit(s[i]); i++)
      if (e < 1'000'000'000) e = e * 10 + (s[i] - '0');
    shift += negative ? -e : e;
  }
  if (i != s.size()) return Parsed::not_a_number;
  if (m == 0) return out = 0, Parsed::ok;
  if (minus) return Parsed::negative;
  if (shift > 19) return Parsed::too_large;
  U128 top = m * U128(scale.num), bottom = U128(scale.den);
  for (; shift > 0; shift--) {
    top *= 10;
    if (top / bottom > U128(most)) return Parsed::too_large;
  }
  for (; shift < 0; shift++) {
    if (bottom > U128(1) << 100) {  // less than a millionth of the smallest amount
      if (rounding == Rounding::exact) return Parsed::not_whole;
      return out = rounding == Rounding::up, Parsed::ok;
    }
    bottom *= 10;
  }
  U128 v = top / bottom;
  const U128 left = top % bottom;
  if (rounding == Rounding::exact && (left != 0 || rest)) return v > U128(most) ? Parsed::too_large : Parsed::not_whole;
  if (rounding == Rounding::up)
    v += left != 0 || rest;
  else if (rounding == Rounding::nearest)
    v += left * 2 >= bottom;
  if (v > U128(most)) return Parsed::too_large;
  out = int64_t(v);
  return Parsed::ok;
}

bool looks_like_date(std::string_view s) {
  int year = 0;
  return take(s, 4, year) && !s.empty() && (s[0] == '-' || s[0] == '/') && s.size() >= 6 && s[3] == s[0];
}

bool parse_date(std::string_view s, Time& out) {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
  if (!take(s, 4, year) || s.empty()) return false;
  const char between = s[0];
  if (between != '-' && between != '/') return false;
  if (!take(s, between) || !take(s, 2, month) || !take(s, between) || !take(s, 2, day)) return false;
  constexpr std::array<int, 12> kDays{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  if (year < 1970 || month < 1 || month > 12 || day < 1 || day > kDays[size_t(month - 1)] + (month == 2 && leap)) return false;
  int64_t micros = 0, offset = 0;
  if (take(s, 'T') || take(s, ' ')) {
    if (!take(s, 2, hour) || !take(s, ':') || !take(s, 2, minute)) return false;
    if (take(s, ':') && !take(s, 2, second)) return false;
    if (hour > 23 || minute > 59 || second > 59) return false;
    if (take(s, '.')) {
      size_t n = 0;
      for (int64_t unit = 100'000; n < s.size() && is_digit(s[n]); n++, unit /= 10) micros += unit * (s[n] - '0');
      if (n == 0) return false;
      s.remove_prefix(n);
    }
    s = trim(s);
    if (s == "Z" || s == "z" || s == "UTC" || s == "GMT") {
      s = {};
    } else if (!s.empty() && (s[0] == '+' || s[0] == '-')) {
      const bool west = s[0] == '-';
      int hours = 0, minutes = 0;
      s.remove_prefix(1);
      if (!take(s, 2, hours)) return false;
      take(s, ':');
      if (!s.empty() && !take(s, 2, minutes)) return false;
      if (hours > 15 || minutes > 59) return false;
      offset = (hours * 60 + minutes) * (west ? -60 : 60);
    }
  }
  if (!s.empty()) return false;
  const int64_t seconds = days_from_civil(year, month, day) * 86'400 + hour * 3600 + minute * 60 + second - offset;
  if (seconds < 0) return false;
  out = seconds * kSecond + micros;
  return true;
}

std::string format_date(Time t) {
  const int64_t seconds = t / kSecond, z = seconds / 86'400 + 719'468, rest = seconds % 86'400;
  const int64_t era = z / 146'097, doe = z - era * 146'097;
  const int64_t yoe = (doe - doe / 1460 + doe / 36'524 - doe / 146'096) / 365;
  const int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100), mp = (5 * doy + 2) / 153;
  const int day = int(doy - (153 * mp + 2) / 5 + 1), month = int(mp < 10 ? mp + 3 : mp - 9);
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02d-%02d %02d:%02d:%02d", int(yoe + era * 400 + (month <= 2)), month, day, int(rest / 3600),
                int(rest / 60 % 60), int(rest % 60));
  return text.data();
}

}  // namespace muster
