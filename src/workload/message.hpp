// Words of a file inside a message.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace muster {

/// Fit for one line of a terminal: control characters as \xNN, at most 60 bytes.
inline std::string printable(std::string_view s) {
  constexpr size_t kLongest = 60;
  constexpr std::string_view kDigits = "0123456789abcdef";
  const bool cut = s.size() > kLongest;
  if (cut) {
    size_t n = kLongest;
    while (n > kLongest - 4 && (uint8_t(s[n]) & 0xc0U) == 0x80U) n--;  // not inside a UTF-8 character
    s = s.substr(0, n);
  }
  std::string out;
  for (const char c : s) {
    if (uint8_t(c) >= 0x20 && c != 0x7f)
      out += c;
    else
      out += "\\x", out += kDigits[uint8_t(c) >> 4], out += kDigits[uint8_t(c) & 15U];
  }
  return cut ? out + "..." : out;
}

inline std::string quoted(std::string_view s) { return '"' + printable(s) + '"'; }

}  // namespace muster
