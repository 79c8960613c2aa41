#include <algorithm>
#include <vector>

#include "muster/config.hpp"

namespace muster {
namespace {

/// Insertions, deletions, changes and swaps of neighbours (optimal string alignment).
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), now(b.size() + 1);
  for (size_t j = 0; j <= b.size(); j++) last[j] = j;
  for (size_t i = 1; i <= a.size(); i++) {
    now[0] = i;
    for (size_t j = 1; j <= b.size(); j++) {
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) now[j] = std::min(now[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(now);
  }
  return last[b.size()];
}

}  // namespace

std::string nearest_name(std::string_view word, std::span<const std::string_view> known) {
  std::string_view best;
  size_t least = 4;
  for (std::string_view k : known) {
    if (k.size() > word.size() + 3 || word.size() > k.size() + 3) continue;  // also bounds the work for a very long word
    const size_t d = distance(word, k);
    if (d < least && d * 2 < word.size()) least = d, best = k;
  }
  return std::string(best);
}

}  // namespace muster
