// Named numbers.
#pragma once
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "muster/types.hpp"

namespace muster {

enum class Better : uint8_t { none, lower, higher };

/// One number of a report. NaN stands for null: not defined for this run.
struct Metric {
  std::string name;  ///< fixed: docs/metrics.md
  double value = std::numeric_limits<double>::quiet_NaN();
  std::string unit;  ///< "s", "1" (a share), "jobs", ...
  Better better = Better::none;
};

/// Named numbers with unit and better-direction, in a fixed order.
struct Report {
  std::vector<Metric> metrics;
  void add(std::string name, double value, std::string unit, Better better = Better::none) { metrics.push_back({std::move(name), value, std::move(unit), better}); }
  const Metric* find(std::string_view name) const {
    for (const Metric& m : metrics)
      if (m.name == name) return &m;
    return nullptr;
  }
};

}  // namespace muster
