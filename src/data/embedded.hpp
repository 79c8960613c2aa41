// Files of the source tree that are compiled in (cmake/embed.cmake).
#pragma once
#include <span>
#include <string_view>

namespace muster::embedded {

struct File {
  std::string_view name;  ///< without folder and ending
  std::string_view text;
};

std::span<const File> topologies();  ///< topologies/*.json
std::span<const File> traces();      ///< traces/*.csv

}  // namespace muster::embedded
