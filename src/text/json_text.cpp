#include "text/json_text.hpp"

#include <charconv>
#include <cmath>

namespace muster {
namespace {

// Length of the UTF-8 sequence at the front of `s`, or 0 when there is none (overlong forms and surrogates are none).
size_t sequence(std::string_view s) {
  const auto byte = [&](size_t i) { return i < s.size() ? static_cast<unsigned char>(s[i]) : 0u; };
  const auto more = [&](size_t i) { return (byte(i) & 0xC0) == 0x80; };
  const unsigned a = byte(0), b = byte(1);
  if (a < 0x80) return 1;
  if (a >= 0xC2 && a <= 0xDF) return more(1) ? 2 : 0;
  if ((a & 0xF0) == 0xE0) return more(1) && more(2) && !(a == 0xE0 && b < 0xA0) && !(a == 0xED && b > 0x9F) ? 3 : 0;
  if (a >= 0xF0 && a <= 0xF4) return more(1) && more(2) && more(3) && !(a == 0xF0 && b < 0x90) && !(a == 0xF4 && b > 0x8F) ? 4 : 0;
  return 0;
}

void append_escape(std::string& out, unsigned code) {
  static constexpr char kHex[] = "0123456789abcdef";
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out.push_back(kHex[code >> shift & 15]);
}

}  // namespace

size_t utf8_prefix(std::string_view s) {
  size_t at = 0;
  while (at < s.size()) {
    const size_t n = sequence(s.substr(at));
    if (n == 0) break;
    at += n;
  }
  return at;
}

void append_int(std::string& out, int64_t v) {
  char digits[24];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, v).ptr);
}

void append_int(std::string& out, Int128 v) {
  if (v == Int128(int64_t(v))) return append_int(out, int64_t(v));
  char digits[48];
  char* p = digits + sizeof digits;
  const bool negative = v < 0;
  for (; v != 0; v /= 10) *--p = char('0' + (negative ? -int(v % 10) : int(v % 10)));
  if (negative) *--p = '-';
  out.append(p, digits + sizeof digits);
}

void append_number(std::string& out, double v) {
  if (!std::isfinite(v)) {
    out += "null";
  } else if (v == std::floor(v) && std::abs(v) < 9007199254740992.0) {
    append_int(out, int64_t(v));
  } else {
    char digits[32];
    out.append(digits, std::to_chars(digits, digits + sizeof digits, v).ptr);
  }
}

void append_string(std::string& out, std::string_view s, BadBytes bad) {
  out.push_back('"');
  while (!s.empty()) {
    const auto c = static_cast<unsigned char>(s[0]);
    const size_t n = sequence(s);
    if (n == 0) {
      append_escape(out, bad == BadBytes::keep ? 0xDC00u + c : 0xFFFDu);
    } else if (c == '"' || c == '\\') {
      out.push_back('\\'), out.push_back(char(c));
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c < 0x20 || c == 0x7F) {
      append_escape(out, c);
    } else {
      out.append(s.substr(0, n));
    }
    s.remove_prefix(n ? n : 1);
  }
  out.push_back('"');
}

void append_seconds(std::string& out, Duration ticks) {
  Int128 t = ticks;
  if (t < 0) out.push_back('-'), t = -t;
  append_int(out, t / kSecond);
  auto rest = int64_t(t % kSecond);
  if (rest == 0) return;
  out.push_back('.');
  for (int64_t unit = kSecond / 10; rest != 0; unit /= 10) out.push_back(char('0' + rest / unit)), rest %= unit;
}

void append_gpus(std::string& out, int64_t milli) { append_seconds(out, milli * (kSecond / kMilli)); }

}  // namespace muster
