// The tree: checked while it is small (equal siblings counted, not written out), then numbered depth first.
#include "muster/topology.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>

#include "muster/config.hpp"
#include "text/numbers.hpp"
#include "topology/links_json.hpp"

namespace muster {
namespace {

constexpr uint64_t kMostGpus = (uint64_t{1} << 31) - 1;
constexpr uint64_t kMostParts = 50'000'000;   // domains and GPUs together: some GB of memory
constexpr uint64_t kMostGpusOfNode = 16'384;  // Piece::word has 8 bits
constexpr size_t kMostLevels = 16;
constexpr int64_t kMostCapacity = std::numeric_limits<int64_t>::max() / 4;

using Vertex = TopologySpec::Vertex;

void append_number(std::string& s, uint64_t n) {
  char digits[20];
  s.append(digits, std::to_chars(digits, digits + sizeof digits, n).ptr);
}

void check_name(std::string_view name) {
  for (char c : name)
    if (static_cast<unsigned char>(c) <= 32 || c == 127 || std::string_view(",*/@:+#\"").find(c) != std::string_view::npos)
      throw InputError("topology: the name " + in_quotes(name) +
                       " has a character that placements use (space, control or one of , * / @ : + # \")");
  if (name.size() > 200) throw InputError("topology: the name " + in_quotes(name) + " has more than 200 characters");
}

/// Checks the parts of a spec and counts what they come to, without writing equal siblings out.
struct Check {
  const TopologySpec& spec;
  size_t node_level;
  uint64_t gpus = 0, parts = 0;
  std::vector<uint64_t> domains;  // by level
  std::vector<uint64_t> nodes_of_kind;

  void levels() const {
    const auto& l = spec.levels;
    if (l.size() > kMostLevels) throw InputError("topology: " + std::to_string(l.size()) + " levels; at most 16");
    for (size_t i = 0; i < l.size(); i++) {
      if (l[i].empty()) throw InputError("topology: a level has no name");
      check_name(l[i]);
      if (l[i] == "gpu") throw InputError("topology: \"gpu\" is not a level of its own; it stands below the last one");
      if (std::find(l.begin(), l.begin() + long(i), l[i]) != l.begin() + long(i))
        throw InputError("topology: level " + in_quotes(l[i]) + " is named twice");
    }
  }

  void add(uint64_t& sum, uint64_t n) const {
    sum += n;
    if (gpus > kMostGpus) throw InputError("topology: more than 2,147,483,647 GPUs");
    if (parts > kMostParts) throw InputError("topology: more than 50,000,000 nodes, other domains and GPUs together");
  }

  /// GPUs below one of `v`, which stands `times` times in the cluster.
  uint64_t count(const Vertex& v, size_t level, uint64_t times) {
    const std::string& what = spec.levels[level];
    if (v.count == 0) throw InputError("topology: 0 times " + what);
    check_name(v.name);
    // A product of two numbers below 2^31 fits.
    if (v.count > kMostGpus || times * v.count > kMostGpus)
      throw InputError("topology: " + with_commas(int64_t(std::min(v.count, uint64_t{1} << 62))) + " times " + what +
                       ": more than 2,147,483,647 of them");
    times *= v.count;
    if (!v.children.empty() && level + 1 == spec.levels.size())
      throw InputError("topology: " + what + " has parts; nothing but GPUs is below it");
    if (v.gpus && !v.children.empty())
      throw InputError("topology: " + what + " has both GPUs and parts of its own; GPUs belong to the lowest level");
    if (level < node_level && v.children.empty())
      throw InputError("topology: " + what + (v.name.empty() ? "" : " " + v.name) + " has no " + spec.levels[level + 1] + " in it");
    uint64_t below = v.gpus;
    if (level == node_level) {
      const uint32_t kind = v.kind == kNone && spec.kinds.size() == 1 ? 0 : v.kind;
      if (kind >= spec.kinds.size()) throw InputError("topology: " + what + (v.name.empty() ? "" : " " + v.name) + " has no known kind");
      if (v.children.empty() && below == 0) below = spec.kinds[kind].gpus;
      nodes_of_kind[kind] += times;
    } else if (v.kind != kNone) {
      throw InputError("topology: " + what + " has a kind; only nodes have one");
    }
    for (const Vertex& c : v.children) below += count(c, level + 1, times) * c.count;
    if (level == node_level) {
      const NodeKind& kind = spec.kinds[v.kind == kNone ? 0 : v.kind];
      if (below > kMostGpusOfNode) throw InputError("topology: a node has " + std::to_string(below) + " GPUs; at most 16,384");
      if (below != kind.gpus)
        throw InputError("topology: node" + (v.name.empty() ? "" : " " + v.name) + " has " + std::to_string(below) + " GPUs, its kind " +
                         in_quotes(kind.name) + " says " + std::to_string(kind.gpus));
      add(gpus, below * times), add(parts, below * times);
    }
    if (v.children.empty() && below)  // one unnamed domain of each level below
      for (size_t l = level + 1; l < spec.levels.size(); l++) domains[l] += times, add(parts, times);
    domains[level] += times;
    add(parts, times);
    return below;
  }

