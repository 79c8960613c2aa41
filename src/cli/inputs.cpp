#include "cli/inputs.hpp"

#include <algorithm>
#include <tuple>

#include "cli/commands.hpp"
#include "files/digest.hpp"
#include "files/read.hpp"
#include "metrics/family.hpp"
#include "text/json_config.hpp"
#include "text/numbers.hpp"
#include "text/yaml_config.hpp"
#include "topology/json.hpp"
#include "topology/resolve.hpp"
#include "workload/events.hpp"
#include "workload/shipped.hpp"

namespace muster::cli {
namespace {

bool ends_in(std::string_view s, std::string_view end) { return s.size() > end.size() && s.substr(s.size() - end.size()) == end; }

/// A configuration in JSON or, by the file's name, in YAML.
Config read_config(const std::string& file);

std::string read_input(const std::string& path) {
  const Reading while_it_lasts;
  return read_file(path);
}

Config read_config(const std::string& file) {
  const std::string text = read_input(file);
  return ends_in(file, ".yaml") || ends_in(file, ".yml") ? parse_yaml_config(text, file) : parse_json_config(text, file);
}

/// The row of the in-tree table, or an error with the nearest name.
const PolicyInfo& find_policy(std::string_view name, const std::string& where) {
  std::vector<std::string_view> known;
  for (const PolicyInfo& p : builtin_policies()) {
    if (p.name == name) return p;
    known.push_back(p.name);
  }
  const std::string near = nearest_name(name, known);
  throw InputError((where.empty() ? "" : where + ": ") + "no policy is called " + (name.empty() ? "\"\"" : std::string(name)) +
                   (near.empty() ? "" : "; did you mean " + near + "?") + " (`muster policies` lists them)");
}

/// Puts the preset below what was given and refuses names that the policy does not have.
ChosenPolicy chosen(const PolicyInfo& info, const Config& given) {
  ChosenPolicy p;
  p.info = &info;
  p.name = info.name;
  p.given.kind = Config::Kind::object;
  p.given.where = given.where;
  std::vector<std::string_view> known;
  for (const Parameter& q : info.parameters) known.push_back(q.name);
  for (const auto& [name, value] : info.preset.fields) p.given.set(name, value);
  for (const auto& [name, value] : given.fields) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      const std::string near = nearest_name(name, known);
      throw InputError((value.where.empty() ? "" : value.where + ": ") + "policy " + info.name + " has no parameter " + name +
                       (near.empty() ? "" : "; did you mean " + near + "?") + " (`muster policies " + info.name + "` lists them)");
    }
    p.given.set(name, value);
  }
  return p;
}

/// The policy that an object names, and the parameters that it gives.
std::pair<const PolicyInfo*, Config> named(const Config& c) {
  const Config* name = c.find("policy");
  if (!name) throw InputError(c.where + ": wants a policy, as in {\"policy\": \"list\", \"order\": \"sjf\"}");
  Config given = c;
  std::erase_if(given.fields, [](const auto& f) { return f.first == "policy" || f.first == "$schema"; });
  return {&find_policy(name->as_text(), name->where), given};
}

}  // namespace

bool names_file(std::string_view x) {
  return x.find('/') != x.npos || ends_in(x, ".json") || ends_in(x, ".so") || ends_in(x, ".yaml") || ends_in(x, ".yml");
}

std::string Input::provenance() const { return name + " sha256:" + sha256(text); }

Topology load_topology(std::string_view x, Input& input) {
  input.name = x;
  input.text = x;
  if (x == "-") {
    input.text = read_input("-");
    return topology_from_json(input.text, "standard input");
  }
  if (const auto shipped = names_file(x) ? std::nullopt : shipped_topology(x)) input.text = *shipped;
  return resolve_topology(x, [&](const std::string& path) { return input.text = read_input(path); });
}

Input load_trace_text(std::string_view x) {
  if (x.find('/') == x.npos && x.find('.') == x.npos)
    if (const auto shipped = shipped_trace(x)) return {std::string(x), std::string(*shipped)};
  if (x.empty()) throw InputError("option --trace: want a file or the name of a shipped trace");
  try {
    return {std::string(x), read_input(std::string(x))};
  } catch (const InputError& e) {
    const std::vector<std::string_view> known = shipped_traces();
    const std::string near = nearest_name(x, known);
    throw InputError(e.what() + (near.empty() ? "" : "; did you mean the shipped trace " + near + "?"));
  }
}

std::vector<Option> trace_options() {
  return {{"--map", "FIELD=COLUMN", "which column holds a field (gpus=num_gpu)", true},
          {"--drop", "WHAT", "leave rows out: cpu-only, zero-duration (with a comma: both)", true},
          {"--trace-format", "FORMAT", "csv, jsonl or philly-csv; default: by its content"},
          {"--strict", "", "a row that cannot be used is an error"},
          {"--time-limits", "WHAT", "kill, ignore, or estimate: an estimate is a limit too; default kill"},
          {"--open-ended", "", "a row without a duration runs until it is cancelled or cut"}};
}

