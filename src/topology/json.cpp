#include "topology/json.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "muster/config.hpp"
#include "text/json_config.hpp"
#include "text/numbers.hpp"
#include "topology/links_json.hpp"

namespace muster {
namespace {

constexpr std::string_view kTreeKeys[] = {"$schema", "name", "levels", "resources", "links", "kinds", "tree"};
constexpr std::string_view kFlatKeys[] = {"$schema", "name", "resources", "links", "nodes"};
constexpr std::string_view kTopKeys[] = {"$schema", "name", "levels", "resources", "links", "kinds", "tree", "nodes"};
constexpr std::string_view kVertexKeys[] = {"name", "count", "kind", "gpus", "parts"};
constexpr std::string_view kKindKeys[] = {"gpus",   "cpus", "mem_gib", "mem_mib",   "gpu_type", "gpu_mem_gib", "gpu_mem_mib",
                                          "driver", "cuda", "labels",  "resources", "links"};
constexpr std::string_view kNodeKeys[] = {"name",     "count",       "rack",        "gpus",   "cpus", "mem_gib", "mem_mib",
                                          "gpu_type", "gpu_mem_gib", "gpu_mem_mib", "driver", "cuda", "labels",  "resources", "links"};

[[noreturn]] void fail(const Config& at, const std::string& what) { throw InputError(at.where + ": " + what); }

const auto& fields_of(const Config& c, Config::Kind kind, const char* what) {
  if (c.kind != kind) fail(c, std::string("want ") + what);
  return c.fields;
}
const auto& list(const Config& c) { return fields_of(c, Config::Kind::list, "a list"); }
const auto& object(const Config& c) { return fields_of(c, Config::Kind::object, "an object"); }

/// A number of at most `most` units, in `scale` parts of the unit; capacity rounds down.
int64_t amount(const Config& c, int64_t scale, int64_t most) {
  const auto a = c.kind == Config::Kind::number ? scaled_decimal(c.value, scale, Round::down) : std::nullopt;
  if (!a || *a < 0 || c.value[0] == '-' || *a > most * scale) {
    const std::string found = c.kind == Config::Kind::number ? c.value.substr(0, 60)
                              : c.kind == Config::Kind::text ? in_quotes(c.value)
                                                             : "something else";
    fail(c, "want a number from 0 to " + with_commas(most) + ", found " + found);
  }
  return *a;
}

std::string name_of(const Config& c) {
  const std::string_view s = c.as_text();
  if (s.empty()) fail(c, "want a name, found \"\"");
  return std::string(s);
}

uint32_t gpus_of(const Config& c) {
  const int64_t n = c.as_integer(0, 1'000'000);
  if (n > 16'384) fail(c, "a node has at most 16,384 GPUs, found " + with_commas(n));
  return uint32_t(n);
}

class Reader {
 public:
  TopologySpec read(const Config& top) {
    object(top);
    const bool tree = top.find("tree") != nullptr, flat = top.find("nodes") != nullptr;
    top.only(tree == flat ? std::span<const std::string_view>(kTopKeys) : tree ? std::span<const std::string_view>(kTreeKeys) : kFlatKeys);
    if (tree == flat) fail(top, "want either \"tree\" (with \"levels\") or \"nodes\" (a flat list)");
    if (const Config* name = top.find("name")) spec_.name = name_of(*name);
    if (const Config* names = top.find("resources"))
      for (const auto& [none, n] : list(*names)) {
        if (spec_.kinds_of_resource.size() == kMaxKinds - 3) fail(n, "more than " + std::to_string(kMaxKinds - 3) + " named resources");
        const std::string name = name_of(n);
        if (name == "gpu" || name == "cpu" || name == "mem" || resource(name) < spec_.kinds_of_resource.size())
          fail(n, "resource " + in_quotes(name) + " is there already");
        spec_.kinds_of_resource.push_back(name);
      }
    if (tree) read_tree(top);
    else read_flat(*top.find("nodes"));
    if (const Config* links = top.find("links")) {
      NodeLinks usual;
      spec_.links = fabric_links_from(*links, spec_.levels, node_level_, usual);
      for (NodeKind& k : spec_.kinds) complete(k.links, usual);
    }
    return std::move(spec_);
  }

 private:
  size_t resource(std::string_view name) const {
    return size_t(std::find(spec_.kinds_of_resource.begin(), spec_.kinds_of_resource.end(), name) - spec_.kinds_of_resource.begin());
  }

  /// The attributes of a node or a kind; all of its keys are known to be good.
  NodeKind attributes(const Config& c) const {
    NodeKind kind;
    for (const auto& [key, v] : object(c)) {
      if (!v.given()) continue;
      if (key == "gpus") {
        kind.gpus = gpus_of(v);
      } else if (key == "cpus") {
        kind.capacity[kCpu] = amount(v, kMilli, 1'000'000), kind.limits_cpu = true;
      } else if (key == "mem_gib" || key == "mem_mib") {
        if (kind.limits_mem) fail(v, "mem_gib and mem_mib are both given");
        kind.capacity[kMem] = key == "mem_gib" ? amount(v, 1024, 1'000'000) : amount(v, 1, 1'024'000'000), kind.limits_mem = true;
      } else if (key == "gpu_mem_gib" || key == "gpu_mem_mib") {
        if (c.find("gpu_mem_gib") && c.find("gpu_mem_mib")) fail(v, "gpu_mem_gib and gpu_mem_mib are both given");
        kind.gpu_mem_mib = key == "gpu_mem_gib" ? amount(v, 1024, 1'000'000) : amount(v, 1, 1'024'000'000);
      } else if (key == "gpu_type") {
        kind.gpu_type = name_of(v);
      } else if (key == "driver" || key == "cuda") {
        std::string& version = key == "driver" ? kind.driver : kind.cuda;
        version = name_of(v);
        if (!is_version(version)) fail(v, "want a version as in \"535.104.05\", found " + in_quotes(version));
      } else if (key == "labels") {
        for (const auto& [name, label] : object(v)) {
          if (label.kind == Config::Kind::list || label.kind == Config::Kind::object) fail(label, "want a text");
          kind.labels.emplace_back(name, label.value);
        }
        std::sort(kind.labels.begin(), kind.labels.end());
      } else if (key == "links") {
        kind.links = node_links_from(v, std::span<const std::string>(spec_.levels).subspan(node_level_ + 1));
      } else if (key == "resources") {
        for (const auto& [name, a] : object(v)) {
          const size_t r = resource(name);
          if (r == spec_.kinds_of_resource.size()) fail(a, "resource " + in_quotes(name) + " is not in the list \"resources\" at the top");
          kind.capacity[3 + r] = amount(a, 1, 1'000'000'000'000);
        }
      }
    }
    return kind;
  }

  uint64_t count_of(const Config& c) const {
    const Config* n = c.find("count");
    return n && n->given() ? uint64_t(n->as_integer(1, 2'147'483'647)) : 1;
  }

  void read_tree(const Config& top) {
    const Config* levels = top.find("levels");
    if (!levels) fail(top, "\"tree\" wants \"levels\", as in [\"rack\", \"node\", \"socket\"]");
    for (const auto& [none, l] : list(*levels)) spec_.levels.push_back(name_of(l));
    node_level_ = size_t(std::find(spec_.levels.begin(), spec_.levels.end(), "node") - spec_.levels.begin());
    if (node_level_ == spec_.levels.size()) fail(*levels, "want a level called \"node\"");
    if (const Config* kinds = top.find("kinds"))
      for (const auto& [name, k] : object(*kinds)) {
        object(k);
        k.only(kKindKeys);
        NodeKind kind = attributes(k);
        kind.name = name;
        states_gpus_.push_back(k.find("gpus") != nullptr);
        spec_.kinds.push_back(std::move(kind));
      }
    const Config& tree = *top.find("tree");
    if (list(tree).empty()) fail(tree, "want at least one " + spec_.levels[0]);
    for (const auto& [none, v] : tree.fields) spec_.top.push_back(vertex(v, 0).first);
  }

  /// The vertex and the GPUs of one of it.
  std::pair<TopologySpec::Vertex, uint64_t> vertex(const Config& c, size_t level) {
    object(c);
    c.only(kVertexKeys);
    TopologySpec::Vertex v;
    if (const Config* name = c.find("name")) v.name = name_of(*name);
    v.count = count_of(c);
    const Config *kind = c.find("kind"), *gpus = c.find("gpus"), *parts = c.find("parts");
    if (gpus && parts) fail(*gpus, "a " + spec_.levels[level] + " with parts has no GPUs of its own");
    if (gpus && level < node_level_) fail(*gpus, "GPUs belong to a node; this is a " + spec_.levels[level]);
    uint64_t below = gpus ? v.gpus = gpus_of(*gpus) : 0;
    if (parts) {
      if (level + 1 == spec_.levels.size()) fail(*parts, "\"levels\" has nothing below " + spec_.levels[level]);
      if (list(*parts).empty()) fail(*parts, "want at least one " + spec_.levels[level + 1]);
      for (const auto& [none, p] : parts->fields) {
        auto [child, n] = vertex(p, level + 1);
        below += n * child.count;
        if (level >= node_level_ && below > 16'384) fail(*parts, "a node has at most 16,384 GPUs");
        if (level < node_level_) below = 0;
        v.children.push_back(std::move(child));
      }
    } else if (level < node_level_) {
      fail(c, "want \"parts\", the " + spec_.levels[level + 1] + "s in this " + spec_.levels[level]);
    }
    if (level != node_level_) {
      if (kind) fail(*kind, "only a node has a kind; this is a " + spec_.levels[level]);
      return {std::move(v), below};
    }
    v.kind = kind_of(c, kind, below, gpus || parts);
    return {std::move(v), 0};
  }

  uint32_t kind_of(const Config& c, const Config* kind, uint64_t gpus, bool states_gpus) {
    if (!kind) {  // a plain node; one kind for each number of GPUs
      const auto [at, fresh] = plain_.try_emplace(gpus, uint32_t(spec_.kinds.size()));
      if (fresh) {
        NodeKind k;
        k.gpus = uint32_t(gpus);
        k.name = std::to_string(gpus) + "-gpu";
        spec_.kinds.push_back(std::move(k));
        states_gpus_.push_back(true);
      }
      return at->second;
    }
    const std::string name = name_of(*kind);
    std::vector<std::string_view> known;
    for (const NodeKind& k : spec_.kinds) known.push_back(k.name);
    const size_t i = size_t(std::find(known.begin(), known.end(), name) - known.begin());
    if (i == known.size()) {
      const std::string near = nearest_name(name, known);
      fail(*kind, "no kind is called " + in_quotes(name) + (near.empty() ? "" : "; did you mean " + near + "?"));
    }
    NodeKind& k = spec_.kinds[i];
    if (!states_gpus_[i]) k.gpus = uint32_t(gpus), states_gpus_[i] = true;
    if (states_gpus && gpus != k.gpus)
      fail(c, "this node has " + std::to_string(gpus) + " GPUs, another of kind " + in_quotes(name) + " or the kind itself " +
                  std::to_string(k.gpus));
    return uint32_t(i);
  }

  void read_flat(const Config& nodes) {
    if (list(nodes).empty()) fail(nodes, "want at least one node");
    const bool racks = nodes.fields[0].second.find("rack") != nullptr;
    spec_.levels = racks ? std::vector<std::string>{"rack", "node"} : std::vector<std::string>{"node"};
    node_level_ = racks ? 1 : 0;
    std::map<std::string, size_t> rack_of;
    std::map<std::pair<std::array<int64_t, kMaxKinds + 4>, std::vector<std::string>>, uint32_t> kinds;
    for (const auto& [none, n] : nodes.fields) {
      object(n);
      n.only(kNodeKeys);
      NodeKind k = attributes(n);
      k.capacity[kGpu] = k.gpus * kMilli;
      std::array<int64_t, kMaxKinds + 4> key{k.gpus, k.gpu_mem_mib, k.limits_cpu, k.limits_mem};
      std::copy(k.capacity.amount.begin(), k.capacity.amount.end(), key.begin() + 4);
      std::vector<std::string> words{k.gpu_type, k.driver, k.cuda, links_text(k.links, {",", ":"})};
      for (const auto& [label, value] : k.labels) words.push_back(label), words.push_back(value);
      const auto [at, fresh] = kinds.try_emplace({key, std::move(words)}, uint32_t(spec_.kinds.size()));
      TopologySpec::Vertex v;
      v.kind = at->second;
      v.gpus = k.gpus;
      v.count = count_of(n);
      if (fresh) {
        k.name = std::to_string(k.gpus) + "-gpu" + (k.gpu_type.empty() ? "" : "-" + k.gpu_type);
        spec_.kinds.push_back(std::move(k));
      }
      if (const Config* name = n.find("name")) v.name = name_of(*name);
      const Config* rack = n.find("rack");
      if ((rack != nullptr) != racks) fail(n, racks ? "no rack; the first node has one" : "a rack; the first node has none");
      if (!racks) {
        spec_.top.push_back(std::move(v));
        continue;
      }
      const std::string name = name_of(*rack);
      const auto [in, first] = rack_of.try_emplace(name, spec_.top.size());
      if (first) spec_.top.emplace_back().name = name;
      spec_.top[in->second].children.push_back(std::move(v));
    }
  }

  TopologySpec spec_;
  size_t node_level_ = 0;
  std::vector<uint8_t> states_gpus_;  // by kind: its number of GPUs is settled
  std::map<uint64_t, uint32_t> plain_;
};

}  // namespace

Topology topology_from_json(std::string_view text, std::string_view file) {
  TopologySpec spec = Reader().read(parse_json_config(text, file));
  if (spec.name.empty()) {
    std::string_view stem = file.substr(file.rfind('/') + 1);
    if (stem.ends_with(".json")) stem.remove_suffix(5);
    spec.name = stem;
  }
  try {
    return Topology::build(std::move(spec));
  } catch (const InputError& e) {
    std::string_view what = e.what();
    if (what.starts_with("topology: ")) what.remove_prefix(10);
    throw InputError(std::string(file) + ": " + std::string(what));
  }
}

}  // namespace muster
