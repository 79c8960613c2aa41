// What --topology, --trace and --policy name, found and read.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "cli/arguments.hpp"
#include "cli/console.hpp"
#include "muster/policy.hpp"
#include "muster/simulator.hpp"
#include "workload/trace.hpp"

namespace muster::cli {

/// Whether `x` names a file: it has '/' or ends in .json or .so. Of the rest, a ':' makes it a one-line string, else it is a shipped name.
bool names_file(std::string_view x);

/// An input as the user named it and its bytes.
struct Input {
  std::string name, text;
  /// "jobs.csv sha256:...", for the header of a run.
  std::string provenance() const;
};

/// Reads a topology: a file, "-", a one-line string or a shipped name. Throws InputError.
Topology load_topology(std::string_view x, Input& input);

/// Reads a file ("-": standard input), or a shipped trace when `x` is the name of one and no such file exists.
Input load_trace_text(std::string_view x);

/// The options that say how a trace is read, and their rows in the help.
std::vector<Option> trace_options();
TraceOptions trace_options_from(const Arguments& a);

/// Families of metrics that --metrics names.
std::vector<std::string> metrics_from(const Arguments& a);

/// Prints the rows left out: the first of each reason as warnings.
void tell_dropped_rows(const TraceResult& t, Console& console);

/// A row of the table of policies, or of a shared library, and the parameters given to it.
struct ChosenPolicy {
  const PolicyInfo* info = nullptr;
  std::string name;  ///< as the report calls it
  Config given;      ///< preset below, the user's own above
  /// All parameters that count, with defaults, in the policy's order.
  std::vector<std::pair<std::string, std::string>> all() const;
};
/// By name, from a JSON file ({"policy": "list", "order": "sjf"}) or a shared library; `sets` are "key=value". Throws InputError.
ChosenPolicy choose_policy(std::string_view x, std::span<const std::string> sets);
/// From a parsed object or a name standing in a file.
ChosenPolicy choose_policy(const Config& c);

/// A shared library's policy (plugin.cpp). Throws InputError. The library stays loaded.
const PolicyInfo* load_plugin(const std::string& path);

/// Reads events for `w`. Throws InputError.
std::vector<ScriptedEvent> load_events(std::string_view file, const Topology& t, const Workload& w, Input& input);

/// A JSON text of a parsed value, on one line; keys in their order.
std::string to_json(const Config& c);

}  // namespace muster::cli
