// A row of a table by its name.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "muster/config.hpp"

namespace muster::cli {

/// The row of a table that has this name. Throws InputError with the nearest one.
template <class Row> const Row& chosen(std::span<const Row> all, std::string_view name, std::string_view what) {
  std::vector<std::string_view> known;
  std::string list;
  for (const Row& r : all) {
    if (r.name == name) return r;
    known.push_back(r.name);
    list += (list.empty() ? "" : ", ") + std::string(r.name);
  }
  const std::string near = nearest_name(name, known);
  throw InputError("no " + std::string(what) + " is called " + std::string(name) + (near.empty() ? "" : "; did you mean " + near + "?") +
                   " (" + list + ")");
}

}  // namespace muster::cli
