#include "topology/to_json.hpp"

#include <algorithm>
#include <array>

#include "text/json_config.hpp"
#include "text/json_text.hpp"
#include "topology/links_json.hpp"

namespace muster {
namespace {

constexpr JsonStyle kStyle{",", ":"};

/// Walks the tree once, in order; the children of a domain are the next ones of the level below that name it as their parent.
class Writer {
 public:
  explicit Writer(const Topology& t) : t_(t), next_(t.levels().size()), in_node_(t.levels().size()) {}

  /// The domains of `level` with that parent, as a list.
  std::string list(size_t level, uint32_t parent) {
    std::string out = "[", last;
    uint64_t times = 0;
    const auto flush = [&] {
      if (times == 0) return;
      if (out.size() > 1) out += ',';
      out += '{';
      if (times > 1) out += "\"count\":", append_int(out, int64_t(times)), out += last.empty() ? "" : ",";
      out += last + '}';
    };
    const auto& domains = t_.domains(level);
    while (next_[level] < domains.size() && domains[next_[level]].parent == parent) {
      bool named = false;
      std::string text = vertex(level, named);
      if (times > 0 && !named && text == last) {
        times++;
        continue;
      }
      flush();
      last = std::move(text), times = 1;
    }
    flush();
    return out += ']';
  }

 private:
  std::string vertex(size_t level, bool& named) {
    const uint32_t index = next_[level]++;
    const Domain& d = t_.domains(level)[index];
    const size_t node_level = t_.node_level();
    std::string out;
    const auto key = [&](const char* name) -> std::string& { return out += (out.empty() ? "\"" : ",\"") + std::string(name) + "\":"; };
    std::string_view name = d.name;
    std::string usual = level == node_level ? "n" : t_.levels()[level];
    if (level > node_level) {
      name.remove_prefix(t_.node_name(d.node_begin).size() + 1);
      append_int(usual, int64_t{in_node_[level]++});
    } else {
      append_int(usual, int64_t{index});
    }
    named = name != usual;
    if (named) append_string(key("name"), name);
    if (level == node_level) {
      std::fill(in_node_.begin(), in_node_.end(), 0);
      append_int(key("kind"), int64_t{t_.kind_id(index)});
    }
    if (level + 1 == t_.levels().size()) {
      if (level != node_level) append_int(key("gpus"), int64_t{d.gpu_end} - d.gpu_begin);
    } else if (std::string in = list(level + 1, index); in != "[]") {
      key("in") += in;
    }
    return out;
  }

