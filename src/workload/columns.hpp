// What the columns of a trace mean.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "muster/types.hpp"
#include "workload/numbers.hpp"

namespace muster {

/// What a column can say about a job.
enum class Field : uint8_t {
  id, tenant, queue, submit, gpus, tasks, min_tasks, gpus_per_task, nodes, duration, start, end, estimate, time_limit, priority, cpus,
  memory, deadline, earliest_start, gpu_type, driver, cuda, labels, locality, preferred_level, spread, anti_affinity, numa,
  checkpoint_interval, checkpoint_cost, start_cost, restart_cost, gives_back_after, gradient, compute, model, sensitivity, fate, gpu_milli, unsupported,
  none,
};
inline constexpr size_t kFields = size_t(Field::none);

/// Which column holds which field, and in which unit.
struct Columns {
  static constexpr uint32_t kAbsent = ~uint32_t{0};
  std::array<uint32_t, kFields> at;              ///< index of the column, or kAbsent
  std::array<Scale, kFields> scale;              ///< what a bare number of the column counts, in ticks, MiB, bytes, milli-CPU or millionths
  std::array<bool, kFields> unit_stated{};       ///< by the name's ending
  std::vector<std::string> names;                ///< all, as the file has them
  std::vector<uint32_t> unsupported;             ///< understood, but ask for what is not modelled yet: a row with such a wish is left out
  struct Amount {
    uint32_t column;
    std::string resource;
    Scale scale;
  };
  std::vector<Amount> amounts;                   ///< of resources beyond GPU, CPU and memory: "resource_licence", "bandwidth_gbit"
  std::vector<uint32_t> unused;                  ///< not understood, or said by another column as well
  std::vector<std::string> notes;                ///< one line for each choice between two columns

  bool has(Field f) const { return at[size_t(f)] != kAbsent; }
  std::string_view name(Field f) const { return names[at[size_t(f)]]; }
};

/// Finds the columns. `maps`: (native name, column) pairs, which win over the names' own meaning. Throws InputError, beginning with
/// `where` ("j.csv:1"), for a pair that names no field or no column.
Columns find_columns(std::span<const std::string_view> header, std::span<const std::pair<std::string, std::string>> maps, std::string_view where);

/// The native name of a field ("gpus").
std::string_view native_name(Field f);

}  // namespace muster
