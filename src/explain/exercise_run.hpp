// An exercise as a run of the engine.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "explain/explanation.hpp"
#include "metrics/job_rows.hpp"
#include "muster/policy.hpp"
#include "muster/report.hpp"
#include "muster/topology.hpp"

namespace muster {

/// A note of a policy, kept.
struct Told {
  Time at = 0;
  std::string kind;
  std::vector<std::pair<std::string, std::string>> fields;  ///< numbers as their digits
  /// The field called `name`, or nothing.
  std::string_view operator[](std::string_view name) const;
};

/// What a run gave: all that an explanation may say is in here.
struct ExerciseRun {
  struct Seen {
    Time at;
    What what;
    JobId job;
    Reason reason;
    State state;
  };
  std::vector<Told> notes;  ///< in order
  std::vector<Seen> seen;   ///< every record but notes
  JobRows rows;
  Report report;
  Time end = 0;
};

/// Runs `w` on `t` under a policy of the table. With Exercise::records, its records are written to the folder as NAME.jsonl.
ExerciseRun run_exercise(const Exercise& e, std::string_view name, const Topology& t, Workload& w, std::string_view policy,
                         const Config& parameters, Time until = kNever);

}  // namespace muster
