// The regression gate: are the numbers of new runs worse than those of a base, by more than somebody allowed?
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "muster/report.hpp"

namespace muster {

/// What the gate needs of a report.json.
struct RunReport {
  std::string file;  ///< as it was named, for messages
  bool complete = false;
  uint64_t seed = 0;
  struct Input {
    std::string role, name, digest;  ///< digest: empty for what has none, such as options
  };
  std::vector<Input> inputs;
  Report report;
};

/// What one metric may lose. The allowance is the larger of the two: a share of the base, so that it scales, and an amount, so that a
/// metric near zero does not trip over its own grain.
struct Bound {
  std::string metric;
  double share = 0;              ///< of |base|; 0.01 is 1 %
  double amount = 0;             ///< in the metric's unit
  bool both_directions = false;  ///< better by more than the allowance is out of bounds, too
  Better better = Better::none;  ///< for metrics whose report says no direction; none: take the report's
  std::string where;             ///< "gate.json: /metrics/jct_mean_s"
  std::string text;              ///< as people read it: "1 %", "30", "1 %, 30"
};

/// A gate.json: bounds, and how several seeds are judged.
struct Gate {
  std::vector<Bound> bounds;
  double confidence = 0.95;   ///< of the interval, two-sided
  uint64_t resamples = 2000;  ///< of the bootstrap
  uint64_t seed = 1;          ///< of its random stream
  uint64_t least_seeds = 1;   ///< fewer pairs are refused
};

/// Reads a gate.json. Unknown keys, wrong types and bounds that say nothing are errors. Throws InputError.
Gate read_gate(std::string_view text, const std::string& file);
/// Reads a report.json. Throws InputError when it is none, or is of a run that was cut short.
RunReport read_run_report(std::string_view text, const std::string& file);

/// One line of a comparison.
struct Row {
  enum class Verdict : uint8_t {
    ok,         ///< gated, within bounds
    unsure,     ///< gated; the mean is out of bounds, but so may be the noise between seeds (passes, and is said)
    worse,      ///< gated, out of bounds
    moved,      ///< gated in both directions, better by more than allowed
    missing,    ///< gated, and a report lacks it
    undefined,  ///< gated, and null in a report
    ungated,    ///< in both, no bound
    fresh,      ///< ungated, not in the base
    gone,       ///< ungated, not in the new
  } verdict = Verdict::ungated;
  std::string metric, unit;
  Better better = Better::none;
  double base = 0, now = 0;  ///< means over seeds; NaN: null or missing
  double change = 0;         ///< (now - base) / |base|; NaN when the base is 0 or a side is not a number
  bool interval = false;     ///< several seeds: ...
  double low = 0, high = 0;  ///< ... the interval of (now - base), in the metric's unit
  const Bound* bound = nullptr;
  std::string why;  ///< of a failure, for people: one clause
  bool failed() const {
    return verdict == Verdict::worse || verdict == Verdict::moved || verdict == Verdict::missing || verdict == Verdict::undefined;
  }
  bool differs() const;  ///< in any digit
};

/// A base and one candidate, metric by metric.
struct Comparison {
  std::string base, now;  ///< as they were named
  std::size_t pairs = 0;  ///< of seeds
  double confidence = 0;
  bool gated = false;              ///< a gate was given
  std::vector<Row> rows;           ///< in the base's order, then what is new, then what the gate alone knows
  std::vector<std::string> notes;  ///< what a careful person would want to know: other inputs, few seeds
  std::size_t gated_rows() const;
  std::size_t failures() const;
};

/// Compares reports paired by seed (one against one: whatever their seeds). `gate` may be null: then nothing fails. Metrics that the gate
/// names and no report has are errors with the nearest name; so are seeds that lack a partner, and seeds that occur twice. With several
/// seeds the paired differences are resampled (percentile bootstrap), and a metric is out of bounds only when the whole interval is.
/// The result points into `gate`. Throws InputError.
Comparison compare(const std::string& base_name, std::vector<RunReport> base, const std::string& new_name, std::vector<RunReport> now,
                   const Gate* gate);

/// As a table for a terminal (80 columns), as Markdown, as JUnit XML and as annotations for GitHub's log.
std::string gate_table(const Comparison& c);
std::string gate_markdown(const Comparison& c);
std::string gate_junit(const std::vector<Comparison>& all);
std::string gate_annotations(const Comparison& c);

/// Where two texts part: the number (from 1) of the first line that differs and that line of both sides; nullopt when they are equal to the
/// byte. A side that has ended is given as nullopt.
struct Parting {
  std::size_t line = 0;
  std::optional<std::string> a, b;
};
std::optional<Parting> first_difference(std::string_view a, std::string_view b);

}  // namespace muster