TraceOptions trace_options_from(const Arguments& a) {
  TraceOptions o;
  for (const std::string& pair : a.all("--map")) {
    const size_t equals = pair.find('=');
    if (equals == 0 || equals == std::string::npos || equals + 1 == pair.size())
      throw InputError("option --map: want FIELD=COLUMN, as in gpus=num_gpu, found " + in_quotes(pair));
    o.maps.emplace_back(pair.substr(0, equals), pair.substr(equals + 1));
  }
  for (const std::string& list : a.all("--drop")) {
    if (list.empty()) throw InputError("option --drop: want cpu-only, zero-duration or both with a comma between");
    set_drops(o, list);
  }
  o.format = a.get("--trace-format");
  if (a.has("--trace-format")) {
    static constexpr std::string_view known[] = {"csv", "jsonl", "philly-csv"};
    if (std::find(std::begin(known), std::end(known), o.format) == std::end(known)) {
      const std::string near = nearest_name(o.format, known);
      throw InputError("option --trace-format: want csv, jsonl or philly-csv, found " + in_quotes(o.format) +
                       (near.empty() ? "" : "; did you mean " + near + "?"));
    }
  }
  o.strict = a.has("--strict");
  o.open_ended = a.has("--open-ended");
  if (a.has("--time-limits")) {
    try {
      o.limits = limits_called(a.get("--time-limits"));
    } catch (const InputError& e) { throw InputError(std::string("option --time-limits: ") + e.what()); }
  }
  return o;
}

std::vector<std::string> metrics_from(const Arguments& a) {
  if (!a.has("--metrics")) return {};
  try {
    return parse_families(a.get("--metrics"));
  } catch (const InputError& e) { throw InputError(std::string("option --metrics: ") + e.what()); }
}

void tell_dropped_rows(const TraceResult& t, Console& console) {
  for (const std::string& note : t.notes) console.warning(note);
  for (const LeftOut& reason : t.left_out)
    for (const std::string& example : reason.examples) console.warning(example);
}

std::vector<std::pair<std::string, std::string>> ChosenPolicy::all() const {
  std::vector<std::pair<std::string, std::string>> list;
  const auto value = [&](std::string_view name) -> std::string {
    const Config* c = given.find(name);
    if (c && c->given()) return c->kind == Config::Kind::object || c->kind == Config::Kind::list ? to_json(*c) : c->value;
    for (const Parameter& q : info->parameters)
      if (q.name == name) return q.fallback;
    return {};
  };
  for (const Parameter& q : info->parameters)
    if (q.slot.empty() || std::find(q.takers.begin(), q.takers.end(), value(q.slot)) != q.takers.end()) list.emplace_back(q.name, value(q.name));
  return list;
}

ChosenPolicy choose_policy(const Config& c) {
  if (c.kind != Config::Kind::object) return chosen(find_policy(c.as_text(), c.where), Config{});
  const auto [info, given] = named(c);
  return chosen(*info, given);
}

ChosenPolicy choose_policy(std::string_view x, std::span<const std::string> sets) {
  Config given;
  given.kind = Config::Kind::object;
  const PolicyInfo* info = nullptr;
  if (ends_in(x, ".so")) {
    info = load_plugin(std::string(x));
  } else if (names_file(x)) {
    const std::string file(x);
    Config c = read_config(file);
    if (c.find("virtualClusters") && !c.find("policy")) {  // HiveD's own file
      Config hived;
      hived.where = c.where;
      hived.set("policy", Config::text("hived"));
      hived.set("cells", std::move(c));
      c = std::move(hived);
    }
    if (c.kind != Config::Kind::object) throw InputError(file + ": want an object, as in {\"policy\": \"list\", \"order\": \"sjf\"}");
    std::tie(info, given) = named(c);
  } else {
    info = &find_policy(x, "");
  }
  for (const std::string& pair : sets) {
    const size_t equals = pair.find('=');
    if (equals == 0 || equals == std::string::npos)
      throw InputError("option --set: want NAME=VALUE, as in order=sjf, found " + in_quotes(pair));
    const std::string value = pair.substr(equals + 1);
    const bool file = ends_in(value, ".yaml") || ends_in(value, ".yml") || ends_in(value, ".json");
    given.set(pair.substr(0, equals), file ? read_config(value) : Config::text(value, "--set " + pair.substr(0, equals)));
  }
  return chosen(*info, given);
}

std::vector<ScriptedEvent> load_events(std::string_view file, const Topology& t, const Workload& w, Input& input) {
  input = {std::string(file), read_input(std::string(file))};
  return read_events(input.text, input.name, t, w);
}

std::string to_json(const Config& c) {
  const auto text = [](std::string_view s) {
    std::string r = "\"";
    for (const char ch : s) {
      if (ch == '"' || ch == '\\') r += '\\', r += ch;
      else if (uint8_t(ch) < 32) {
        constexpr char digits[] = "0123456789abcdef";
        r += "\\u00", r += digits[uint8_t(ch) >> 4], r += digits[ch & 15];
      } else r += ch;
    }
    return r + "\"";
  };
  switch (c.kind) {
    case Config::Kind::none: return "null";
    case Config::Kind::text: return text(c.value);
    case Config::Kind::number:
    case Config::Kind::boolean: return c.value;
    case Config::Kind::list:
    case Config::Kind::object: break;
  }
  const bool object = c.kind == Config::Kind::object;
  std::string r = object ? "{" : "[";
  for (const auto& [name, value] : c.fields) {
    if (r.size() > 1) r += ", ";
    if (object) r += text(name) + ": ";
    r += to_json(value);
  }
  return r + (object ? "}" : "]");
}

}  // namespace muster::cli
