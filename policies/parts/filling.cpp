#include "parts/filling.hpp"

#include <algorithm>

namespace muster {

namespace {

/// Raises the level of `active` until nobody of them rises.
void raise(std::span<const int64_t> capacity, std::span<const Filler> users, std::vector<uint32_t> active, Filled& f) {
  Fraction level = 0;
  while (!active.empty()) {
    // What uses nothing rises to its wish at once; without a wish nothing stops it, and it gets nothing.
    std::vector<Fraction> rate(capacity.size());  // of use, a level
    for (const uint32_t u : active)
      for (size_t r = 0; r < capacity.size(); r++)
        if (users[u].uses[r]) rate[r] += users[u].speed * users[u].uses[r];
    std::optional<Fraction> step;
    const auto limit = [&](const Fraction& s) {
      if (!step || s < *step) step = s;
    };
    for (size_t r = 0; r < capacity.size(); r++)
      if (!rate[r].zero()) limit((Fraction(capacity[r]) - f.used[r]) / rate[r]);
    for (const uint32_t u : active)
      if (users[u].most) limit((*users[u].most - f.units[u]) / users[u].speed);
    if (!step) return;
    level += *step;
    FillRound& round = f.rounds.emplace_back();
    round.level = level;
    for (size_t r = 0; r < capacity.size(); r++) f.used[r] += rate[r] * *step;
    for (size_t r = 0; r < capacity.size(); r++)
      if (!rate[r].zero() && f.used[r] == Fraction(capacity[r])) round.full.push_back(r);
    std::vector<uint32_t> left;
    for (const uint32_t u : active) {
      f.units[u] += users[u].speed * *step;
      if (users[u].most && f.units[u] == *users[u].most) round.satisfied.push_back(u);
      else if (std::any_of(round.full.begin(), round.full.end(), [&](size_t r) { return users[u].uses[r] != 0; }))
        round.stopped.push_back(u);
      else left.push_back(u);
    }
    active.swap(left);
  }
}

}  // namespace

Filled fill(std::span<const int64_t> capacity, std::span<const Filler> users) {
  Filled f;
  f.units.resize(users.size());
  f.used.resize(capacity.size());
  for (const bool last : {false, true}) {
    std::vector<uint32_t> active;
    for (uint32_t u = 0; u < users.size(); u++)
      if (users[u].last == last && !users[u].speed.zero()) active.push_back(u);
    raise(capacity, users, std::move(active), f);
  }
  return f;
}

}  // namespace muster