  /// The sum over all nodes must fit: policies add it up.
  void capacities() const {
    for (size_t k = 1; k < kMaxKinds; k++) {
      Int128 sum = 0;
      for (size_t i = 0; i < spec.kinds.size(); i++) {
        const int64_t a = spec.kinds[i].capacity[k];
        if (a < 0) throw InputError("topology: kind " + in_quotes(spec.kinds[i].name) + " has a negative capacity");
        sum += Int128(a) * int64_t(nodes_of_kind[i]);
      }
      if (sum > kMostCapacity) throw InputError("topology: the capacities of all nodes together pass 2^61");
    }
  }
};

}  // namespace

Topology Topology::build(TopologySpec spec) {
  Topology t;
  const auto node = std::find(spec.levels.begin(), spec.levels.end(), "node");
  if (node == spec.levels.end()) throw InputError("topology: no level is called \"node\"");
  t.node_level_ = size_t(node - spec.levels.begin());
  if (spec.top.empty()) throw InputError("topology: no nodes");
  if (spec.kinds_of_resource.size() > kMaxKinds - 3)
    throw InputError("topology: more than " + std::to_string(kMaxKinds - 3) + " named resources");
  const size_t levels = spec.levels.size(), node_level = t.node_level_;

  Check check{spec, node_level, 0, 0, std::vector<uint64_t>(levels), std::vector<uint64_t>(spec.kinds.size())};
  check.levels();
  for (const Vertex& v : spec.top) check.count(v, 0, 1);
  check.capacities();
  check_links(spec, node_level);

  t.resource_names_ = {"gpu", "cpu", "mem"};
  for (const std::string& name : spec.kinds_of_resource) {
    check_name(name);
    if (std::find(t.resource_names_.begin(), t.resource_names_.end(), name) != t.resource_names_.end())
      throw InputError("topology: resource " + in_quotes(name) + " is named twice");
    t.limits_[t.resource_names_.size()] = true;
    t.resource_names_.push_back(name);
  }
  for (size_t i = 0; i < spec.kinds.size(); i++) {
    spec.kinds[i].capacity[kGpu] = spec.kinds[i].gpus * kMilli;
    if (!check.nodes_of_kind[i]) continue;
    t.limits_[kCpu] |= spec.kinds[i].limits_cpu;
    t.limits_[kMem] |= spec.kinds[i].limits_mem;
    t.most_gpus_ = std::max(t.most_gpus_, spec.kinds[i].gpus);
  }

  t.domains_.resize(levels);
  for (size_t l = 0; l < levels; l++) t.domains_[l].reserve(check.domains[l]);
  t.node_first_.reserve(check.domains[node_level] + 1);
  t.node_kind_.reserve(check.domains[node_level]);

  std::vector<uint8_t> named(levels);     // whether some domain of the level has a name of its own
  std::vector<uint32_t> in_node(levels);  // domains of the level so far in this node
  std::string node_name, name;
  auto place = [&](auto& self, const Vertex& v, size_t level, uint32_t parent) -> void {
    const bool is_node = level == node_level, inside = level > node_level;
    for (uint64_t i = 0; i < v.count; i++) {
      const uint32_t index = uint32_t(t.domains_[level].size());
      name.clear();
      if (inside) name.append(node_name).push_back('/');
      if (v.name.empty()) {
        if (is_node) name.push_back('n');
        else name.append(spec.levels[level]);
        append_number(name, inside ? in_node[level] : index);
      } else {
        named[level] = 1;
        name.append(v.name);
        if (v.count > 1) append_number(name, i);
      }
      Domain& d = t.domains_[level].emplace_back();
      d.name = name;
      d.parent = level ? parent : kNone;
      d.gpu_begin = t.gpus_;
      d.node_begin = uint32_t(t.node_kind_.size()) - inside;
      if (inside) in_node[level]++;
      uint32_t gpus = v.gpus;
      if (is_node) {
        node_name = name;
        std::fill(in_node.begin(), in_node.end(), 0);
        const uint32_t kind = v.kind == kNone ? 0 : v.kind;
        t.node_kind_.push_back(kind);
        if (v.children.empty()) gpus = spec.kinds[kind].gpus;
      }
      if (v.children.empty() && gpus && level + 1 < levels) {
        Vertex all;
        all.gpus = gpus;
        self(self, all, level + 1, index);
      } else if (v.children.empty()) {
        t.gpus_ += gpus;
      }
      for (const Vertex& c : v.children) self(self, c, level + 1, index);
      Domain& done = t.domains_[level][index];
      done.gpu_end = t.gpus_;
      done.node_end = uint32_t(t.node_kind_.size());
      if (is_node) t.node_first_.push_back(t.gpus_);
    }
  };
  for (const Vertex& v : spec.top) place(place, v, 0, kNone);

  for (size_t l = 0; l <= node_level; l++) {
    if (!named[l]) continue;
    const auto& d = t.domains_[l];
    std::vector<uint32_t> order(d.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return d[a].name < d[b].name; });
    const auto twice = std::adjacent_find(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return d[a].name == d[b].name; });
    if (twice != order.end())
      throw InputError("topology: two domains of level " + spec.levels[l] + " are called " + in_quotes(d[*twice].name));
    if (l == node_level) t.nodes_by_name_ = std::move(order);
  }

  t.domain_of_node_.resize(node_level);
  for (size_t l = 0; l < node_level; l++) {
    auto& of = t.domain_of_node_[l];
    of.reserve(t.node_kind_.size());
    for (size_t i = 0; i < t.domains_[l].size(); i++) of.resize(t.domains_[l][i].node_end, uint32_t(i));
  }
  t.domain_of_gpu_.resize(levels - node_level - 1);
  for (size_t l = node_level + 1; l < levels; l++) {
    auto& of = t.domain_of_gpu_[l - node_level - 1];
    of.reserve(t.gpus_);
    for (size_t i = 0; i < t.domains_[l].size(); i++) of.resize(t.domains_[l][i].gpu_end, uint32_t(i));
  }
  t.node_of_.reserve(t.gpus_);
  for (NodeId n = 0; n < t.node_kind_.size(); n++) t.node_of_.resize(t.node_first_[n + 1], n);

  t.name_ = std::move(spec.name);
  t.levels_ = std::move(spec.levels);
  t.kinds_ = std::move(spec.kinds);
  t.links_ = std::move(spec.links);
  return t;
}

std::string Topology::gpu_name(GpuId g) const {
  const NodeId n = node_of_[g];
  std::string s = node_name(n) + "/gpu";
  append_number(s, g - node_first_[n]);
  return s;
}

NodeId Topology::find_node(std::string_view name) const {
  if (nodes_by_name_.empty()) {  // all are called n0, n1, ...
    const auto n = name.size() > 1 && name[0] == 'n' && name[1] != '-' ? whole_number(name.substr(1)) : std::nullopt;
    return n && *n < int64_t(nodes()) && node_name(NodeId(*n)) == name ? NodeId(*n) : kNone;
  }
  const auto at =
      std::lower_bound(nodes_by_name_.begin(), nodes_by_name_.end(), name, [&](NodeId n, std::string_view s) { return node_name(n) < s; });
  return at != nodes_by_name_.end() && node_name(*at) == name ? *at : kNone;
}

size_t Topology::numa_level() const {
  for (const std::string_view name : {"numa", "socket"})
    if (const size_t l = find_level(name); l < levels_.size() && l > node_level_) return l;
  return node_level_;
}

}  // namespace muster
