#include "model/throughput_table.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "muster/config.hpp"
#include "text/json_config.hpp"
#include "text/numbers.hpp"
#include "workload/csv.hpp"

namespace muster {
namespace {

constexpr int64_t kBillion = 1'000'000'000;

std::string lower(std::string_view s) {
  std::string r(s);
  for (char& c : r) c = char(std::tolower(static_cast<unsigned char>(c)));
  return r;
}

/// A number of a table; to nine places, so that it does not depend on the locale.
double number(std::string_view text, const std::string& where) {
  const auto v = scaled_decimal(text, kBillion, Round::nearest);
  if (!v || *v < 0) throw InputError(where + ": want a number from 0, found " + in_quotes(text));
  return double(*v) / double(kBillion);
}

/// "('ResNet-18 (batch size 16)', 2)": the name and the number of GPUs.
std::optional<std::pair<std::string, uint32_t>> gavel_key(std::string_view key) {
  const size_t end = key.rfind("', ");
  if (!key.starts_with("('") || !key.ends_with(")") || end == key.npos || end < 2) return {};
  const auto gpus = whole_number(key.substr(end + 3, key.size() - end - 4));
  if (!gpus || *gpus < 1 || *gpus > 1'000'000) return {};
  return std::pair{std::string(key.substr(2, end - 2)), uint32_t(*gpus)};
}

}  // namespace

ThroughputTable ThroughputTable::read(std::string_view text, std::string_view file) {
  ThroughputTable t;
  const size_t first = text.find_first_not_of(" \t\r\n");
  first != text.npos && text[first] == '{' ? t.read_gavel(text, file) : t.read_placements(text, file);
  std::sort(t.models_.begin(), t.models_.end());
  t.models_.erase(std::unique(t.models_.begin(), t.models_.end()), t.models_.end());
  return t;
}

void ThroughputTable::add_type(std::string type) {
  const auto at = std::lower_bound(types_.begin(), types_.end(), type);
  if (at == types_.end() || *at != type) types_.insert(at, std::move(type));
}

void ThroughputTable::read_gavel(std::string_view text, std::string_view file) {
  constexpr std::string_view kApart = "_unconsolidated";
  const Config all = parse_json_config(text, file);
  apart_only_ = true;
  for (const auto& [name, jobs] : all.fields) {
    const bool apart = name.ends_with(kApart);
    const std::string type = lower(apart ? std::string_view(name).substr(0, name.size() - kApart.size()) : std::string_view(name));
    if (jobs.kind != Config::Kind::object) throw InputError(jobs.where + ": want an object with a key for each sort of job");
    add_type(type);
    for (const auto& [key, rates] : jobs.fields) {
      const auto job = gavel_key(key);
      if (!job) throw InputError(rates.where + ": want a key such as ('ResNet-18 (batch size 16)', 2), found " + in_quotes(key));
      const Config* alone = rates.find("null");
      if (!alone) throw InputError(rates.where + ": want the throughput of the job alone, under the key null");
      const double rate = number(alone->value, alone->where);
      if (rate == 0) continue;  // it did not fit the GPU
      models_.push_back(job->first);
      const uint32_t n = job->second;
      if (apart && n < 2) continue;
      rates_[{job->first, type, apart ? std::vector<uint32_t>{n - 1, 1} : std::vector<uint32_t>{n}}] = rate;
    }
  }
  if (rates_.empty()) throw InputError(std::string(file) + ": no throughput in it");
}

void ThroughputTable::read_placements(std::string_view text, std::string_view file) {
  CsvReader csv(text, find_separator(text.substr(0, text.find('\n'))));
  const auto where = [&] { return std::string(file) + ":" + std::to_string(csv.line()); };
  if (!csv.next()) throw InputError(std::string(file) + ": want a JSON object or a CSV with the columns placement and step_time; it is empty");
  enum Column { placement, step_time, batch, model, gpu_type, kColumns };
  constexpr std::string_view kNames[] = {"placement", "step_time", "local_bsz", "model", "gpu_type"};
  size_t at[kColumns];
  std::fill(std::begin(at), std::end(at), std::string_view::npos);
  const size_t width = csv.fields().size();
  for (size_t i = 0; i < width; i++)
    for (size_t c = 0; c < kColumns; c++)
      if (csv.fields()[i] == kNames[c]) at[c] = i;
  for (const Column c : {placement, step_time})
    if (at[c] == std::string_view::npos) throw InputError(where() + ": no column is called " + std::string(kNames[c]));
  every_model_ = at[model] == std::string_view::npos;
  // Step times of one batch size can be compared with each other alone. All are taken relative to the same GPUs on the fewest nodes, and the
  // mean over the batch sizes counts.
  struct Row {
    std::string model, type, batch;
    std::vector<uint32_t> by_node;
    double time;
  };
  std::vector<Row> rows;
  while (csv.next()) {
    if (csv.fault() || csv.fields().size() < width) throw InputError(where() + ": the row " + (csv.fault() ? csv.fault() : "has fewer fields than the header"));
    const auto field = [&](Column c) { return at[c] == std::string_view::npos ? std::string_view() : csv.fields()[at[c]]; };
    Row r{std::string(field(model)), lower(field(gpu_type)), std::string(field(batch)), {}, number(field(step_time), where() + ": column step_time")};
    for (const char c : field(placement)) {
      if (c < '1' || c > '9') throw InputError(where() + ": column placement: want the GPUs on each node as digits, as in 44, found " + in_quotes(field(placement)));
      r.by_node.push_back(uint32_t(c - '0'));
    }
    if (r.by_node.empty() || r.time == 0) throw InputError(where() + ": an empty placement, or a step that takes no time");
    std::sort(r.by_node.rbegin(), r.by_node.rend());
    add_type(r.type);
    models_.push_back(r.model);
    rows.push_back(std::move(r));
  }
  std::map<Key, std::pair<double, uint32_t>> sums;
  const auto gpus = [](const Row& r) {
    uint32_t n = 0;
    for (const uint32_t k : r.by_node) n += k;
    return n;
  };
  std::map<std::tuple<std::string, std::string, std::string, uint32_t>, const Row*> closest;
  for (const Row& r : rows) {
    const Row*& c = closest[{r.model, r.type, r.batch, gpus(r)}];
    if (!c || r.by_node.size() < c->by_node.size()) c = &r;
  }
  for (const Row& r : rows) {
    auto& [sum, n] = sums[{r.model, r.type, r.by_node}];
    sum += closest[{r.model, r.type, r.batch, gpus(r)}]->time / r.time, n++;
  }
  for (const auto& [key, s] : sums) rates_[key] = s.first / s.second;
  if (rates_.empty()) throw InputError(std::string(file) + ": no row in it");
}

bool ThroughputTable::knows(std::string_view model) const {
  return every_model_ || std::binary_search(models_.begin(), models_.end(), model, std::less<>());
}

std::optional<double> ThroughputTable::rate(std::string_view model, std::string_view type, std::vector<uint32_t> by_node) const {
  std::sort(by_node.rbegin(), by_node.rend());
  if (apart_only_ && by_node.size() > 1) {
    uint32_t n = 0;
    for (const uint32_t k : by_node) n += k;
    by_node = {n - 1, 1};
  }
  const auto at = rates_.find({every_model_ ? std::string() : std::string(model), std::string(type), std::move(by_node)});
  return at == rates_.end() ? std::nullopt : std::optional(at->second);
}

}  // namespace muster
