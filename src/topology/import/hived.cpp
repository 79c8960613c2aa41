// HiveD's configuration: physicalCluster, cell types and cells.
#include <algorithm>
#include <map>

#include "muster/config.hpp"
#include "text/numbers.hpp"
#include "text/yaml_config.hpp"
#include "topology/import/quantity.hpp"
#include "topology/import/readers.hpp"

namespace muster::import {
namespace {

constexpr size_t kMostCells = 1'000'000;
constexpr size_t kMostLevels = 16;

[[noreturn]] void fail(const Config& at, const std::string& what) { throw InputError(at.where + ": " + what); }

const Config* given(const Config& c, std::string_view key) {
  const Config* f = c.kind == Config::Kind::object ? c.find(key) : nullptr;
  return f && f->given() ? f : nullptr;
}

std::string text_of(const Config& c) {
  if (c.kind == Config::Kind::list || c.kind == Config::Kind::object) fail(c, "want a text");
  return c.value;
}

/// A type of cell. Height counts from the leaf, which has 0.
struct CellType {
  std::string name, child;  // child empty: a leaf
  uint64_t number = 0;
  bool node = false;
  bool known = false;  // what follows has been found out
  size_t height = 0, above_node = 0;
  bool at_or_above_node = false;
  uint64_t leaves = 1;
  std::string leaf;
};

class Reader {
 public:
  explicit Reader(const ImportSource& source) : source_(source) {}

  Imported read() {
    const Config top = parse_yaml_config(source_.text, source_.file);
    const Config* cluster = given(top, "physicalCluster");
    if (!cluster) import::fail(source_, "no physicalCluster in this HiveD configuration, hence no GPU");
    if (const Config* types = given(*cluster, "cellTypes")) read_types(*types);
    const Config* cells = given(*cluster, "physicalCells");
    if (!cells || cells->kind != Config::Kind::list || cells->fields.empty())
      fail(*cluster, "want physicalCells, a list of the cells there are");
    for (const auto& [none, cell] : cells->fields) measure(cell);
    name_levels();
    for (const Config* key : {given(*cluster, "skuTypes"), given(*cluster, "leafCellTypes")})
      if (key) read_skus(*key);
    for (const auto& [none, cell] : cells->fields) {
      const CellType& type = type_of(cell);
      TopologySpec::Vertex v = vertex(cell, type);
      if (!type.node) {
        const Config* address = given(cell, "cellAddress");
        v.name = address ? text_of(*address) : type.name;
        if (const size_t n = tops_[v.name]++) v.name += "." + std::to_string(n + 1);
      }
      for (size_t l = type.above_node; l < above_; l++) {  // cells that are less deep stand alone in the levels above
        TopologySpec::Vertex outer;
        outer.children.push_back(std::move(v));
        v = std::move(outer);
      }
      r_.spec.top.push_back(std::move(v));
    }
    if (renumbered_)
      r_.notes.push_back("GPUs of " + plural(renumbered_, "node") +
                         " are renumbered, since those of a cell are neighbours; gpu0 is the first one listed");
    if (!skus_.empty()) r_.notes.push_back("a node has the CPUs and memory of its cells' SKUs together");
    return std::move(r_);
  }

 private:
  void read_types(const Config& types) {
    if (types.kind != Config::Kind::object) fail(types, "want an object of cell types");
    for (const auto& [name, c] : types.fields) {
      CellType t;
      t.name = name;
      const Config* child = given(c, "childCellType");
      if (!child) fail(c, "want childCellType");
      t.child = text_of(*child);
      const Config* number = given(c, "childCellNumber");
      t.number = number ? uint64_t(number->as_integer(1, kMostCells)) : 1;
      if (const Config* node = given(c, "isNodeLevel")) t.node = node->as_boolean();
      types_.emplace(name, std::move(t));
    }
    for (const auto& [name, c] : types.fields) find_out(name, c, 0);
  }

  /// Height and so on of a type, from its child's.
  const CellType& find_out(const std::string& name, const Config& at, size_t depth) {
    if (depth > kMostLevels) fail(at, "cell types nested deeper than 16, or in a ring");
    const auto [it, leaf] = types_.try_emplace(name);
    CellType& t = it->second;
    if (leaf) t.name = t.leaf = name, t.known = true;
    if (t.known) return t;
    const CellType child = find_out(t.child, at, depth + 1);
    t.known = true;
    t.height = child.height + 1;
    t.leaf = child.leaf;
    t.leaves = child.leaves * t.number;
    if (t.leaves > kMostCells) fail(at, "a cell type of more than 1,000,000 leaf cells");
    t.at_or_above_node = t.node || child.at_or_above_node;
    t.above_node = child.at_or_above_node ? child.above_node + 1 : 0;
    if (t.node && child.at_or_above_node) fail(at, "isNodeLevel of a cell type that has nodes in it");
    return t;
  }

