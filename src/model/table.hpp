// The table of models: how fast a job computes where it is.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "muster/config.hpp"
#include "muster/model.hpp"
#include "muster/topology.hpp"

namespace muster {

/// What a model is made from.
struct ModelInput {
  const Topology& topology;
  const Workload& workload;
  const Config& given;              ///< an object: values for the model's parameters, names checked
  std::string_view table;           ///< contents of the file that the parameter `table` names
  std::vector<std::string>& notes;  ///< for people: what of the workload it has nothing to say about
};

/// A row of the table of models: adding one is one file and one row.
struct ModelInfo {
  std::string name, summary;
  std::vector<Parameter> parameters;
  bool by_level = false;     ///< names of the topology's levels are parameters too, and "cluster" above them
  bool reads_table = false;  ///< its parameter `table` names a file
  std::unique_ptr<Model> (*make)(const ModelInput&) = nullptr;  ///< throws InputError; null: exact textbook arithmetic
};

/// All models, in order of name.
std::span<const ModelInfo> models();

/// The row called `name`. Throws InputError with the nearest one.
const ModelInfo& find_model(std::string_view name, std::string_view where);

/// Refuses names that are no parameters of the model on this topology; makes it.
std::unique_ptr<Model> make_model(const ModelInfo& info, const ModelInput& in);

/// "1.5" of a parameter in millionths, from `least` to `most` of them. `fallback` when it is not given.
int64_t ratio_of(const Config& given, std::string_view name, int64_t fallback, int64_t least, int64_t most);

ModelInfo levels_model();
ModelInfo ring_model();
ModelInfo throughput_model();

}  // namespace muster
