// What --model and a scenario's "model" name.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/inputs.hpp"
#include "model/table.hpp"

namespace muster::cli {

/// A row of the table of models, the parameters given to it, and the files that were read for it.
struct ChosenModel {
  const ModelInfo* info = nullptr;
  Config given;        ///< an object
  Input input;         ///< as the user named it; the bytes of its file and of its table, if any, one after the other
  std::string table;
  /// For the header of a run.
  std::string provenance() const { return input.text.empty() ? input.name : input.provenance(); }
  std::unique_ptr<Model> make(const Topology& t, const Workload& w, std::vector<std::string>& notes) const;
};

/// "levels", "levels:node=2,cluster=8", or a JSON file ({"model": "levels", "node": 2}). Throws InputError.
ChosenModel choose_model(std::string_view x);
/// From a name, such a text, or such an object standing in `file`; a table is looked for beside the file.
ChosenModel choose_model(const Config& c, const std::string& file);

}  // namespace muster::cli
