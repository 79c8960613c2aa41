#include "parts/shares.hpp"

#include <algorithm>

#include "parts/fraction.hpp"

namespace muster {

namespace {

std::string at(const Config& c) { return c.where.empty() ? std::string() : c.where + ": "; }

/// Calls f(name, value, where) for each entry of an object or of "a=1,b=2".
template <class F> void each_entry(const Config& c, F f) {
  if (c.kind == Config::Kind::object) {
    for (const auto& [name, v] : c.fields) f(std::string_view(name), v);
    return;
  }
  std::string_view rest = c.as_text();
  while (!rest.empty()) {
    const size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view entry = rest.substr(0, comma);
    const size_t equals = entry.rfind('=');
    if (equals == std::string_view::npos || equals == 0)
      throw InputError(at(c) + "want NAME=WEIGHT,..., found \"" + std::string(entry) + "\"");
    f(entry.substr(0, equals), Config::text(std::string(entry.substr(equals + 1)), c.where));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
}

constexpr int64_t kProduct = int64_t{1} << 62;

Fraction weight(const Config& c) {
  const std::optional<Fraction> w = Fraction::parse(c.value);
  if (!w || w->num() > 1'000'000'000 || w->den() > 1'000'000'000)
    throw InputError(at(c) + "want a weight, as in 2, 0.5 or 1/3, found \"" + c.value + "\"");
  return *w;
}

}  // namespace

Sharers::Sharers(const Config& parameters) {
  const Config* by = parameters.find("by");
  if (!by) return;
  queues = by->as_text() == "queue";
  if (!queues && by->as_text() != "user") throw InputError(at(*by) + "want user or queue, found \"" + by->value + "\"");
}

Parameter sharers_parameter() { return {"by", "user", "whom it is fair to", {"user", "queue"}}; }

Weights::Weights(const Config& parameters, const Names& names) : value(names.size(), 1) {
  const Config* c = parameters.find("weights");
  if (!c) return;
  std::vector<Fraction> given(names.size(), 1);
  Fraction common = 1;  // of all denominators the least common multiple
  each_entry(*c, [&](std::string_view name, const Config& v) {
    uint32_t u = 0;
    while (u < names.size() && names[u] != name) u++;
    if (u == names.size()) {
      std::vector<std::string_view> known;
      for (uint32_t i = 0; i < names.size(); i++) known.push_back(names[i]);
      const std::string near = nearest_name(name, known);
      throw InputError(at(*c) + "the trace has no \"" + std::string(name) + "\"" + (near.empty() ? "" : "; did you mean " + near + "?"));
    }
    given[u] = weight(v);
    common = common * (given[u] * common).den();
    if (common.num() > 1'000'000'000) throw InputError(at(v) + "these weights have no common denominator below 10^9");
  });
  scale = int64_t(common.num());
  for (size_t u = 0; u < value.size(); u++) value[u] = int64_t((given[u] * common).num());
}

Parameter weights_parameter() { return {"weights", "", "NAME=WEIGHT,... or an object; 1 where none is given; 0: served last", {}}; }

Resources amounts_of(const Shape& s) {
  Resources sum;
  for (const TaskGroup& g : s.groups) sum += g.per_task.times(g.max_tasks);
  if (s.nodes == Nodes::whole) sum[kGpu] = int64_t{s.total_gpus} * kMilli;
  return sum;
}

Resources amounts_of(const Shape& s, Pieces at) {
  if (s.fixed) return at.empty() ? Resources{} : amounts_of(s);
  Resources sum;
  for (const Piece& p : at) sum += s.groups[p.group].per_task.times(p.tasks);
  return sum;
}

Shares::Shares(const PolicyInput& in, const Weights& w) : weights_(w), held_(w.value.size()) {
  const Topology& t = in.topology;
  const std::vector<std::string>& names = t.resource_names();
  std::vector<bool> counts(names.size(), true);
  if (const Config* c = in.parameters.find("resources"); c && c->as_text() != "all") {
    counts.assign(names.size(), false);
    std::string_view rest = c->as_text();
    do {
      const size_t comma = std::min(rest.find(','), rest.size());
      const std::string_view name = rest.substr(0, comma);
      const auto i = std::find(names.begin(), names.end(), name);
      if (i == names.end()) {
        const std::string near = nearest_name(name, std::vector<std::string_view>(names.begin(), names.end()));
        throw InputError(at(*c) + "the cluster has no resource \"" + std::string(name) + "\"" +
                         (near.empty() ? "" : "; did you mean " + near + "?"));
      }
      counts[size_t(i - names.begin())] = true;
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    } while (!rest.empty());
  }
  const Config* measure = in.parameters.find("measure");
  const bool amounts = measure && measure->as_text() == "amount";
  Int128 installed[kMaxKinds] = {};
  for (NodeId n = 0; n < t.nodes(); n++)
    for (size_t k = 0; k < names.size(); k++)
      if (k == kGpu || t.limits(k)) installed[k] += t.kind(n).capacity[k];
  const int64_t most = std::max(weights_.scale, *std::max_element(weights_.value.begin(), weights_.value.end()));
  for (size_t k = 0; k < names.size(); k++) {
    if (!counts[k] || installed[k] == 0) continue;
    if (installed[k] * most >= kProduct)
      throw InputError("the cluster's " + names[k] + " times the largest weight passes 2^62: shares of it would not be exact");
    kinds_.push_back({k, int64_t(installed[k]), amounts ? 1 : int64_t(installed[k]), names[k]});
  }
  if (kinds_.empty()) throw InputError("shares count nothing: the cluster limits none of the resources asked for");
}

size_t Shares::dominant(const Resources& r) const {
  size_t best = 0;
  for (size_t i = 1; i < kinds_.size(); i++)
    if (Int128{r[kinds_[i].kind]} * kinds_[best].of > Int128{r[kinds_[best].kind]} * kinds_[i].of) best = i;
  return best;
}

Parameter resources_parameter() { return {"resources", "all", "what shares are of: all, or names as in gpu,cpu,mem", {}}; }

Parameter measure_parameter() {
  return {"measure", "share", "what is compared: shares of what is installed, or amounts", {"share", "amount"}};
}

}  // namespace muster
