#include "workload/trace.hpp"

#include <algorithm>

#include "muster/config.hpp"
#include "workload/csv.hpp"
#include "workload/jsonl.hpp"
#include "workload/message.hpp"
#include "workload/rows.hpp"

namespace muster {
namespace {

/// "submit, submit_time (the columns are a, b, c)": what the file has, for messages.
std::string listed(const std::vector<std::string>& names) {
  constexpr size_t kMost = 12;
  std::string s;
  for (size_t i = 0; i < names.size() && i < kMost; i++) s += (i ? ", " : "") + printable(names[i]);
  return names.size() > kMost ? s + ", ..." : s;
}

void require(const Columns& c, bool given, std::string_view what, std::string_view native, std::string_view where) {
  if (given) return;
  throw InputError(std::string(where) + ": no column says " + std::string(what) + "; the columns are " + listed(c.names) + " (--map " +
                   std::string(native) + "=COLUMN names it)");
}

void note_columns(const Columns& c, const TraceOptions& options, std::string_view where, TraceResult& result) {
  require(c, c.has(Field::submit), "when a job is submitted", "submit", where);
  require(c, c.has(Field::duration) || (c.has(Field::start) && c.has(Field::end)) || options.open_ended, "how long a job runs", "duration",
          where);
  require(c, c.has(Field::gpus) || c.has(Field::gpus_per_task) || c.has(Field::gpu_milli) || c.has(Field::tasks) || c.has(Field::cpus) || !c.unsupported.empty(),
          "how many GPUs a job asks", "gpus", where);
  result.notes = c.notes;
  for (const uint32_t i : c.unsupported)
    result.notes.push_back(std::string(where) + ": column " + printable(c.names[i]) + " is not modelled yet: rows that use it are left out");
  TraceFacts& facts = result.facts;
  for (size_t f = 0; f < kFields; f++) {
    if (!c.has(Field(f))) continue;
    facts.columns.emplace_back(native_name(Field(f)), c.names[c.at[f]]);
    const bool has_unit = !(c.scale[f] == Scale{});
    if (has_unit && !c.unit_stated[f] && Field(f) != Field::cpus && Field(f) != Field::gradient && Field(f) != Field::sensitivity) facts.unitless_columns.push_back(c.names[c.at[f]]);
  }
  for (const uint32_t i : c.unused) facts.unused_columns.push_back(c.names[i]);
}

void note_rows(std::string_view file, TraceResult& result) {
  const auto note = [&](uint64_t n, const std::string& what) {
    if (n) result.notes.push_back(std::string(file) + ": " + std::to_string(n) + (n == 1 ? " row " : " rows ") + what);
  };
  note(result.facts.other_durations, "with a duration that is not end minus start; end minus start is used");
  note(result.facts.unknown_fates, "with a state that is not known; taken as done");
}

template <typename Reader>
void read_rows(Reader& reader, Columns columns, const TraceOptions& options, std::string_view file, TraceResult& result) {
  Rows rows(std::move(columns), options, file, result);
  while (reader.next()) rows.add(reader.fields(), reader.line(), reader.fault());
  rows.finish();
}

TraceResult read_csv(std::string_view text, std::string_view file, const TraceOptions& options) {
  size_t begin = 0;  // of the header: the first line that is no comment
  for (size_t end = 0; begin < text.size(); begin = end + 1) {
    end = std::min(text.find('\n', begin), text.size());
    const auto line = trim(text.substr(begin, end - begin));
    if (!line.empty() && line[0] != '#' && line != "\r") break;
  }
  const auto header = text.substr(std::min(begin, text.size()), std::min(text.find('\n', begin), text.size()) - std::min(begin, text.size()));
  CsvReader reader(text, find_separator(header.substr(0, 65'536)));
  if (!reader.next()) throw InputError(std::string(file) + ": is empty: want a header line with column names");
  const std::string where = std::string(file) + ":" + std::to_string(reader.line());
  const auto binary = [](char c) { return uint8_t(c) < 0x20 && c != '\t' && c != '\r' && c != '\n'; };
  if (std::any_of(header.begin(), header.end(), binary)) throw InputError(where + ": is not text: want a header line with column names");
  if (reader.fault()) throw InputError(where + ": the header " + reader.fault());
  Columns columns = find_columns(reader.fields(), options.maps, where);
  if (options.format == "philly-csv") {
    const std::vector<std::string> want{"timestamp", "duration", "num_gpus", "gpu_time", "cluster"};
    if (columns.names != want) throw InputError(where + ": a reduced Philly file has the columns " + listed(want));
  }
  TraceResult result;
  note_columns(columns, options, where, result);
  const size_t row_bytes = std::max<size_t>(header.size() / 2, 16);
  const size_t guess = std::min(text.size() / row_bytes, size_t{1} << 26);
  result.workload.jobs.reserve(guess);
  result.workload.truths.reserve(guess);
  result.workload.names.reserve(guess, guess * 8);
  read_rows(reader, std::move(columns), options, file, result);
  return result;
}

TraceResult read_jsonl(std::string_view text, std::string_view file, const TraceOptions& options) {
  const auto keys = jsonl_keys(text);
  if (keys.empty()) throw InputError(std::string(file) + ": is empty: want one JSON object a line");
  Columns columns = find_columns(std::vector<std::string_view>(keys.begin(), keys.end()), options.maps, file);
  TraceResult result;
  note_columns(columns, options, file, result);
  JsonlReader reader(text, keys);
  read_rows(reader, std::move(columns), options, file, result);
  return result;
}

}  // namespace

void set_drops(TraceOptions& options, std::string_view list) {
  while (!list.empty()) {
    const auto word = list.substr(0, list.find(','));
    list.remove_prefix(std::min(word.size() + 1, list.size()));
    if (word == "cpu-only")
      options.drop_cpu_only = true;
    else if (word == "zero-duration")
      options.drop_zero_duration = true;
    else
      throw InputError("--drop: want cpu-only or zero-duration, or both with a comma between, found " + quoted(word));
  }
}

Limits limits_called(std::string_view name) {
  constexpr std::string_view kNames[] = {"kill", "ignore", "estimate"};
  const auto at = std::find(std::begin(kNames), std::end(kNames), name);
  if (at != std::end(kNames)) return Limits(at - std::begin(kNames));
  const std::string near = nearest_name(name, kNames);
  throw InputError("want kill, ignore or estimate, found " + quoted(name) + (near.empty() ? "" : "; did you mean " + near + "?"));
}

TraceResult read_trace(std::string_view text, std::string_view file, const TraceOptions& options) {
  constexpr std::string_view kFormats[] = {"csv", "jsonl", "philly-csv"};
  if (!options.format.empty() && std::find(std::begin(kFormats), std::end(kFormats), options.format) == std::end(kFormats)) {
    const std::string near = nearest_name(options.format, kFormats);
    throw InputError("--trace-format: want csv, jsonl or philly-csv, found " + quoted(options.format) +
                     (near.empty() ? "" : "; did you mean " + near + "?"));
  }
  if (text.substr(0, 3) == "\xef\xbb\xbf") text.remove_prefix(3);
  if (text.substr(0, 2) == "\xff\xfe" || text.substr(0, 2) == "\xfe\xff")
    throw InputError(std::string(file) + ": is UTF-16 text: want UTF-8");
  const size_t first = text.find_first_not_of(" \t\r\n");
  const bool jsonl = options.format == "jsonl" || (options.format.empty() && first != text.npos && text[first] == '{');
  TraceResult result = jsonl ? read_jsonl(text, file, options) : read_csv(text, file, options);
  note_rows(file, result);
  return result;
}

}  // namespace muster
