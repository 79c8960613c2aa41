// Max-min fairness by progressive filling, over any number of resources.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "parts/fraction.hpp"

namespace muster {

/// Who shares. What it gets is a number x of units; the level rises for all at once and x = speed x level until it stops.
struct Filler {
  std::vector<int64_t> uses;     ///< of each resource, by one unit
  Fraction speed = 1;            ///< units a level; with weights: in proportion to them
  std::optional<Fraction> most;  ///< units it wants; none: without end
  bool last = false;             ///< weight 0: served from what the others left
};

/// One step of the filling: the level at which somebody stops.
struct FillRound {
  Fraction level;
  std::vector<uint32_t> satisfied;  ///< have what they want
  std::vector<size_t> full;         ///< resources that are used up
  std::vector<uint32_t> stopped;    ///< use one of those
};

struct Filled {
  std::vector<Fraction> units;  ///< by user
  std::vector<Fraction> used;   ///< by resource
  std::vector<FillRound> rounds;
};

/// Progressive filling (Bertsekas and Gallager, Data Networks, 6.5.2; for dominant shares Ghodsi et al., NSDI 2011): all rise together; who
/// has what it wants, or uses a resource that is used up, stops; the others go on. With one resource it is max-min fairness, with uses and
/// speeds so that a level is a dominant share it is DRF for divisible tasks, with links as resources it is the fair rate of flows. Users
/// marked `last` begin when all others have stopped, at their own speeds. Exact.
Filled fill(std::span<const int64_t> capacity, std::span<const Filler> users);

}  // namespace muster