  const Topology& t_;
  std::vector<uint32_t> next_, in_node_;
};

TopologySpec::Vertex vertex_of(const Config& c) {
  static constexpr std::array<std::string_view, 5> kKnown{"count", "name", "kind", "gpus", "in"};
  c.only(kKnown);
  TopologySpec::Vertex v;
  if (const Config* f = c.find("count")) v.count = uint64_t(f->as_integer(1, std::numeric_limits<uint32_t>::max()));
  if (const Config* f = c.find("name")) v.name = f->as_text();
  if (const Config* f = c.find("kind")) v.kind = uint32_t(f->as_integer(0, kNone - 1));
  if (const Config* f = c.find("gpus")) v.gpus = uint32_t(f->as_integer(0, std::numeric_limits<int32_t>::max()));
  if (const Config* f = c.find("in"))
    for (const auto& [name, child] : f->fields) v.children.push_back(vertex_of(child));
  return v;
}

const Config& want(const Config& c, std::string_view name) {
  const Config* f = c.find(name);
  if (!f) throw InputError(c.where + ": \"" + std::string(name) + "\" is missing");
  return *f;
}

}  // namespace

std::string topology_json(const Topology& t) {
  std::string out = "{\"name\":";
  append_string(out, t.name());
  const auto names = [&](const auto& list, size_t from) {
    out += '[';
    for (size_t i = from; i < list.size(); i++) out += i > from ? "," : "", append_string(out, list[i]);
    out += ']';
  };
  out += ",\"levels\":", names(t.levels(), 0);
  out += ",\"resources\":", names(t.resource_names(), 3);
  out += ",\"kinds\":[";
  for (size_t i = 0; i < t.kinds().size(); i++) {
    const NodeKind& k = t.kinds()[i];
    out += i ? ",{\"name\":" : "{\"name\":", append_string(out, k.name);
    out += ",\"gpus\":", append_int(out, int64_t{k.gpus});
    out += ",\"gpu_type\":", append_string(out, k.gpu_type);
    out += ",\"gpu_mem_mib\":", append_int(out, k.gpu_mem_mib);
    if (!k.driver.empty()) out += ",\"driver\":", append_string(out, k.driver);
    if (!k.cuda.empty()) out += ",\"cuda\":", append_string(out, k.cuda);
    for (size_t l = 0; l < k.labels.size(); l++) {
      out += l ? "," : ",\"labels\":{", append_string(out, k.labels[l].first), out += ':', append_string(out, k.labels[l].second);
      if (l + 1 == k.labels.size()) out += '}';
    }
    out += ",\"limits_cpu\":", out += k.limits_cpu ? "true" : "false";
    out += ",\"limits_mem\":", out += k.limits_mem ? "true" : "false";
    out += ",\"capacity\":[";
    for (size_t r = 0; r < kMaxKinds; r++) out += r ? "," : "", append_int(out, k.capacity[r]);
    out += ']';
    if (const std::string links = links_text(k.links, kStyle); !links.empty()) out += ",\"links\":" + links;
    out += '}';
  }
  out += ']';
  if (const std::string links = links_text(t.links(), kStyle); !links.empty()) out += ",\"links\":" + links;
  out += ",\"tree\":";
  out += Writer(t).list(0, kNone);
  return out += '}';
}

namespace {

TopologySpec spec_from_record(const Config& c) {
  static constexpr std::array<std::string_view, 6> kKnown{"name", "levels", "resources", "kinds", "links", "tree"};
  static constexpr std::array<std::string_view, 11> kKindKeys{"name",   "gpus",       "gpu_type",   "gpu_mem_mib", "driver", "cuda",
                                                              "labels", "limits_cpu", "limits_mem", "capacity",    "links"};
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  c.only(kKnown);
  TopologySpec s;
  s.name = want(c, "name").as_text();
  for (const auto& [name, f] : want(c, "levels").fields) s.levels.emplace_back(f.as_text());
  const auto node_level = size_t(std::find(s.levels.begin(), s.levels.end(), "node") - s.levels.begin());
  const auto below = std::span<const std::string>(s.levels).subspan(std::min(node_level + 1, s.levels.size()));
  for (const auto& [name, f] : want(c, "resources").fields) s.kinds_of_resource.emplace_back(f.as_text());
  for (const auto& [name, f] : want(c, "kinds").fields) {
    f.only(kKindKeys);
    NodeKind& k = s.kinds.emplace_back();
    k.name = want(f, "name").as_text();
    k.gpus = uint32_t(want(f, "gpus").as_integer(0, std::numeric_limits<int32_t>::max()));
    k.gpu_type = want(f, "gpu_type").as_text();
    k.gpu_mem_mib = want(f, "gpu_mem_mib").as_integer(0, kMost);
    if (const Config* v = f.find("driver")) k.driver = v->as_text();
    if (const Config* v = f.find("cuda")) k.cuda = v->as_text();
    if (const Config* labels = f.find("labels"))
      for (const auto& [label, v] : labels->fields) k.labels.emplace_back(label, v.as_text());
    k.limits_cpu = want(f, "limits_cpu").as_boolean();
    k.limits_mem = want(f, "limits_mem").as_boolean();
    const Config& amounts = want(f, "capacity");
    if (amounts.fields.size() != kMaxKinds) throw InputError(amounts.where + ": want " + std::to_string(kMaxKinds) + " amounts");
    for (size_t r = 0; r < kMaxKinds; r++) k.capacity[r] = amounts.fields[r].second.as_integer(0, kMost);
    if (const Config* links = f.find("links")) k.links = node_links_from(*links, below);
  }
  NodeLinks none;
  if (const Config* links = c.find("links")) s.links = fabric_links_from(*links, s.levels, node_level, none);
  for (const auto& [name, f] : want(c, "tree").fields) s.top.push_back(vertex_of(f));
  return s;
}

}  // namespace

TopologySpec spec_of(const Topology& t) { return spec_from_record(parse_json_config(topology_json(t), "topology")); }

Topology topology_from_record(const Config& c) {
  TopologySpec s = spec_from_record(c);
  try {
    return Topology::build(std::move(s));
  } catch (const InputError& e) { throw InputError(c.where + ": " + e.what()); }
}

}  // namespace muster
