#include "cli/scenario.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "cli/commands.hpp"
#include "cli/inputs.hpp"
#include "cli/model.hpp"
#include "files/read.hpp"
#include "metrics/job_rows.hpp"
#include "metrics/metrics.hpp"
#include "text/json_config.hpp"
#include "text/numbers.hpp"
#include "topology/json.hpp"
#include "workload/events.hpp"

namespace muster::cli {
namespace {

std::string csv_field(std::string_view s) {
  std::string r = "\"";
  for (const char c : s) r += c == '"' ? "\"\"" : std::string(1, c);
  return r + "\"";
}

/// Rows given as JSON objects, as the table that the reader of files knows. Columns in order of first appearance.
std::string as_csv(const Config& rows) {
  if (rows.kind != Config::Kind::list) throw InputError(rows.where + ": want a list of objects");
  std::vector<std::string_view> columns;
  for (const auto& [_, row] : rows.fields) {
    if (row.kind != Config::Kind::object) throw InputError(row.where + ": want an object");
    for (const auto& [key, value] : row.fields) {
      if (value.kind == Config::Kind::list || value.kind == Config::Kind::object)
        throw InputError(value.where + ": want a text or a number");
      if (std::find(columns.begin(), columns.end(), key) == columns.end()) columns.push_back(key);
    }
  }
  std::string text;
  for (size_t i = 0; i < columns.size(); i++) text += (i ? "," : "") + csv_field(columns[i]);
  text += "\n";
  for (const auto& [_, row] : rows.fields) {
    for (size_t i = 0; i < columns.size(); i++) {
      const Config* value = row.find(columns[i]);
      if (i) text += ",";
      if (value && value->given()) text += csv_field(value->value);
    }
    text += "\n";
  }
  return text;
}

/// A file named in a scenario stands beside it.
std::string beside(const std::string& scenario, std::string_view name) {
  const std::filesystem::path p(name);
  return p.is_absolute() ? std::string(name) : (std::filesystem::path(scenario).parent_path() / p).string();
}

Topology topology_of(const Config& c, const std::string& file) {
  if (c.kind == Config::Kind::object) return topology_from_json(to_json(c), c.where);
  const std::string_view x = c.as_text();
  Input input;
  return load_topology(names_file(x) ? beside(file, x) : std::string(x), input);
}

/// "21.3/42.4", "0.997642" or a plain number: what the hand calculation says. Always a finite one: NaN would equal anything.
double number_of(const Config& c) {
  const std::string& text = c.value;
  const auto parse = [&](const std::string& s) {
    size_t used = 0;
    double v = 0;
    try {
      v = std::stod(s, &used);
    } catch (const std::exception&) { used = s.size() + 1; }
    if (used != s.size()) throw InputError(c.where + ": want a number or a fraction, found " + in_quotes(text));
    return v;
  };
  const size_t slash = text.find('/');
  const double v = slash == std::string::npos ? parse(text) : parse(text.substr(0, slash)) / parse(text.substr(slash + 1));
  if (!std::isfinite(v)) throw InputError(c.where + ": want a number or a fraction, found " + in_quotes(text));
  return v;
}

std::string show(double v) {
  if (std::isnan(v)) return "null";
  char text[40];
  std::snprintf(text, sizeof text, "%.10g", v);
  return text;
}
/// Seconds to the tick; "never" for kNever.
std::string show_time(Time t) {
  if (t == kNever) return "never";
  std::string s = std::to_string(t / kSecond);
  if (t % kSecond) {
    std::string part = std::to_string(kSecond + t % kSecond).substr(1);
    part.erase(part.find_last_not_of('0') + 1);
    s += "." + part;
  }
  return s;
}

struct Run {
  Topology topology;
  Workload workload;
  JobRows rows;
  Report report;
};

/// The checks of "expect".
class Judge {
 public:
  Judge(const Run& run, Verdict& verdict) : run_(run), verdict_(verdict) {}

  void jobs(const Config& expected) {
    for (const auto& [name, fields] : expected.fields) {
      const JobId j = find(name, fields);
      static constexpr std::string_view known[] = {"start", "end", "state",   "placement", "reason",
                                                   "queue", "run", "restart", "lost",      "checkpoint"};
      fields.only(known);
      const JobRow& row = run_.rows.rows()[j];
      for (const auto& [key, want] : fields.fields) {
        const std::string at = "job " + name + ": " + key;
        if (key == "state") differ(at, std::string(want.as_text()), std::string(to_text(row.state)));
        if (key == "reason") differ(at, std::string(want.as_text()), std::string(to_text(row.reason)));
        if (key == "placement") differ(at, std::string(want.as_text()), to_text(run_.topology, run_.rows.placement(row)));
        if (key == "start") time(at, want, row.start);
        if (key == "end") time(at, want, row.end);
        if (key == "queue") time(at, want, row.time.queue());
        if (key == "run") time(at, want, row.time.run());
        if (key == "restart") time(at, want, row.time.restarts());
        if (key == "lost") time(at, want, row.time.lost);
        if (key == "checkpoint") time(at, want, row.time.checkpoint);
      }
    }
  }

