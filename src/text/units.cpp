// Durations as people write them.
#include <array>

#include "muster/config.hpp"
#include "text/numbers.hpp"

namespace muster {
namespace {

constexpr Duration kMinute = 60 * kSecond, kHour = 60 * kMinute, kDay = 24 * kHour;

struct Unit {
  std::string_view name;
  Duration ticks;
};
constexpr Unit kUnits[] = {{"us", 1},           {"ms", 1000},         {"s", kSecond}, {"sec", kSecond},
                           {"second", kSecond}, {"seconds", kSecond}, {"m", kMinute}, {"min", kMinute},
                           {"minute", kMinute}, {"minutes", kMinute}, {"h", kHour},   {"hour", kHour},
                           {"hours", kHour},    {"d", kDay},          {"day", kDay},  {"days", kDay}};

[[noreturn]] void refuse(std::string_view text) {
  throw InputError("want a duration such as 90s, 1h30m or 2-01:00:00, not negative and below 292,000 years, found " + in_quotes(text));
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// [D-]H:M:S, D-H:M, D-H, and M:S, as Slurm writes them; the seconds may have a fraction.
Duration clock(std::string_view text) {
  Int128 total = 0;
  std::string_view rest = text;
  const size_t dash = text.find('-');
  if (dash != text.npos) {
    const auto days = whole_number(text.substr(0, dash));
    if (!days || !is_digit(text[0])) refuse(text);
    total = Int128(*days) * kDay;
    rest = text.substr(dash + 1);
  }
  std::array<std::string_view, 3> part;
  size_t parts = 0;
  for (bool more = true; more; parts++) {
    if (parts == 3) refuse(text);
    const size_t colon = rest.find(':');
    more = colon != rest.npos;
    part[parts] = rest.substr(0, colon);
    if (more) rest.remove_prefix(colon + 1);
  }
  // After a day the first part is hours; without one the last part is seconds.
  const size_t first = dash != text.npos ? 0 : 3 - parts;
  constexpr Duration kScale[] = {kHour, kMinute, kSecond};
  for (size_t i = 0; i < parts; i++) {
    const bool last = i + 1 == parts;
    if (part[i].empty() || !is_digit(part[i][0]) || part[i].find_first_of("eE") != part[i].npos ||
        (!last && part[i].find('.') != part[i].npos))
      refuse(text);
    const auto ticks = scaled_decimal(part[i], kScale[first + i], Round::nearest);
    if (!ticks) refuse(text);
    if (first + i > 0 && (i > 0 || dash != text.npos) && *ticks >= 60 * kScale[first + i]) refuse(text);
    total += *ticks;
  }
  if (total >= kNever) refuse(text);
  return Duration(total);
}

}  // namespace

Duration parse_duration(std::string_view text, Duration unit) {
  std::string_view s = text;
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t')) s.remove_suffix(1);
  if (s.empty() || s[0] == '-') refuse(text);
  if (const auto bare = scaled_decimal(s, unit, Round::nearest)) {
    if (*bare < 0 || *bare == kNever) refuse(text);
    return *bare;
  }
  if (s.find_first_of(":-") != s.npos) return clock(s);
  Int128 total = 0;
  Duration above = kNever;  // units fall, so that 1m30h is seen as the slip it is
  while (!s.empty()) {
    size_t n = 0;
    while (n < s.size() && (is_digit(s[n]) || s[n] == '.')) n++;
    const std::string_view number = s.substr(0, n);
    s.remove_prefix(n);
    while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
    n = 0;
    while (n < s.size() && s[n] >= 'a' && s[n] <= 'z') n++;
    Duration ticks = 0;
    for (const Unit& u : kUnits)
      if (u.name == s.substr(0, n)) ticks = u.ticks;
    s.remove_prefix(n);
    while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
    const auto amount = ticks ? scaled_decimal(number, ticks, Round::nearest) : std::nullopt;
    if (!amount || ticks >= above) refuse(text);
    above = ticks;
    total += *amount;
    if (total >= kNever) refuse(text);
  }
  return Duration(total);
}

std::string format_duration(Duration d) {
  if (d == kNever) return "never";
  if (d < 0) return "-" + format_duration(d == std::numeric_limits<Duration>::min() ? kNever - 1 : -d);
  struct Step {
    Duration ticks;
    const char* name;
  };
  constexpr Step kSteps[] = {{kDay, "d"}, {kHour, "h"}, {kMinute, "m"}, {kSecond, "s"}};
  for (size_t i = 0; i < 3; i++) {
    if (d < kSteps[i].ticks) continue;
    const Duration rest = d % kSteps[i].ticks / kSteps[i + 1].ticks;
    std::string s = std::to_string(d / kSteps[i].ticks) + kSteps[i].name;
    if (rest) s += (rest < 10 ? " 0" : " ") + std::to_string(rest) + kSteps[i + 1].name;
    return s;
  }
  if (d == 0) return "0s";
  if (d < 1000) return std::to_string(d) + "us";
  if (d < kSecond) return std::to_string(d / 1000) + "ms";
  std::string s = std::to_string(d / kSecond);
  if (const Duration ms = d % kSecond / 1000) {
    std::string digits = std::to_string(1000 + ms).substr(1);
    while (digits.back() == '0') digits.pop_back();
    s += "." + digits;
  }
  return s + "s";
}

}  // namespace muster