  const CellType& type_of(const Config& cell) const {
    const Config* type = given(cell, "cellType");
    if (!type) fail(cell, "want cellType");
    const std::string name = text_of(*type);
    const auto it = types_.find(name);
    if (it == types_.end() || it->second.child.empty()) {
      std::vector<std::string_view> known;
      for (const auto& [k, t] : types_)
        if (!t.child.empty()) known.push_back(k);
      const std::string near = nearest_name(name, known);
      fail(*type, "no cell type is called " + in_quotes(name) + (near.empty() ? "" : "; did you mean " + near + "?"));
    }
    if (!it->second.at_or_above_node) fail(*type, "cell type " + in_quotes(name) + " is no node and has none (isNodeLevel)");
    return it->second;
  }

  void measure(const Config& cell) {
    const CellType* t = &type_of(cell);
    above_ = std::max(above_, t->above_node);
    while (!t->node) t = &types_.at(t->child);
    inside_ = std::max(inside_, t->height);
    for (t = &types_.at(t->child); !t->child.empty(); t = &types_.at(t->child)) {
      auto& types = by_height_[t->height];
      if (std::find(types.begin(), types.end(), t) == types.end()) types.push_back(t);
    }
  }

  /// "switch", "socket", "numa" where every type of a height says so, else "4-gpu" where all have as many, else "cell-b".
  void name_levels() {
    // A letter, since a number would run into that of a domain.
    for (size_t i = above_; i > 0; i--) r_.spec.levels.push_back(i > 1 ? std::string("group-") + char('a' + i - 1) : "group");
    r_.spec.levels.emplace_back("node");
    for (size_t h = inside_; h-- > 1;) {
      const auto& types = by_height_[h];
      const auto all = [&](auto f) { return !types.empty() && std::all_of(types.begin(), types.end(), f); };
      std::string name;
      for (const char* word : {"switch", "socket", "numa"})
        if (name.empty() && all([&](const CellType* t) { return lower(t->name).find(word) != std::string::npos; })) name = word;
      if (name.empty() && all([&](const CellType* t) { return t->leaves == types[0]->leaves; }))
        name = std::to_string(types[0]->leaves) + "-gpu";
      if (name.empty() || std::find(r_.spec.levels.begin(), r_.spec.levels.end(), name) != r_.spec.levels.end())
        name = std::string("cell-") + char('a' + h - 1);
      r_.spec.levels.push_back(name);
    }
  }