  void reasons(const Config& expected) {
    for (const auto& [name, want] : expected.fields)
      differ("job " + name + ": reason", std::string(want.as_text()), std::string(to_text(run_.rows.rows()[find(name, want)].reason)));
  }

  void metrics(const Config& expected) {
    for (const auto& [name, c] : expected.fields) {
      const Metric* m = run_.report.find(name);
      if (!m) {
        std::vector<std::string_view> known;
        for (const Metric& q : run_.report.metrics) known.push_back(q.name);
        const std::string near = nearest_name(name, known);
        throw InputError(c.where + ": no metric is called " + name + (near.empty() ? "" : "; did you mean " + near + "?"));
      }
      const Config* value = &c;
      double tolerance = 1e-9;
      if (c.kind == Config::Kind::object) {
        static constexpr std::string_view known[] = {"value", "tolerance"};
        c.only(known);
        value = c.find("value");
        if (!value) throw InputError(c.where + ": wants a value");
        if (const Config* t = c.find("tolerance")) tolerance = number_of(*t);
        if (tolerance < 0) throw InputError(c.where + "/tolerance: want a number from 0");
      }
      const bool null = !value->given() || value->value == "null";
      const double want = null ? std::nan("") : number_of(*value);
      const bool same = null ? std::isnan(m->value) : std::abs(m->value - want) <= tolerance * std::max(1.0, std::abs(want));
      if (!same) verdict_.differences.push_back(name + ": expected " + show(want) + ", found " + show(m->value));
    }
  }

  /// What holds for every run: the parts of a job's time add up to its stay.
  void sums() {
    for (JobId j = 0; j < run_.workload.jobs.size(); j++) {
      const JobRow& row = run_.rows.rows()[j];
      if (row.submit != kNever && row.end != kNever && ended(row.state) && row.time.total() != row.end - row.submit)
        verdict_.differences.push_back("job " + std::string(run_.workload.names[j]) + ": queue, run and restart time sum to " +
                                       show_time(row.time.total()) + ", not " + show_time(row.end - row.submit));
    }
  }

