#include "text/numbers.hpp"

#include <charconv>
#include <limits>

#include "muster/types.hpp"

namespace muster {

std::optional<int64_t> whole_number(std::string_view text) {
  int64_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc{} || end != text.data() + text.size()) return {};
  return n;
}

std::optional<int64_t> scaled_decimal(std::string_view text, int64_t scale, Round round) {
  const bool minus = !text.empty() && text[0] == '-';
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  int64_t exponent = 0;
  if (const size_t e = text.find_first_of("eE"); e != text.npos) {
    std::string_view power = text.substr(e + 1);
    if (power.starts_with('+')) power.remove_prefix(1), power = power.starts_with('-') ? std::string_view{} : power;
    const auto n = whole_number(power);
    if (!n || *n < -1000 || *n > 1000) return {};
    exponent = *n;
    text = text.substr(0, e);
  }
  // value = digits * 10^exponent; digits past the 18th significant one only tell whether something is left.
  constexpr Int128 kMost = std::numeric_limits<int64_t>::max();
  Int128 digits = 0;
  bool point = false, any = false, rest = false;
  for (char c : text) {
    if (c == '.' && !point) {
      point = true;
      continue;
    }
    if (c < '0' || c > '9') return {};
    any = true;
    if (digits <= kMost / 10) {
      digits = digits * 10 + (c - '0');
      exponent -= point;
    } else {
      rest |= c != '0';
      exponent += !point;
    }
  }
  if (!any) return {};
  if (digits == 0 && !rest) return 0;
  Int128 value = digits * scale;  // digits stay below 2^63 + 10
  for (; exponent > 0; exponent--) {
    if (value > kMost) return {};
    value *= 10;
  }
  bool half = false, left = rest;  // of what the divisions left: at least a half; anything
  for (; exponent < 0; exponent++) {
    const int digit = int(value % 10);
    value /= 10;
    half = digit >= 5;
    left |= digit != 0;
  }
  if (round == Round::nearest) value += half;
  if (left && ((round == Round::up && !minus) || (round == Round::down && minus))) value++;
  if (value > kMost) return {};
  return minus ? -int64_t(value) : int64_t(value);
}

std::string with_commas(int64_t n) {
  std::string s = std::to_string(n);
  for (size_t i = s.size(); i > 3 + (s[0] == '-');) s.insert(i -= 3, ",");
  return s;
}

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (char c : text.substr(0, 60)) {
    if (static_cast<unsigned char>(c) < 32 || c == 127) out += c == '\n' ? "\\n" : c == '\t' ? "\\t" : c == '\r' ? "\\r" : "?";
    else out += c;
  }
  if (text.size() > 60) out += "...";
  return out + '"';
}

std::string one_line(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7f) out += c;
    else out += "\\x", out += kDigits[byte >> 4U], out += kDigits[byte & 15U];
  }
  return out;
}

bool is_version(std::string_view s) {
  size_t digits = 0;
  for (const char c : s) {
    if (c == '.' ? digits == 0 : c < '0' || c > '9' || digits == 9) return false;
    digits = c == '.' ? 0 : digits + 1;
  }
  return digits > 0;
}

}  // namespace muster
