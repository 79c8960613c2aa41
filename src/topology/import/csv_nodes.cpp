// Two tables of machines: openb's nodes and Lingjun's hosts below their switches.
#include <algorithm>
#include <map>

#include "muster/config.hpp"
#include "text/numbers.hpp"
#include "topology/import/readers.hpp"
#include "workload/csv.hpp"
#include "workload/message.hpp"

namespace muster::import {
namespace {

constexpr std::string_view kOpenb[] = {"sn", "cpu_milli", "memory_mib", "gpu", "model"};
constexpr std::string_view kLingjun[] = {"ip", "DSW", "PSW", "ASW"};

/// The columns of `names` in the first record, in that order; empty when one is not there.
std::vector<size_t> columns(std::span<const std::string_view> header, std::span<const std::string_view> names) {
  std::vector<size_t> r;
  for (const auto name : names) {
    const auto at = std::find_if(header.begin(), header.end(), [&](std::string_view h) { return trim(h) == name; });
    if (at == header.end()) return {};
    r.push_back(size_t(at - header.begin()));
  }
  return r;
}

bool has_columns(std::string_view text, std::span<const std::string_view> names) {
  CsvReader csv(text.substr(0, 4096), ',');
  return csv.next() && !csv.fault() && !columns(csv.fields(), names).empty();
}

/// Calls `row` with the fields of those columns for every record below the header.
template <typename F> void each_row(const ImportSource& source, std::span<const std::string_view> names, F row) {
  CsvReader csv(source.text, ',');
  csv.next();
  const std::vector<size_t> at = columns(csv.fields(), names);
  const size_t width = csv.fields().size();
  size_t rows = 0;
  while (csv.next()) {
    if (csv.fault()) fail(source, csv.line(), csv.fault());
    if (csv.fields().size() != width) fail(source, csv.line(), plural(csv.fields().size(), "field") + " for " + plural(width, "column"));
    std::vector<std::string_view> fields;
    for (const size_t i : at) fields.push_back(trim(csv.fields()[i]));
    if (fields[0].empty()) fail(source, csv.line(), std::string(names[0]) + " is empty");
    row(csv.line(), fields);
    rows++;
  }
  if (rows == 0) fail(source, "no row below the header");
}

}  // namespace

bool is_openb(std::string_view text) { return has_columns(text, kOpenb); }
bool is_lingjun(std::string_view text) { return has_columns(text, kLingjun); }

Imported read_openb(Sources sources) {
  Imported r;
  r.spec.levels = {"node"};
  each_row(sources[0], kOpenb, [&](size_t line, const std::vector<std::string_view>& f) {
    const auto number = [&](size_t i, int64_t most) {
      const auto n = whole_number(f[i]);
      if (!n || *n < 0 || *n > most)
        fail(sources[0], line, std::string(kOpenb[i]) + ": want a whole number from 0 to " + with_commas(most) + ", found " + quoted(f[i]));
      return *n;
    };
    NodeKind k;
    k.capacity[kCpu] = number(1, 1'000'000'000), k.limits_cpu = true;
    k.capacity[kMem] = number(2, 1'024'000'000), k.limits_mem = true;
    k.gpus = uint32_t(number(3, 16'384));
    if (k.gpus > 0) k.gpu_type = f[4];
    TopologySpec::Vertex v;
    v.name = f[0];
    v.gpus = k.gpus;
    v.kind = kind_of(r.spec, std::move(k));
    r.spec.top.push_back(std::move(v));
  });
  return r;
}

Imported read_lingjun(Sources sources) {
  constexpr uint32_t kGpusOfHost = 8;
  Imported r;
  r.spec.levels = {"dsw", "psw", "asw", "node"};
  NodeKind kind;
  kind.gpus = kGpusOfHost;
  const uint32_t kind_id = kind_of(r.spec, std::move(kind));
  // Labels are unique only below their parent, so a domain is its whole path.
  std::map<std::string, size_t, std::less<>> place[3];
  each_row(sources[0], kLingjun, [&](size_t line, const std::vector<std::string_view>& f) {
    std::vector<TopologySpec::Vertex>* in = &r.spec.top;
    std::string path;
    for (size_t i = 0; i < 3; i++) {
      if (f[i + 1].empty()) fail(sources[0], line, std::string(kLingjun[i + 1]) + " is empty");
      path += (i ? "." : "") + std::string(f[i + 1]);
      const auto [at, fresh] = place[i].try_emplace(path, in->size());
      if (fresh) in->emplace_back().name = path;
      in = &(*in)[at->second].children;
    }
    TopologySpec::Vertex& v = in->emplace_back();
    v.name = f[0], v.kind = kind_id, v.gpus = kGpusOfHost;
  });
  r.notes.push_back("the file states no GPUs; every host gets " + std::to_string(kGpusOfHost));
  return r;
}

}  // namespace muster::import
