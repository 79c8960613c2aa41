// Measured throughputs, as published tables have them.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "muster/types.hpp"

namespace muster {

/// What a table says of one way to run: key (model, GPU type, GPUs). Names as in the table; types in lower case.
class ThroughputTable {
 public:
  /// Reads Gavel's simulation_throughputs.json (types "v100" and "v100_unconsolidated", keys "('ResNet-18 (batch size 16)', 2)", throughputs
  /// in "null"), or a CSV of step times by placement as Pollux and Sia publish them (placement, local_bsz, step_time; beside these, where
  /// one file has several, model and gpu_type). Throws InputError with `file` and line or pointer.
  static ThroughputTable read(std::string_view text, std::string_view file);

  bool knows(std::string_view model) const;
  /// Relative speed of a job of `model` on GPUs of `type` that has `by_node` GPUs on its nodes (any order): iterations per time, in any unit that
  /// is the same for all types and placements of equal (model, number of GPUs). Nothing when the table does not say.
  std::optional<double> rate(std::string_view model, std::string_view type, std::vector<uint32_t> by_node) const;
  /// Types of GPU, in order.
  const std::vector<std::string>& types() const { return types_; }

 private:
  struct Key {
    std::string model, type;
    std::vector<uint32_t> by_node;  // falling; Gavel: {n} together, {n - 1, 1} apart
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  void read_gavel(std::string_view text, std::string_view file);
  void read_placements(std::string_view text, std::string_view file);
  void add_type(std::string type);
  std::map<Key, double> rates_;
  std::vector<std::string> types_, models_;
  bool apart_only_ = false;     // says only whether GPUs are on one node or not
  bool every_model_ = false;    // has no column of models: speaks of every job
};

}  // namespace muster
