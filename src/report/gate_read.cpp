// gate.json and report.json, as the gate reads them.
#include <array>
#include <charconv>
#include <cmath>

#include "report/gate.hpp"
#include "text/json_config.hpp"

namespace muster {
namespace {

[[noreturn]] void fail(const std::string& where, const std::string& what) { throw InputError(where + ": " + what); }

std::string quoted(std::string_view s) { return "\"" + std::string(s.substr(0, 40)) + "\""; }

/// A finite decimal number that fills the text.
std::optional<double> parse_number(std::string_view s) {
  double x = 0;
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), x);
  if (error != std::errc() || end != s.data() + s.size() || !std::isfinite(x)) return std::nullopt;
  return x;
}

/// "1 %", "0.5%".
double percent(const Config& c, double most, const char* example) {
  const std::string wanted = std::string("want a percentage as text, such as \"") + example + "\"";
  if (c.kind != Config::Kind::text) fail(c.where, wanted + (c.kind == Config::Kind::number ? ", found " + c.value : ""));
  std::string_view s = c.value;
  const bool sign = !s.empty() && s.back() == '%';
  if (sign) s.remove_suffix(1);
  while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
  const std::optional<double> x = parse_number(s);
  if (!sign || !x) fail(c.where, wanted + ", found " + quoted(c.value));
  if (*x < 0 || *x > most) fail(c.where, "want 0 % to " + std::to_string(int64_t(most)) + " %, found " + quoted(c.value));
  return *x / 100;
}

const Config& object(const Config& c, std::string_view what) {
  if (c.kind != Config::Kind::object) fail(c.where, "want " + std::string(what));
  return c;
}

Better better_of(const Config& c) {
  const std::string_view s = c.as_text();
  if (s == "lower") return Better::lower;
  if (s == "higher") return Better::higher;
  if (s == "none") return Better::none;
  fail(c.where, "want \"lower\", \"higher\" or \"none\", found " + quoted(s));
}

Bound read_bound(const std::string& name, const Config& c) {
  object(c, "an object with \"max_worse\" or \"max_worse_abs\"");
  constexpr std::array<std::string_view, 4> known{"max_worse", "max_worse_abs", "both_directions", "better"};
  c.only(known);
  Bound b;
  b.metric = name, b.where = c.where;
  const Config *share = c.find("max_worse"), *amount = c.find("max_worse_abs");
  if (!share && !amount) fail(c.where, "want \"max_worse\" (\"1 %\"), \"max_worse_abs\" (a number in the metric's unit), or both");
  if (share) {
    b.share = percent(*share, 1e6, "1 %");
    const std::string_view digits(share->value.data(), share->value.find_last_not_of(" %") + 1);
    b.text = std::string(digits) + " %";
  }
  if (amount) {
    const std::optional<double> x = amount->kind == Config::Kind::number ? parse_number(amount->value) : std::nullopt;
    if (!x || *x < 0) fail(amount->where, "want a number from 0, in the metric's unit");
    b.amount = *x;
    b.text += (share ? ", " : "") + amount->value;
  }
  if (const Config* both = c.find("both_directions")) b.both_directions = both->as_boolean();
  if (const Config* better = c.find("better")) b.better = better_of(*better);
  return b;
}

}  // namespace

Gate read_gate(std::string_view text, const std::string& file) {
  const Config root = parse_json_config(text, file);
  if (root.kind != Config::Kind::object) fail(file, "want an object with \"metrics\"");
  constexpr std::array<std::string_view, 3> known{"$schema", "metrics", "seeds"};
  root.only(known);
  Gate gate;
  const Config* metrics = root.find("metrics");
  if (!metrics) fail(file, "want \"metrics\": which metrics are gated, and what they may lose");
  for (const auto& [name, c] : object(*metrics, "an object of metric names").fields) gate.bounds.push_back(read_bound(name, c));
  if (gate.bounds.empty()) fail(metrics->where, "want at least one metric; a gate without one passes everything");
  if (const Config* seeds = root.find("seeds")) {
    constexpr std::array<std::string_view, 4> keys{"least", "confidence", "resamples", "seed"};
    object(*seeds, "an object").only(keys);
    if (const Config* c = seeds->find("least")) gate.least_seeds = uint64_t(c->as_integer(1, 1'000'000));
    if (const Config* c = seeds->find("resamples")) gate.resamples = uint64_t(c->as_integer(100, 1'000'000));
    if (const Config* c = seeds->find("seed")) gate.seed = uint64_t(c->as_integer(0, INT64_MAX));
    if (const Config* c = seeds->find("confidence")) {
      gate.confidence = percent(*c, 100, "95 %");
      if (gate.confidence < 0.5 || gate.confidence > 0.999) fail(c->where, "want 50 % to 99.9 %, found " + quoted(c->value));
    }
  }
  return gate;
}

RunReport read_run_report(std::string_view text, const std::string& file) {
  const Config root = parse_json_config(text, file);
  const Config* schema = root.kind == Config::Kind::object ? root.find("schema") : nullptr;
  if (!schema || schema->kind != Config::Kind::text) fail(file, "is no report.json: it has no \"schema\"");
  if (schema->value != "muster-report-1") fail(schema->where, "want \"muster-report-1\", found " + quoted(schema->value));
  RunReport r;
  r.file = file;
  const Config* complete = root.find("complete");
  if (!complete || !complete->as_boolean())
    fail(file, "is of a run that was cut short (\"complete\" is not true); such numbers are not compared");
  r.complete = true;
  const Config *provenance = root.find("provenance"), *metrics = root.find("metrics");
  if (!provenance) fail(file, "is no report.json: it has no \"provenance\"");
  if (!metrics) fail(file, "is no report.json: it has no \"metrics\"");
  // A seed is 64 bits wide, wider than as_integer's.
  const Config* seed = object(*provenance, "an object").find("seed");
  const char* end = seed ? seed->value.data() + seed->value.size() : nullptr;
  if (!seed || seed->kind != Config::Kind::number || std::from_chars(seed->value.data(), end, r.seed).ptr != end)
    fail(seed ? seed->where : provenance->where, "want a \"seed\", a whole number from 0");
  if (const Config* inputs = provenance->find("inputs"))
    for (const auto& entry : inputs->fields) {
      const Config *role = entry.second.find("role"), *name = entry.second.find("name"), *digest = entry.second.find("sha256");
      if (!role || !name) fail(entry.second.where, "want a \"role\" and a \"name\"");
      r.inputs.push_back(
          {std::string(role->as_text()), std::string(name->as_text()), digest ? std::string(digest->as_text()) : std::string()});
    }
  for (const auto& [name, c] : object(*metrics, "an object").fields) {
    object(c, "an object with \"value\", \"unit\" and \"better\"");
    Metric m;
    m.name = name;
    const Config *value = c.find("value"), *unit = c.find("unit"), *better = c.find("better");
    if (!value) fail(c.where, "want a \"value\", a number or null");
    if (value->given()) {
      const std::optional<double> x = value->kind == Config::Kind::number ? parse_number(value->value) : std::nullopt;
      if (!x) fail(value->where, "want a number or null");
      m.value = *x;
    }
    if (!unit || !better) fail(c.where, "want a \"unit\" and a \"better\"");
    m.unit = unit->as_text();
    m.better = better_of(*better);
    r.report.metrics.push_back(std::move(m));
  }
  return r;
}

}  // namespace muster
