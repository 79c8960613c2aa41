// `kubectl get nodes -o json` (or yaml): what nodes offer, and NVIDIA's labels.
#include <algorithm>
#include <map>
#include <optional>

#include "muster/config.hpp"
#include "text/json_config.hpp"
#include "text/numbers.hpp"
#include "text/yaml_config.hpp"
#include "topology/import/quantity.hpp"
#include "topology/import/readers.hpp"
#include "workload/message.hpp"

namespace muster::import {
namespace {

/// Labels that say where a node is, from the top down, and the level each makes.
struct Place {
  const char *label, *level;
};
constexpr Place kPlaces[] = {
    {"topology.kubernetes.io/zone", "zone"},
    {"network.topology.nvidia.com/datacenter", "datacenter"},
    {"network.topology.nvidia.com/core", "core"},
    {"network.topology.nvidia.com/spine", "spine"},
    {"network.topology.nvidia.com/leaf", "leaf"},
    {"network.topology.nvidia.com/block", "block"},
    {"network.topology.nvidia.com/accelerator", "nvlink"},
};

const Config* at(const Config& c, std::initializer_list<std::string_view> path) {
  const Config* p = &c;
  for (const std::string_view name : path)
    if (!p || p->kind != Config::Kind::object || !(p = p->find(name))) return nullptr;
  return p;
}

std::optional<std::string> text_at(const Config& c, std::initializer_list<std::string_view> path) {
  const Config* p = at(c, path);
  if (!p || !p->given()) return std::nullopt;
  if (p->kind == Config::Kind::list || p->kind == Config::Kind::object) throw InputError(p->where + ": want a text");
  return p->value;
}

/// What a node offers of `resource`, in thousandths; empty: not stated.
std::optional<Int128> offered(const Config& node, std::string_view resource, Int128 most) {
  for (const std::string_view part : {"allocatable", "capacity"}) {
    const auto text = text_at(node, {"status", part, resource});
    if (!text) continue;
    const auto q = quantity(*text);
    if (!q || *q > most)
      throw InputError(at(node, {"status", part, resource})->where + ": want a quantity such as 8, 7900m or 512Gi, found " + quoted(*text));
    return q;
  }
  return std::nullopt;
}

int64_t whole_label(const Config& node, std::string_view label, int64_t fallback, int64_t most) {
  const auto text = text_at(node, {"metadata", "labels", label});
  if (!text) return fallback;
  const auto n = whole_number(*text);
  if (!n || *n < 0 || *n > most)
    throw InputError(at(node, {"metadata", "labels", label})->where + ": want a whole number from 0 to " + with_commas(most) + ", found " +
                     quoted(*text));
  return *n;
}

}  // namespace

bool is_kubernetes(std::string_view text) {
  if (!trim(text.substr(0, 100)).starts_with("{")) {  // -o yaml
    bool api = false, nodes = false;
    for (const std::string_view line : lines(text.substr(0, 1U << 20U))) {
      api = api || line.starts_with("apiVersion: v1");
      nodes = nodes || line.starts_with("items:") || line == "kind: Node";
    }
    return api && nodes;
  }
  return text.find("\"items\"") != std::string_view::npos || text.find("\"kind\": \"Node\"") != std::string_view::npos;
}

Imported read_kubernetes(Sources sources) {
  const ImportSource& source = sources[0];
  const bool json = trim(source.text.substr(0, 100)).starts_with("{");
  const Config top = json ? parse_json_config(source.text, source.file) : parse_yaml_config(source.text, source.file);
  std::vector<const Config*> nodes;
  if (const Config* items = top.find("items")) {
    if (items->kind != Config::Kind::list) throw InputError(items->where + ": want a list of nodes");
    for (const auto& [none, item] : items->fields) nodes.push_back(&item);
  } else {
    nodes.push_back(&top);
  }
  if (nodes.empty()) fail(source, "no node in it");
  Imported r;
  struct Row {
    TopologySpec::Vertex vertex;
    std::vector<std::string> path;
  };
  std::vector<Row> rows;
  size_t cordoned = 0, shared = 0;
  for (const Config* n : nodes) {
    if (text_at(*n, {"kind"}) != "Node")
      throw InputError(n->where + ": want a Node, found " + quoted(text_at(*n, {"kind"}).value_or("nothing")));
    const auto name = text_at(*n, {"metadata", "name"});
    if (!name || name->empty()) throw InputError(n->where + ": a node without metadata.name");
    NodeKind kind;
    if (const auto cpu = offered(*n, "cpu", Int128(1'000'000) * kMilli)) kind.capacity[kCpu] = int64_t(*cpu), kind.limits_cpu = true;
    if (const auto mem = offered(*n, "memory", (Int128(1'024'000'000) << 20U) * kMilli))
      kind.capacity[kMem] = int64_t((*mem / kMilli) >> 20U), kind.limits_mem = true;
    int64_t gpus = int64_t(offered(*n, "nvidia.com/gpu", Int128(16'384) * 1000 * kMilli).value_or(0) / kMilli);
    // Time slicing offers every GPU several times.
    const int64_t replicas = whole_label(*n, "nvidia.com/gpu.replicas", 1, 1000);
    if (replicas > 1 && gpus > 0) gpus /= replicas, shared++;
    if (gpus > 16'384) throw InputError(n->where + ": a node has at most 16,384 GPUs");
    kind.gpus = uint32_t(gpus);
    if (gpus > 0) {
      std::string type = text_at(*n, {"metadata", "labels", "nvidia.com/gpu.product"}).value_or("");
      constexpr std::string_view kShared = "-SHARED";
      if (type.size() > kShared.size() && type.compare(type.size() - kShared.size(), kShared.size(), kShared) == 0)
        type.resize(type.size() - kShared.size());
      kind.gpu_type = type;
      kind.gpu_mem_mib = whole_label(*n, "nvidia.com/gpu.memory", 0, 1'024'000'000);
    }
    // "535", "104", "05" of the driver; what CUDA it offers.
    const auto version = [&](std::initializer_list<const char*> labels) {
      std::string v;
      for (const char* label : labels) {
        const auto part = text_at(*n, {"metadata", "labels", label});
        if (!part || !whole_number(*part)) break;
        v += (v.empty() ? "" : ".") + *part;
      }
      return v;
    };
    if (gpus > 0) {
      kind.driver = version({"nvidia.com/cuda.driver.major", "nvidia.com/cuda.driver.minor", "nvidia.com/cuda.driver.rev"});
      kind.cuda = version({"nvidia.com/cuda.runtime.major", "nvidia.com/cuda.runtime.minor"});
    }
    cordoned += text_at(*n, {"spec", "unschedulable"}) == "true";
    Row row;
    row.vertex.name = *name;
    row.vertex.gpus = kind.gpus;
    row.vertex.kind = kind_of(r.spec, std::move(kind));
    for (const Place& p : kPlaces) row.path.push_back(text_at(*n, {"metadata", "labels", p.label}).value_or(""));
    rows.push_back(std::move(row));
  }
  // A label makes a level when it tells nodes apart; nodes without it are in a domain of their own.
  std::vector<size_t> used;
  for (size_t i = 0; i < std::size(kPlaces); i++)
    if (std::any_of(rows.begin(), rows.end(), [&](const Row& row) { return row.path[i] != rows[0].path[i]; })) used.push_back(i);
  for (const size_t i : used) r.spec.levels.emplace_back(kPlaces[i].level);
  r.spec.levels.emplace_back("node");
  std::vector<std::map<std::string, size_t>> place(used.size());
  for (Row& row : rows) {
    std::vector<TopologySpec::Vertex>* in = &r.spec.top;
    std::string path;
    for (size_t l = 0; l < used.size(); l++) {
      const std::string& label = row.path[used[l]];
      path += (l ? "." : "") + (label.empty() ? std::string("none") : label);
      const auto [it, fresh] = place[l].try_emplace(path, in->size());
      if (fresh) in->emplace_back().name = path;
      in = &(*in)[it->second].children;
    }
    in->push_back(std::move(row.vertex));
  }
  if (std::none_of(r.spec.kinds.begin(), r.spec.kinds.end(), [](const NodeKind& k) { return k.gpus > 0; }))
    fail(source, "no node offers nvidia.com/gpu");
  if (cordoned) r.notes.push_back(plural(cordoned, "cordoned node") + " (spec.unschedulable) imported like the others");
  if (shared) r.notes.push_back(plural(shared, "node") + " with time slicing: counted by GPU, not by replica");
  return r;
}

}  // namespace muster::import
