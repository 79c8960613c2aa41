// The table of models.
#include <algorithm>

#include "model/table.hpp"
#include "text/numbers.hpp"

namespace muster {

std::span<const ModelInfo> models() {
  static const std::vector<ModelInfo> kModels = {
      levels_model(),
      {.name = "null", .summary = "every job at full speed wherever it is; the default",
       .make = [](const ModelInput&) -> std::unique_ptr<Model> { return nullptr; }},
      ring_model(),
      throughput_model(),
  };
  return kModels;
}

const ModelInfo& find_model(std::string_view name, std::string_view where) {
  std::vector<std::string_view> known;
  for (const ModelInfo& m : models()) {
    if (m.name == name) return m;
    known.push_back(m.name);
  }
  const std::string near = nearest_name(name, known);
  throw InputError((where.empty() ? "" : std::string(where) + ": ") + "no model is called " + in_quotes(name) +
                   (near.empty() ? "" : "; did you mean " + near + "?") + " (`muster models` lists them)");
}

std::unique_ptr<Model> make_model(const ModelInfo& info, const ModelInput& in) {
  std::vector<std::string_view> known;
  for (const Parameter& p : info.parameters) known.push_back(p.name);
  if (info.by_level) {
    for (const std::string& level : in.topology.levels()) known.push_back(level);
    known.push_back("cluster");
  }
  for (const auto& [name, value] : in.given.fields) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string near = nearest_name(name, known);
    std::string all;
    for (const std::string_view k : known) all += (all.empty() ? "" : ", ") + std::string(k);
    throw InputError((value.where.empty() ? "" : value.where + ": ") + "model " + info.name + " has no parameter " + in_quotes(name) +
                     (!near.empty()  ? "; did you mean " + near + "?"
                      : all.empty() ? ", nor any other"
                                    : "; here it has " + all));
  }
  return info.make(in);
}

int64_t ratio_of(const Config& given, std::string_view name, int64_t fallback, int64_t least, int64_t most) {
  const Config* c = given.find(name);
  if (!c || !c->given()) return fallback;
  const bool scalar = c->kind == Config::Kind::text || c->kind == Config::Kind::number;
  const auto v = scalar ? scaled_decimal(c->value, kFullSpeed, Round::nearest) : std::nullopt;
  if (v && *v >= least && *v <= most) return *v;
  const auto show = [](int64_t ppm) {
    std::string s = std::to_string(ppm / kFullSpeed);
    if (ppm % kFullSpeed) s += "." + std::to_string(kFullSpeed + ppm % kFullSpeed).substr(1), s.erase(s.find_last_not_of('0') + 1);
    return s;
  };
  throw InputError((c->where.empty() ? std::string(name) : c->where) + ": want a number from " + show(least) + " to " + show(most) + ", found " + (scalar ? in_quotes(c->value) : "something else"));
}

}  // namespace muster
