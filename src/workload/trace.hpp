// Job traces: text to a workload.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "muster/job.hpp"

namespace muster {

/// What stops a job: the limits that the trace states, none, or also its estimate (as where the wall time asked for is both).
enum class Limits : uint8_t { kill, ignore, estimate };

struct TraceOptions {
  std::vector<std::pair<std::string, std::string>> maps;  ///< (native name, column): --map gpus=num_gpu
  bool drop_cpu_only = false, drop_zero_duration = false;  ///< leave such rows out
  bool strict = false;      ///< the first row that cannot be used is an InputError
  bool open_ended = false;  ///< an empty duration is a job that ends only by a cancel, its limit or the end of the run
  Limits limits = Limits::kill;
  std::string format;       ///< "csv", "jsonl", "philly-csv"; empty: JSONL when the text begins with '{', else CSV
};

/// Sets what `list` names ("cpu-only,zero-duration"). Throws InputError.
void set_drops(TraceOptions& options, std::string_view list);

/// "kill", "ignore" or "estimate". Throws InputError (message without a place).
Limits limits_called(std::string_view name);

/// Rows left out for one reason.
struct LeftOut {
  std::string_view reason;            ///< for files: "negative"
  std::string_view phrase;            ///< for people, after a number of rows: "with a negative value"
  uint64_t count = 0;
  std::vector<std::string> examples;  ///< of the first five, each a line ready to print
};

/// What a careful person wants to know of a trace beside its jobs.
struct TraceFacts {
  uint64_t cpu_only = 0, zero_duration = 0;     ///< used rows without a GPU; with 0 s
  uint64_t unsorted = 0;                        ///< used rows that submit before the row above them
  uint64_t open_ended = 0;                      ///< used rows without a duration
  uint64_t unknown_fates = 0;                   ///< used rows whose state is no known word; taken as done
  uint64_t other_durations = 0;                 ///< used rows whose duration is not end minus start (which is used)
  bool dates = false;                           ///< submit times are dates
  bool ids = false;                             ///< the file names its jobs
  std::vector<std::string> unused_columns;
  std::vector<std::pair<std::string, std::string>> columns;  ///< (native name, column), of all that are used
  std::vector<std::string> unitless_columns;    ///< of times and amounts, whose unit the name does not state; seconds and GiB are assumed
};

struct TraceResult {
  Workload workload;
  uint64_t rows = 0;                  ///< data rows read
  std::vector<LeftOut> left_out;      ///< reasons that occurred, in a fixed order
  std::vector<std::string> notes;     ///< one line each, for stderr
  TraceFacts facts;
};

/// Reads a trace. Jobs are sorted by (submit, row) and times count from the first submit of a used row. `file` names it in messages.
/// Throws InputError when the text cannot be a trace, and with strict for the first row that cannot be used.
TraceResult read_trace(std::string_view text, std::string_view file, const TraceOptions& options = {});

}  // namespace muster