  struct Sku {
    int64_t cpu = 0, mem = 0;  // thousandths, MiB
    bool limits_cpu = false, limits_mem = false;
  };
  void read_skus(const Config& c) {
    if (c.kind != Config::Kind::object) fail(c, "want an object of SKUs");
    for (const auto& [name, sku] : c.fields) {
      Sku& s = skus_[name];
      if (const Config* cpu = given(sku, "cpu")) {
        const auto q = quantity(text_of(*cpu));
        if (!q || *q > Int128(1'000'000) * kMilli) fail(*cpu, "want a quantity such as 4 or 500m, found " + in_quotes(cpu->value));
        s.cpu = int64_t(*q), s.limits_cpu = true;
      }
      if (const Config* mem = given(sku, "memory")) {
        const auto q = quantity(text_of(*mem));
        if (!q || *q > (Int128(1'000'000'000) << 20U) * kMilli)
          fail(*mem, "want a quantity such as 8192Mi, found " + in_quotes(mem->value));
        s.mem = int64_t((*q / kMilli) >> 20U), s.limits_mem = true;
      }
    }
  }

  void count_cell(const Config& at, uint64_t n) {
    cells_ += n;
    if (cells_ > kMostCells) fail(at, "more than 1,000,000 cells");
  }

  const std::vector<Config::Field>* children_of(const Config& cell) const {
    const Config* c = given(cell, "cellChildren");
    if (!c) return nullptr;
    if (c->kind != Config::Kind::list) fail(*c, "want a list of cells");
    return c->fields.empty() ? nullptr : &c->fields;
  }

  TopologySpec::Vertex vertex(const Config& cell, const CellType& type) {
    if (cell.kind != Config::Kind::object && cell.given()) fail(cell, "want a cell (cellAddress, pinnedCellId, cellChildren)");
    count_cell(cell, 1);
    if (type.node) return node(cell, type);
    TopologySpec::Vertex v;
    const CellType& child = types_.at(type.child);
    if (const auto* children = children_of(cell)) {
      for (const auto& [none, c] : *children) v.children.push_back(vertex(c, child));
    } else {
      count_cell(cell, type.number);
      v.children.push_back(vertex(Config{Config::Kind::none, {}, {}, cell.where}, child));
      v.children.back().count = type.number;
    }
    return v;
  }

  TopologySpec::Vertex node(const Config& cell, const CellType& type) {
    TopologySpec::Vertex v;
    std::vector<int64_t> indices;
    inside(cell, type, type, v, indices);
    for (size_t h = type.height; h < inside_ && type.height > 1; h++) {  // nodes that are divided less are one part of the levels above
      TopologySpec::Vertex all;
      std::swap(all.children, v.children);
      v.children.push_back(std::move(all));
    }
    renumbered_ += !std::is_sorted(indices.begin(), indices.end());
    if (const Config* address = given(cell, "cellAddress")) {
      v.name = text_of(*address);
      if (const size_t n = seen_[v.name]++) {
        r_.notes.push_back("node " + in_quotes(v.name) + " stands in several cells; this one is called " +
                           in_quotes(v.name + "." + std::to_string(n + 1)));
        v.name += "." + std::to_string(n + 1);
      }
    }
    NodeKind kind;
    kind.gpus = uint32_t(gpus(v));
    if (kind.gpus > 16'384) fail(cell, "a node has at most 16,384 GPUs");
    kind.gpu_type = type.leaf;
    if (const auto sku = skus_.find(type.leaf); sku != skus_.end()) {
      kind.limits_cpu = sku->second.limits_cpu, kind.limits_mem = sku->second.limits_mem;
      kind.capacity[kCpu] = sku->second.cpu * kind.gpus, kind.capacity[kMem] = sku->second.mem * kind.gpus;
    }
    v.kind = kind_of(r_.spec, std::move(kind));
    return v;
  }

  static uint64_t gpus(const TopologySpec::Vertex& v) {
    uint64_t n = v.gpus;
    for (const TopologySpec::Vertex& c : v.children) n += gpus(c) * c.count;
    return n;
  }

  /// The parts of a cell at or below a node. A list of children that is too short is not filled up; where there is none, all are there.
  void inside(const Config& cell, const CellType& type, const CellType& node, TopologySpec::Vertex& v, std::vector<int64_t>& indices) {
    const CellType& child = types_.at(type.child);
    const auto* children = children_of(cell);
    if (!children) {
      count_cell(cell, type.leaves);
      if (child.child.empty()) {
        v.gpus = uint32_t(type.number);
      } else {
        TopologySpec::Vertex& part = v.children.emplace_back();
        part.count = type.number;
        inside(Config{Config::Kind::none, {}, {}, cell.where}, child, node, part, indices);
      }
      return;
    }
    for (const auto& [none, c] : *children) {
      if (c.kind != Config::Kind::object && c.given()) fail(c, "want a cell (cellAddress, pinnedCellId, cellChildren)");
      count_cell(c, 1);
      if (!child.child.empty()) {
        inside(c, child, node, v.children.emplace_back(), indices);
        continue;
      }
      v.gpus++;
      if (const Config* address = given(c, "cellAddress"))
        if (const auto n = whole_number(text_of(*address))) indices.push_back(*n);
    }
  }

  const ImportSource& source_;
  Imported r_;
  std::map<std::string, CellType> types_;
  std::map<size_t, std::vector<const CellType*>> by_height_;  // those below nodes
  std::map<std::string, Sku> skus_;
  std::map<std::string, size_t> seen_, tops_;  // names of nodes, and of the topmost cells above them
  size_t above_ = 0, inside_ = 0;              // levels above the node; height of the highest node
  size_t cells_ = 0, renumbered_ = 0;
};

}  // namespace

bool is_hived(std::string_view text) {
  for (const std::string_view line : lines(text.substr(0, 1U << 20U))) {
    std::string_view s = trim(line);
    if (s.starts_with("{")) s = trim(s.substr(1));
    if (s.starts_with("\"")) s.remove_prefix(1);
    if (s.starts_with("physicalCluster")) return true;
  }
  return false;
}

Imported read_hived(Sources sources) { return Reader(sources[0]).read(); }

}  // namespace muster::import