 private:
  JobId find(std::string_view name, const Config& c) const {
    for (JobId j = 0; j < run_.workload.jobs.size(); j++)
      if (run_.workload.names[j] == name) return j;
    throw InputError(c.where + ": the scenario has no job " + std::string(name));
  }
  void time(const std::string& at, const Config& want, Time found) {
    const Time t = want.value == "never" ? kNever : want.as_duration();
    differ(at, show_time(t), show_time(found));
  }
  void differ(const std::string& at, const std::string& want, const std::string& found) {
    if (want != found) verdict_.differences.push_back(at + ": expected " + want + ", found " + found);
  }
  const Run& run_;
  Verdict& verdict_;
};

/// The tables of a scenario, read before the run: what is wrong with their form is no matter of expectations.
struct Tables {
  std::string jobs, events;
};
Tables tables_of(const Config& c, const std::string& file) {
  const Config* jobs = c.find("jobs");
  const Config* events = c.find("events");
  if (!c.find("trace") == !jobs) throw InputError(file + ": wants either jobs or a trace");
  Tables t;
  if (jobs) t.jobs = as_csv(*jobs);
  if (events) t.events = as_csv(*events);
  return t;
}

/// Everything up to the end of the run. Throws what the run throws.
void simulate(const Config& c, const Tables& tables, const std::string& file, Run& run) {
  const Config* trace = c.find("trace");
  const Config* jobs = c.find("jobs");
  TraceOptions reading;
  RunOptions options;
  uint64_t seed = 0;
  if (const Config* o = c.find("options")) {
    static constexpr std::string_view known[] = {"until", "seed", "open_ended", "lenient", "map", "time_limits"};
    o->only(known);
    if (const Config* until = o->find("until")) options.until = until->as_duration();
    if (const Config* s = o->find("seed")) seed = uint64_t(s->as_integer(0, std::numeric_limits<int64_t>::max()));
    if (const Config* open = o->find("open_ended")) reading.open_ended = open->as_boolean();
    if (const Config* limits = o->find("time_limits")) {
      try {
        reading.limits = limits_called(limits->as_text());
      } catch (const InputError& e) { throw InputError(limits->where + ": " + e.what()); }
    }
    if (const Config* map = o->find("map")) {
      if (map->kind != Config::Kind::object) throw InputError(map->where + ": want an object, as in {\"gpus\": \"num_gpu\"}");
      for (const auto& [key, column] : map->fields) reading.maps.emplace_back(key, column.as_text());
    }
  }
  const Config* o = c.find("options");
  const Config* lenient = o ? o->find("lenient") : nullptr;
  reading.strict = !(lenient && lenient->as_boolean());

  TraceResult read;
  if (jobs) {
    read = read_trace(tables.jobs, jobs->where, reading);
  } else {
    const std::string_view x = trace->as_text();
    const Input input = load_trace_text(names_file(x) || x.find('.') != x.npos ? beside(file, x) : std::string(x));
    read = read_trace(input.text, input.name, reading);
  }
  run.workload = std::move(read.workload);
  fit_shapes(run.workload, run.topology);
  if (const Config* events = c.find("events")) options.events = read_events(tables.events, events->where, run.topology, run.workload);

  std::unique_ptr<Model> model;
  if (const Config* m = c.find("model")) {
    std::vector<std::string> notes;
    model = choose_model(*m, file).make(run.topology, run.workload, notes);
    options.model = model.get();
  }
  const Config* policy = c.find("policy");
  const ChosenPolicy chosen = policy ? choose_policy(*policy) : choose_policy("fifo", {});
  const auto made = chosen.info->make({run.topology, run.workload, chosen.given, seed});
  options.check = true;
  options.oracle = chosen.info->needs_oracle;
  options.header.policy = chosen.name;
  options.header.parameters = chosen.all();
  options.header.seed = seed;
  Metrics metrics({"all"});
  Simulator simulator(run.topology, run.workload, *made, std::move(options));
  simulator.observe(metrics);
  simulator.observe(run.rows);
  simulator.run();
  run.report = metrics.report();
}

}  // namespace

Verdict run_scenario(const std::string& file) {
  const std::string text = read_file(file);
  const Config c = parse_json_config(text, file);
  if (c.kind != Config::Kind::object) throw InputError(file + ": want an object");
  static constexpr std::string_view known[] = {"$schema", "title",  "why",    "topology", "jobs",
                                               "trace",   "events", "policy", "model",    "options",  "expect"};
  c.only(known);
  Verdict verdict;
  if (const Config* title = c.find("title")) verdict.title = title->as_text();
  const Config* expect = c.find("expect");
  if (!expect) throw InputError(file + ": wants expect");
  static constexpr std::string_view known_expect[] = {"jobs", "metrics", "reasons", "error", "exit"};
  expect->only(known_expect);
  const Config* error = expect->find("error");
  const Config* exit = expect->find("exit");
  const int64_t want_exit = exit ? exit->as_integer(0, 255) : error ? -1 : 0;
  const Config* topology = c.find("topology");
  if (!topology) throw InputError(file + ": wants topology");

  const Tables tables = tables_of(c, file);

  std::unique_ptr<Run> run;
  int64_t status = kDone;
  std::string message;
  try {
    run.reset(new Run{topology_of(*topology, file), {}, {}, {}});
    simulate(c, tables, file, *run);
  } catch (const InputError& e) { status = kUsage, message = e.what(); } catch (const ContractError& e) {
    status = kContract, message = e.what();
  } catch (const NoProgress& e) { status = kFailed, message = e.what(); }
  if (want_exit >= 0 ? status != want_exit : status == kDone)
    verdict.differences.push_back("exit status: expected " + (want_exit < 0 ? "an error" : std::to_string(want_exit)) + ", found " +
                                  std::to_string(status) + (message.empty() ? "" : " (" + message.substr(0, message.find('\n')) + ")"));
  if (error && message.find(error->as_text()) == std::string::npos)
    verdict.differences.push_back("error: expected \"" + std::string(error->as_text()) + "\" in \"" +
                                  message.substr(0, message.find('\n')) + "\"");
  if (status != kDone || !verdict.differences.empty()) return verdict;

  Judge judge(*run, verdict);
  judge.sums();
  if (const Config* jobs = expect->find("jobs")) judge.jobs(*jobs);
  if (const Config* reasons = expect->find("reasons")) judge.reasons(*reasons);
  if (const Config* metrics = expect->find("metrics")) judge.metrics(*metrics);
  return verdict;
}

}  // namespace muster::cli
