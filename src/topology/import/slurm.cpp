// Slurm: topology.conf (switches or blocks), slurm.conf (node lines) and gres.conf (GPUs and their sockets), in any order.
#include <algorithm>
#include <cctype>
#include <map>
#include <numeric>
#include <optional>

#include "muster/config.hpp"
#include "text/numbers.hpp"
#include "topology/import/readers.hpp"
#include "topology/import/shape.hpp"
#include "workload/message.hpp"

namespace muster::import {
namespace {

constexpr size_t kMostHosts = 1'000'000;
constexpr size_t kMostGpus = 16'384;

/// A line "Key=value Key=value ..." by lower-case keys.
struct Line {
  const ImportSource* source;
  size_t number;
  std::vector<std::pair<std::string, std::string>> pairs;

  std::optional<std::string> get(std::string_view key) const {
    for (const auto& [k, v] : pairs)
      if (k == key) return v;
    return std::nullopt;
  }
  [[noreturn]] void bad(const std::string& what) const { fail(*source, number, what); }
  int64_t whole(const std::string& key, int64_t fallback, int64_t most) const {
    const auto v = get(key);
    if (!v) return fallback;
    const auto n = whole_number(*v);
    if (!n || *n < 0 || *n > most) bad(key + ": want a whole number from 0 to " + with_commas(most) + ", found " + quoted(*v));
    return *n;
  }
};

/// Lines with comments cut, continued ones joined.
std::vector<Line> lines_of(const ImportSource& source) {
  std::vector<Line> r;
  std::string joined;
  size_t number = 0, first = 0;
  for (const std::string_view raw : lines(source.text)) {
    number++;
    std::string_view text = trim(raw.substr(0, raw.find('#')));
    if (joined.empty()) first = number;
    if (!text.empty() && text.back() == '\\') {
      text.remove_suffix(1);
      joined += std::string(text) + " ";
      continue;
    }
    joined += text;
    Line line{&source, first, {}};
    for (const std::string_view word : words(joined)) {
      const size_t equals = word.find('=');
      if (equals == std::string_view::npos) continue;  // a value with blanks, of a key nothing here reads
      line.pairs.emplace_back(lower(word.substr(0, equals)), std::string(word.substr(equals + 1)));
    }
    if (!line.pairs.empty()) r.push_back(std::move(line));
    joined.clear();
  }
  return r;
}

/// "a,b" outside of brackets.
std::vector<std::string_view> split_list(std::string_view s) {
  std::vector<std::string_view> r;
  size_t begin = 0;
  int depth = 0;
  for (size_t i = 0; i <= s.size(); i++) {
    if (i < s.size() && s[i] == '[') depth++;
    if (i < s.size() && s[i] == ']') depth--;
    if (i == s.size() || (s[i] == ',' && depth == 0)) {
      if (i > begin) r.push_back(s.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  return r;
}

void expand(const Line& line, const std::string& before, std::string_view rest, std::vector<std::string>& out) {
  const size_t open = rest.find('[');
  if (open == std::string_view::npos) {
    if (rest.find(']') != std::string_view::npos) line.bad("a host list with ] and no [: " + quoted(rest));
    if (out.size() == kMostHosts) line.bad("a host list of more than 1,000,000 names");
    out.push_back(before + std::string(rest));
    return;
  }
  const size_t close = rest.find(']', open);
  if (close == std::string_view::npos) line.bad("a host list with [ and no ]: " + quoted(rest));
  const std::string stem = before + std::string(rest.substr(0, open));
  const auto ranges = split_list(rest.substr(open + 1, close - open - 1));
  if (ranges.empty()) line.bad("a host list with nothing in its brackets: " + quoted(rest));
  for (const std::string_view range : ranges) {
    const std::string_view low = range.substr(0, range.find('-'));
    const std::string_view high = low.size() == range.size() ? low : range.substr(low.size() + 1);
    const auto a = whole_number(low), b = whole_number(high);
    if (!a || !b || *a < 0 || *b < *a) line.bad("a host list with a range that is none: " + quoted(range));
    if (*b - *a >= int64_t(kMostHosts)) line.bad("a host list of more than 1,000,000 names");
    for (int64_t n = *a; n <= *b; n++) {
      std::string digits = std::to_string(n);
      if (digits.size() < low.size()) digits.insert(0, low.size() - digits.size(), '0');
      expand(line, stem + digits, rest.substr(close + 1), out);
    }
  }
}

std::vector<std::string> hosts(const Line& line, const std::string& key) {
  std::vector<std::string> out;
  const std::string list = line.get(key).value_or("");
  for (const std::string_view part : split_list(list)) expand(line, "", part, out);
  if (out.empty()) line.bad(key + " names nothing");
  return out;
}

/// GPUs as gres.conf lists them: the cores of each (empty: not stated).
struct Gres {
  std::vector<std::string> cores;
  std::vector<std::vector<uint32_t>> nvlinks;  // to each other GPU; empty: not stated
  std::string type;
  bool types_differ = false;
};

struct Node {
  std::string name;
  NodeKind kind;
  bool states_gpus = false;
};

struct Switch {
  const Line* line;
  std::vector<std::string> nodes, below;
  bool child = false;
};

class Cluster {
 public:
  explicit Cluster(Sources sources) {
    for (const ImportSource& s : sources)
      for (Line& l : lines_of(s)) all_.push_back(std::move(l));
    for (const Line& l : all_) {
      const std::string& first = l.pairs[0].first;
      if (first == "switchname") add_switch(l, "switchname");
      else if (first == "blockname") add_switch(l, "blockname");
      else if (l.get("name") && (first == "nodename" || first == "name" || first == "autodetect")) add_gres(l);
      else if (first == "nodename") add_nodes(l);
    }
  }

  Imported imported(Sources sources) {
    Imported r;
    if (nodes_.empty())  // gres.conf alone names nodes as well
      for (const std::string& name : gres_order_) add_node(name, {});
    if (nodes_.empty())
      fail(sources[0],
           "no node line (NodeName=... of slurm.conf or gres.conf) in it; give all files of the cluster, as in `muster topo import "
           "topology.conf gres.conf slurm.conf`");
    std::vector<TopologySpec::Vertex> vertices;
    bool sockets = false;
    for (Node& n : nodes_) vertices.push_back(vertex(n, r, sockets));
    if (std::none_of(r.spec.kinds.begin(), r.spec.kinds.end(), [](const NodeKind& k) { return k.gpus > 0; }))
      fail(sources[0], "no node has GPUs (Gres=gpu:... of slurm.conf, Name=gpu of gres.conf)");
    place(r, vertices);
    r.spec.levels.push_back("node");
    if (sockets) r.spec.levels.push_back("socket");
    return r;
  }

 private:
  void add_switch(const Line& l, const std::string& key) {
    Switch s{&l, {}, {}, false};
    if (l.get("nodes")) s.nodes = hosts(l, "nodes");
    if (l.get("switches")) s.below = hosts(l, "switches");
    if (key == "blockname") blocks_ = true;
    else switches_are_ = true;
    if (blocks_ && switches_are_) l.bad("both SwitchName and BlockName; a cluster has one of them");
    const std::string name = *l.get(key);
    if (!switches_.emplace(name, std::move(s)).second) l.bad(key + " " + quoted(name) + " is there already");
    switch_order_.push_back(name);
  }

  void add_gres(const Line& l) {
    if (lower(*l.get("name")) != "gpu") return;  // shares of GPUs and other devices
    size_t count = size_t(l.whole("count", 0, int64_t(kMostGpus)));
    if (l.get("file")) {
      const size_t files = hosts(l, "file").size();
      if (count && count != files) l.bad("Count=" + std::to_string(count) + ", but File names " + plural(files, "device"));
      count = files;
    }
    if (count == 0) count = 1;
    if (count > kMostGpus) l.bad("a node has at most 16,384 GPUs");
    const std::string cores = l.get("cores").value_or(l.get("cpus").value_or("")), type = l.get("type").value_or("");
    const std::vector<uint32_t> nvlinks = links_of(l);
    const auto names = l.get("nodename") ? hosts(l, "nodename") : std::vector<std::string>{""};
    for (const std::string& name : names) {
      const auto [at, fresh] = gres_.try_emplace(name);
      if (fresh && !name.empty()) gres_order_.push_back(name);
      Gres& g = at->second;
      if (fresh) g.type = type;
      g.types_differ = g.types_differ || g.type != type;
      if (g.cores.size() + count > kMostGpus) l.bad("a node has at most 16,384 GPUs");
      g.cores.insert(g.cores.end(), count, cores);
      g.nvlinks.resize(g.cores.size());
      if (count == 1) g.nvlinks.back() = nvlinks;
    }
  }

  /// "Links=-1,4,4,0": NVLinks to the GPUs of the node in order, -1 for itself.
  static std::vector<uint32_t> links_of(const Line& l) {
    std::vector<uint32_t> r;
    const std::string list = l.get("links").value_or("");
    for (const std::string_view part : split_list(list)) {
      const auto n = whole_number(part);
      if (!n || *n < -1 || *n > 1000) l.bad("links: want whole numbers from -1 to 1,000, found " + quoted(part));
      r.push_back(uint32_t(std::max<int64_t>(*n, 0)));
    }
    return r;
  }

  /// NVLink of a node whose GPU number i is the order[i]-th of gres.conf; nothing when a GPU does not state its links.
  static void add_nvlink(const Gres& gres, const std::vector<uint32_t>& order, NodeLinks& links) {
    const size_t n = gres.cores.size();
    std::vector<std::vector<uint32_t>> counts(n, std::vector<uint32_t>(n));
    for (size_t a = 0; a < n; a++) {
      const auto& of = gres.nvlinks[order[a]];
      if (of.size() != n) return;
      for (size_t b = 0; b < n; b++)
        if (a != b) counts[a][b] = of[order[b]];
    }
    set_nvlink(links, counts);
  }

  void add_nodes(const Line& l) {
    NodeKind kind = default_;
    bool states = default_states_;
    int64_t cpus = l.whole("cpus", 0, 1'000'000);
    if (cpus == 0 && (l.get("sockets") || l.get("corespersocket")))
      cpus = l.whole("boards", 1, 1000) * l.whole("sockets", l.whole("socketsperboard", 1, 1000), 1000) *
             l.whole("corespersocket", 1, 1000) * l.whole("threadspercore", 1, 100);
    if (cpus > 1'000'000) l.bad("more than 1,000,000 CPUs a node");
    if (cpus > 0) kind.capacity[kCpu] = cpus * kMilli, kind.limits_cpu = true;
    if (l.get("realmemory")) kind.capacity[kMem] = l.whole("realmemory", 0, 1'024'000'000), kind.limits_mem = true;
    if (const auto gres = l.get("gres")) {
      kind.gpus = 0, kind.gpu_type.clear(), states = true;
      bool differ = false;
      for (std::string_view part : split_list(*gres)) {
        part = part.substr(0, part.find('('));
        std::vector<std::string> words;
        for (size_t begin = 0; begin <= part.size();) {
          const size_t end = std::min(part.find(':', begin), part.size());
          words.emplace_back(part.substr(begin, end - begin));
          begin = end + 1;
        }
        if (lower(words[0]) != "gpu") continue;
        std::string type;
        int64_t n = 1;
        if (words.size() > 1) {
          if (const auto count = whole_number(words.back())) n = *count;
          else if (words.size() > 2) l.bad("gres: want gpu:TYPE:COUNT, found " + quoted(part));
          else type = words.back();
        }
        if (words.size() > 2) type = words[1];
        if (words.size() > 3 || n < 0 || n > int64_t(kMostGpus))
          l.bad("gres: want gpu:TYPE:COUNT of at most 16,384, found " + quoted(part));
        differ = differ || (kind.gpus > 0 && kind.gpu_type != type);
        kind.gpus += uint32_t(n);
        kind.gpu_type = differ ? "" : type;
      }
      if (kind.gpus > kMostGpus) l.bad("a node has at most 16,384 GPUs");
    }
    if (lower(*l.get("nodename")) == "default") {
      default_ = kind, default_states_ = states;
      return;
    }
    for (const std::string& name : hosts(l, "nodename")) {
      if (node_at_.count(name)) l.bad("node " + quoted(name) + " is there already");
      if (nodes_.size() == kMostHosts) l.bad("more than 1,000,000 nodes");
      add_node(name, kind);
      nodes_.back().states_gpus = states;
      nodes_.back().kind = kind;
    }
  }

  void add_node(const std::string& name, const NodeKind& kind) {
    node_at_[name] = nodes_.size();
    nodes_.push_back({name, kind, false});
  }

  /// The node with the sockets that gres.conf shows.
  TopologySpec::Vertex vertex(Node& n, Imported& r, bool& sockets) {
    auto g = gres_.find(n.name);
    if (g == gres_.end() && (!n.states_gpus || n.kind.gpus > 0)) g = gres_.find("");
    TopologySpec::Vertex v;
    if (g != gres_.end()) {
      const Gres& gres = g->second;
      if (n.states_gpus && n.kind.gpus != gres.cores.size())
        fail(*all_[0].source, "node " + n.name + ": slurm.conf states " + plural(n.kind.gpus, "GPU") + ", gres.conf lists " +
                                  std::to_string(gres.cores.size()));
      n.kind.gpus = uint32_t(gres.cores.size());
      if (n.kind.gpu_type.empty() && !gres.types_differ) n.kind.gpu_type = gres.type;
      if (gres.types_differ && !said_types_)
        r.notes.push_back("node " + n.name + " has GPUs of different types; the type is left out"), said_types_ = true;
      std::vector<uint32_t> order(gres.cores.size());
      std::iota(order.begin(), order.end(), 0U);
      if (std::none_of(gres.cores.begin(), gres.cores.end(), [](const std::string& c) { return c.empty(); })) {
        std::map<std::string, uint32_t> number;
        Partition p{"socket", {}, 0};
        for (const std::string& c : gres.cores) p.of_gpu.push_back(number.try_emplace(c, uint32_t(number.size())).first->second);
        NodeShape shape = node_shape(n.kind.gpus, {p});
        if (shape.renumbered() && !said_order_) r.notes.push_back("node " + n.name + ": " + renumbering(shape)), said_order_ = true;
        sockets = sockets || !shape.levels.empty();
        v = std::move(shape.node);
        order = shape.order;
      }
      if (n.kind.gpus > 0 && gres.nvlinks.back().size() == n.kind.gpus) add_nvlink(gres, order, n.kind.links);
    }
    if (v.children.empty()) v.gpus = n.kind.gpus;
    v.name = n.name;
    v.kind = kind_of(r.spec, n.kind);
    return v;
  }

  /// Levels of switches above a node; 0 for none.
  size_t height(const std::string& name, size_t depth) {
    Switch& s = switches_.at(name);
    if (depth > 12) s.line->bad("switches nested deeper than 12, or in a ring");
    size_t h = 1;
    for (const std::string& b : s.below) {
      const auto at = switches_.find(b);
      if (at == switches_.end()) s.line->bad("no switch is called " + quoted(b));
      if (depth == 0) {
        if (at->second.child) s.line->bad("switch " + quoted(b) + " is below two others");
        at->second.child = true;
      }
      h = std::max(h, 1 + height(b, depth + 1));
    }
    return h;
  }

  /// Adds the switch as a domain `level` levels above the nodes; nothing when no node is below it.
  void add(const std::string& name, size_t level, std::vector<TopologySpec::Vertex>& vertices, std::vector<TopologySpec::Vertex>& out) {
    const Switch& s = switches_.at(name);
    TopologySpec::Vertex v;
    v.name = name;
    for (const std::string& b : s.below) {
      TopologySpec::Vertex wrapped;
      const size_t h = heights_.at(b);
      std::vector<TopologySpec::Vertex> inner;
      add(b, h, vertices, inner);
      for (TopologySpec::Vertex& i : inner) v.children.push_back(wrap(std::move(i), level - 1 - h));
    }
    for (const std::string& n : s.nodes) {
      const auto at = node_at_.find(n);
      if (at == node_at_.end()) {
        unknown_++;
        continue;
      }
      if (placed_[at->second]) s.line->bad("node " + quoted(n) + " is at two switches");
      placed_[at->second] = true;
      v.children.push_back(wrap(std::move(vertices[at->second]), level - 1));
    }
    if (!v.children.empty()) out.push_back(std::move(v));
  }

  static TopologySpec::Vertex wrap(TopologySpec::Vertex v, size_t times) {
    for (; times > 0; times--) {
      TopologySpec::Vertex outer;
      outer.children.push_back(std::move(v));
      v = std::move(outer);
    }
    return v;
  }

  void place(Imported& r, std::vector<TopologySpec::Vertex>& vertices) {
    if (switches_.empty()) {
      r.spec.top = std::move(vertices);
      return;
    }
    placed_.assign(nodes_.size(), false);
    size_t top = 1;
    for (const std::string& name : switch_order_) top = std::max(top, heights_[name] = height(name, 0));
    for (const std::string& name : switch_order_) {
      if (switches_.at(name).child) continue;
      std::vector<TopologySpec::Vertex> out;
      add(name, heights_[name], vertices, out);
      for (TopologySpec::Vertex& v : out) r.spec.top.push_back(wrap(std::move(v), top - heights_[name]));
    }
    TopologySpec::Vertex rest;
    rest.name = "unconnected";
    for (size_t i = 0; i < nodes_.size(); i++)
      if (!placed_[i]) rest.children.push_back(wrap(std::move(vertices[i]), top - 1));
    if (!rest.children.empty()) {
      r.notes.push_back(plural(rest.children.size(), "node") + " at no switch stand in a domain \"unconnected\"");
      r.spec.top.push_back(std::move(rest));
    }
    if (unknown_) r.notes.push_back(plural(unknown_, "name") + " at switches without a node line left out");
    for (size_t l = top; l > 0; l--)
      r.spec.levels.push_back(blocks_ ? "block" : l == 1 ? "leaf" : l == 2 ? "spine" : l == 3 ? "core" : "tier" + std::to_string(l));
  }

  std::vector<Line> all_;
  std::map<std::string, Switch> switches_;
  std::vector<std::string> switch_order_, gres_order_;
  std::map<std::string, size_t> heights_, node_at_;
  std::map<std::string, Gres> gres_;
  std::vector<Node> nodes_;
  std::vector<bool> placed_;
  NodeKind default_;
  bool default_states_ = false, blocks_ = false, switches_are_ = false, said_types_ = false, said_order_ = false;
  size_t unknown_ = 0;
};

}  // namespace

bool is_slurm(std::string_view text) {
  for (const std::string_view line : lines(text.substr(0, 1U << 20U))) {
    const std::string first = lower(trim(line).substr(0, 20));
    for (const std::string_view key : {"switchname=", "blockname=", "nodename=", "name=gpu"})
      if (first.substr(0, key.size()) == key) return true;
  }
  return false;
}

Imported read_slurm(Sources sources) { return Cluster(sources).imported(sources); }

}  // namespace muster::import
