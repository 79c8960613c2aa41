#include "topology/import/quantity.hpp"

#include "text/numbers.hpp"

namespace muster::import {

std::optional<Int128> quantity(std::string_view s) {
  static constexpr std::pair<std::string_view, Int128> kSuffixes[] = {
      {"Ki", Int128(1) << 10}, {"Mi", Int128(1) << 20}, {"Gi", Int128(1) << 30},
      {"Ti", Int128(1) << 40}, {"Pi", Int128(1) << 50}, {"k", 1'000},
      {"M", 1'000'000},        {"G", 1'000'000'000},    {"T", 1'000'000'000'000}};
  Int128 factor = 1, divisor = 1;
  if (!s.empty() && s.back() == 'm') divisor = 1000, s.remove_suffix(1);
  else
    for (const auto& [suffix, f] : kSuffixes)
      if (s.size() > suffix.size() && s.substr(s.size() - suffix.size()) == suffix) {
        factor = f, s.remove_suffix(suffix.size());
        break;
      }
  const auto n = scaled_decimal(s, kMilli, Round::down);
  if (!n || *n < 0) return std::nullopt;
  return Int128(*n) * factor / divisor;
}

}  // namespace muster::import
