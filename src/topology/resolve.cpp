#include "topology/resolve.hpp"

#include <algorithm>

#include "data/embedded.hpp"
#include "muster/config.hpp"
#include "text/numbers.hpp"
#include "topology/json.hpp"

namespace muster {

std::optional<std::string_view> shipped_topology(std::string_view name) {
  for (const auto& f : embedded::topologies())
    if (f.name == name) return f.text;
  return {};
}

std::vector<std::string_view> shipped_topologies() {
  std::vector<std::string_view> names;
  for (const auto& f : embedded::topologies()) names.push_back(f.name);
  std::sort(names.begin(), names.end());
  return names;
}

Topology resolve_topology(std::string_view x, const std::function<std::string(const std::string& path)>& read_file) {
  if (x == "-" || x.find('/') != x.npos || x.ends_with(".json")) {
    const std::string path(x);
    return topology_from_json(read_file(path), x == "-" ? "stdin" : path);
  }
  if (x.find(':') != x.npos) return Topology::parse_line(x);
  if (const auto text = shipped_topology(x)) return topology_from_json(*text, x);
  std::string message = "no topology is called " + std::string(x.empty() ? "\"\"" : x);
  if (const std::string near = nearest_name(x, shipped_topologies()); !near.empty())
    throw InputError(message + "; did you mean " + near + "?");
  message += "; want a file, a line such as \"node:4 gpu:8\", or one of";
  for (std::string_view n : shipped_topologies()) message += (message.ends_with("of") ? " " : ", ") + std::string(n);
  throw InputError(message);
}

}  // namespace muster
