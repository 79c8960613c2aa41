// Descriptions of real machines and clusters, read into topologies. docs/import.md says what each reader takes from where.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "muster/topology.hpp"

namespace muster {

/// A file as it was read; `file` is for messages.
struct ImportSource {
  std::string_view file, text;
};

/// A topology and what a reader wants said about it: what was inferred, left out or renumbered. A note is one line.
struct Imported {
  TopologySpec spec;
  std::vector<std::string> notes;
};

/// Finds out what the files are (by content; one file, or several of Slurm's) and reads them. Throws InputError for what no reader knows
/// and for what its reader refuses.
Imported import_topology(std::span<const ImportSource> sources);

}  // namespace muster
