// Plays a HiveD exercise step by step on the scheduler itself.
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "explain/hived.hpp"

namespace muster {
namespace {

[[noreturn]] void refuse(const Config& at, const std::string& what) { throw InputError((at.where.empty() ? "" : at.where + ": ") + what); }

const Config& need(const Config& in, std::string_view key, const std::string& what) {
  const Config* c = in.find(key);
  if (!c) refuse(in, "want " + std::string(key) + ": " + what);
  return *c;
}

Config cell(const Config& c) {
  Config out;
  out.kind = Config::Kind::object, out.where = c.where;
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kKeys = {
      {{"type", "cellType"}, {"address", "cellAddress"}, {"pinned_id", "pinnedCellId"}}};
  for (const auto& [key, value] : c.fields) {
    if (key == "children") {
      Config children;
      children.kind = Config::Kind::list, children.where = value.where;
      for (const auto& [none, child] : value.fields) children.fields.emplace_back("", cell(child));
      out.set("cellChildren", children);
      continue;
    }
    std::string_view name = key;
    for (const auto& [ours, hived] : kKeys)
      if (key == ours) name = hived;
    out.set(name, value);
  }
  return out;
}

}  // namespace

Config hived_keys(const Config& in) {
  if (in.find("physicalCluster")) {
    Config c = in;
    std::erase_if(c.fields, [](const auto& f) { return f.first == "groups" || f.first == "events" || f.first == "title"; });
    return c;
  }
  const Config& cluster = need(in, "cluster", "{\"cell_types\": ..., \"physical_cells\": ...}, or HiveD's physicalCluster");
  Config types, cells, physical, vcs, all;
  types.kind = vcs.kind = Config::Kind::object, cells.kind = Config::Kind::list;
  for (const auto& [name, t] : need(cluster, "cell_types", "{\"NODE\": {\"child\": \"GPU\", \"count\": 8, \"is_node\": true}}").fields) {
    Config type;
    type.where = t.where;
    type.set("childCellType", need(t, "child", "the type of its children"));
    type.set("childCellNumber", need(t, "count", "how many children"));
    if (const Config* n = t.find("is_node")) type.set("isNodeLevel", *n);
    types.set(name, type);
  }
  for (const auto& [none, c] : need(cluster, "physical_cells", "[{\"type\": \"NODE\", \"address\": \"n0\"}]").fields) cells.fields.emplace_back("", cell(c));
  physical.set("cellTypes", types);
  physical.set("physicalCells", cells);
  for (const auto& [name, v] : need(in, "vcs", "{\"A\": {\"cells\": [{\"path\": \"RACK.NODE\", \"count\": 1}]}}").fields) {
    Config vc, quotas, pins;
    vc.kind = Config::Kind::object, quotas.kind = pins.kind = Config::Kind::list;
    if (const Config* list = v.find("cells"))
      for (const auto& [none, q] : list->fields) {
        Config quota;
        quota.where = q.where;
        quota.set("cellType", need(q, "path", "\"RACK.NODE\""));
        quota.set("cellNumber", need(q, "count", "how many"));
        quotas.fields.emplace_back("", quota);
      }
    if (const Config* list = v.find("pinned"))
      for (const auto& [none, p] : list->fields) {
        Config pin;
        pin.where = p.where;
        pin.set("pinnedCellId", p);
        pins.fields.emplace_back("", pin);
      }
    vc.set("virtualCells", quotas);
    vc.set("pinnedCells", pins);
    vcs.set(name, vc);
  }
  all.set("physicalCluster", physical);
  all.set("virtualClusters", vcs);
  return all;
}

namespace {

class Solver {
 public:
  explicit Solver(const Exercise& e) : in_(e.input) {
    s_.hived = std::make_unique<Hived>(read_hived(hived_keys(in_)));
    h().forest.steps = &done_;
    for (const Chain& c : f().chains())
      for (int32_t l = c.top; l >= 1; l--) s_.levels.push_back(c.types[size_t(l)]);
    step("start", "", {});
    for (const auto& [none, event] : need(in_, "events", "[{\"op\": \"submit\", \"group\": \"a\"}, ...]").fields) play(event);
  }
  HivedSolution take() {
    h().forest.steps = nullptr;
    return std::move(s_);
  }

 private:
  Hived& h() { return *s_.hived; }
  const CellForest& f() const { return s_.hived->forest; }

  HivedRequest request(const std::string& name, const Config& event) {
    const Config& g = need(need(in_, "groups", "{\"a\": {\"vc\": \"A\", \"priority\": 0, \"members\": [{\"pods\": 1, \"leaf_cells\": 8}]}}"), name,
                           "what group " + name + " asks for");
    (void)event;
    HivedRequest r;
    const Config& vc = need(g, "vc", "its virtual cluster");
    r.vc = f().find_vc(vc.as_text());
    if (r.vc < 0) {
      const std::vector<std::string_view> known(f().vcs().begin(), f().vcs().end());
      const std::string nearest = nearest_name(vc.as_text(), known);
      refuse(vc, "no virtual cluster is called " + vc.value + (nearest.empty() ? "" : "; did you mean " + nearest + "?"));
    }
    if (const Config* p = g.find("priority")) r.priority = int32_t(p->as_integer(-1, 1000));
    if (const Config* t = g.find("leaf_type")) r.leaf_type = t->as_text();
    if (const Config* p = g.find("pinned")) r.pinned = p->as_text();
    if (const Config* l = g.find("lazy_preemption")) r.lazy_preemption = l->as_boolean();
    std::map<int32_t, int32_t> sizes;
    for (const auto& [none, m] : need(g, "members", "[{\"pods\": 1, \"leaf_cells\": 8}]").fields)
      sizes[int32_t(need(m, "leaf_cells", "GPUs of a pod").as_integer(1, 1'000'000))] += int32_t(need(m, "pods", "how many").as_integer(1, 1'000'000));
    for (const auto& [leaves, pods] : sizes) r.members.push_back({pods, leaves});
    if (const std::string wrong = h().wrong(r); !wrong.empty()) refuse(g, "group " + name + ": " + wrong);
    return r;
  }

  static std::string asks(const HivedRequest& r) {
    std::string s;
    for (const HivedRequest::Member& m : r.members)
      s += (s.empty() ? "" : " + ") + (m.pods > 1 ? std::to_string(m.pods) + " x " : std::string()) + std::to_string(m.leaves) + (m.leaves == 1 ? " GPU" : " GPUs");
    return s;
  }

  void play(const Config& e) {
    const std::string op(need(e, "op", "submit, release, node_bad or node_healthy").as_text());
    if (op == "submit") return submit(std::string(need(e, "group", "its name").as_text()), e);
    if (op == "release") {
      const std::string name(need(e, "group", "its name").as_text());
      const auto it = groups_.find(name);
      if (it == groups_.end()) return step("release " + name, "it holds nothing", {});
      const bool waited = GroupState(h().group(it->second).state) == GroupState::preempting;
      waited ? h().cancel(it->second) : h().release(it->second);
      groups_.erase(it);
      return step("release " + name, waited ? "its reservation is given up" : "its GPUs come back", freed());
    }
    if (op == "node_bad" || op == "node_healthy") {
      const Config& n = need(e, "node", "its name");
      const int32_t node = f().find_node(n.as_text());
      if (node < 0) refuse(n, "no node is called " + n.value);
      op == "node_bad" ? h().node_bad(node) : h().node_healthy(node);
      return step(std::string(n.as_text()) + (op == "node_bad" ? " goes bad" : " is healthy again"), "", freed());
    }
    static constexpr std::array<std::string_view, 4> kOps = {"submit", "release", "node_bad", "node_healthy"};
    const std::string nearest = nearest_name(op, kOps);
    refuse(e, "no step is called " + op + (nearest.empty() ? "; want submit, release, node_bad or node_healthy" : "; did you mean " + nearest + "?"));
  }

  void submit(const std::string& name, const Config& e) {
    HivedRequest r = request(name, e);
    const std::string title = "submit " + name + " (" + f().vcs()[size_t(r.vc)] + ", " + asks(r) +
                              (r.priority < 0 ? ", opportunistic" : r.priority > 0 ? ", priority " + std::to_string(r.priority) : "") + ")";
    static const std::vector<char> kAll;
    Hived::Answer a;
    const auto it = groups_.find(name);
    const std::vector<std::vector<std::string>> before = free_lists();
    int32_t group = it == groups_.end() ? -1 : it->second;
    std::vector<std::string> why;
    if (group >= 0 && GroupState(h().group(group).state) != GroupState::preempting) return step(title, "it runs already", {});
    if (group >= 0) {
      a = h().retry(group, false, kAll);
      if (a.why != HivedWait::none) groups_.erase(name), group = -1;
    }
    const bool reserved = group >= 0;
    if (!reserved) a = h().decide(r, false, kAll, group);
    for (const uint32_t weaker : a.cancelled)
      for (auto g = groups_.begin(); g != groups_.end();) g = tags_[g->first] == weaker ? groups_.erase(g) : std::next(g);
    switch (a.why) {
      case HivedWait::none: break;
      case HivedWait::insufficient_capacity:
        return step(title, "waits",
                    {r.priority < 0 ? "Too few GPUs are free side by side in the cluster."
                                    : "Its virtual cluster has no room for it: every pod wants its GPUs in one node of the cells it owns, and a gang starts whole or not at all."});
      case HivedWait::needs_bad_node: return step(title, "waits", {"The only cells of its virtual cluster with room are on a bad node."});
      case HivedWait::needs_non_suggested_node: return step(title, "waits", {"The only room is on nodes that are not suggested."});
      case HivedWait::no_physical_mapping: return step(title, "waits", {"Its virtual cluster has room, but no healthy cells can be bound to it."});
    }
    if (!a.victims.empty()) {
      groups_[name] = group;
      tags_[name] = r.tag = uint32_t(groups_.size());
      std::string victims;
      for (const int32_t v : a.victims)
        for (const auto& [other, g] : groups_)
          if (g == v) victims += (victims.empty() ? "" : ", ") + other;
      why = freed();
      why.push_back("Its cells are in use by " + victims + ", of lower priority. A gang is evicted whole; until it is gone the cells are reserved.");
      return step(title, "preempts " + victims, why);
    }
    const std::vector<HivedLeaf> placed = h().placement();
    if (reserved) h().bind(group);
    else group = h().commit(r, placed);
    groups_[name] = group;
    why = taken(before, placed, r.priority);
    if (reserved) why.insert(why.begin(), "The victims have left; the reserved cells are its own.");
    for (const int32_t g : h().lazied)
      for (const auto& [other, number] : groups_)
        if (number == g) why.push_back(other + " goes on opportunistically (lazy preemption): it keeps its GPUs and loses its cells.");
    h().lazied.clear();
    step(title, "runs on " + where(group), why);
  }

  std::string where(int32_t group) const {
    std::map<std::string, std::vector<int32_t>> nodes;
    std::vector<std::string> order;
    for (const int32_t x : s_.hived->physical(group)) {
      const std::string& n = f().nodes()[size_t(f().info(x).node)].name;
      if (nodes[n].empty()) order.push_back(n);
      nodes[n].push_back(f().leaf_index(x));
    }
    std::string s;
    for (const std::string& n : order) {
      s += (s.empty() ? "" : "; ") + n + ":";
      for (const int32_t i : nodes[n]) s += " " + std::to_string(i);
    }
    return s;
  }

  /// Sentences on what was split to get there, and on what was taken.
  std::vector<std::string> taken(const std::vector<std::vector<std::string>>& before, const std::vector<HivedLeaf>&, int32_t priority) {
    std::vector<std::string> out;
    if (priority < 0) out.push_back("Opportunistic work takes GPUs, not cells: free lists and quotas stay as they are.");
    std::vector<int32_t> splits;
    for (const CellStep& d : done_) {
      if (d.what == CellStep::What::split) splits.push_back(d.cell);
      if (d.what != CellStep::What::take && d.what != CellStep::What::doom) continue;
      const std::string type = f().type(d.cell), vc = f().vcs()[size_t(d.other)];
      if (d.what == CellStep::What::doom) {
        out.push_back(vc + " can no longer get a healthy " + type + ": the bad " + f().address(d.cell) + " is bound to it, so that it sees why it waits.");
        splits.clear();
        continue;
      }
      if (splits.empty()) {
        out.push_back("A " + type + " is free: " + vc + " takes " + f().address(d.cell) + ".");
      } else {
        const int32_t highest = splits.back();
        std::string text = "No free " + type;
        for (int32_t l = f()[d.cell].level + 1; l < f()[highest].level; l++) text += ", no free " + f().chain_of(d.cell).types[size_t(l)];
        for (size_t i = splits.size(); i-- > 0;)
          text += std::string(i + 1 == splits.size() ? ": split " : ", split ") + f().address(splits[i]) + " into " + std::to_string(f()[splits[i]].children) + " x " +
                  f().chain_of(d.cell).types[size_t(f()[splits[i]].level - 1)];
        out.push_back(text + "; " + vc + " takes " + f().address(d.cell) + ".");
      }
      splits.clear();
    }
    (void)before;
    if (out.empty()) out.push_back("It fits into cells that its virtual cluster has bound already: the free lists stay as they are.");
    return out;
  }

  std::vector<std::string> freed() {
    std::vector<std::string> out;
    std::vector<int32_t> merges;
    for (const CellStep& d : done_) {
      if (d.what == CellStep::What::merge) merges.push_back(d.cell);
      if (d.what == CellStep::What::give || d.what == CellStep::What::undoom) {
        // The merges of this cell come after it.
        flush(out, merges);
        out.push_back(f().address(d.cell) + " (" + f().type(d.cell) + ") comes back from " + f().vcs()[size_t(d.other)] + ".");
      }
      if (d.what == CellStep::What::take) out.push_back(f().vcs()[size_t(d.other)] + " takes " + f().address(d.cell) + ".");
      if (d.what == CellStep::What::doom)
        out.push_back(f().vcs()[size_t(d.other)] + " can no longer get a healthy " + f().type(d.cell) + ": the bad " + f().address(d.cell) + " is bound to it.");
    }
    flush(out, merges);
    return out;
  }

  void flush(std::vector<std::string>& out, std::vector<int32_t>& merges) const {
    for (const int32_t c : merges) out.push_back("All its buddies are free: the " + f().chain_of(c).types[size_t(f()[c].level - 1)] + " cells of " + f().address(c) + " merge.");
    merges.clear();
  }

  std::vector<std::vector<std::string>> free_lists() const {
    std::vector<std::vector<std::string>> all;
    for (const Chain& c : f().chains())
      for (int32_t l = c.top; l >= 1; l--) {
        all.emplace_back();
        for (int32_t i = 0; i < c.free[size_t(l)].size(); i++) all.back().push_back(f().address(c.free[size_t(l)][i]));
      }
    return all;
  }

  std::string name_of(int32_t group) const {
    for (const auto& [name, g] : groups_)
      if (g == group) return name;
    return "?";
  }

  /// A cell with its owner; one that is split, or holds several nodes, with its parts.
  Tree::Node draw(int32_t c) const {
    const Cell& x = f()[c];
    Tree::Node n;
    n.label = f().type(c) + " " + f().address(c);
    std::string note;
    if (x.bound != kNoCell && f()[x.bound].parent == kNoCell) {
      note = f().address(x.bound) + (f().info(c).pinned ? ", pinned" : "");
      const Chain& chain = f().chain_of(c);
      for (const auto& of : chain.doomed)
        if (of[size_t(x.level)].has(c)) note += ", doomed";
    } else if (x.split()) {
      note = "split";
    } else if (f().is_free(c) && (x.parent == kNoCell || f()[x.parent].split())) {
      note = "free";
      if (x.parent != kNoCell)
        for (int32_t i = 0; i < f()[x.parent].children; i++)
          if (const int32_t buddy = f()[x.parent].first + i; buddy != c && !f().is_free(buddy)) {
            note += ", buddy of " + f().address(buddy);
            break;
          }
    }
    if (x.bad) note += note.empty() ? "bad" : ", bad";
    n.note = note;
    if ((x.split() || !f().single_node(c)) && x.level > 1) {
      for (int32_t i = 0; i < x.children; i++) n.parts.push_back(draw(x.first + i));
      return n;
    }
    if (x.level == 1) {
      n.cells = {{word(c)}};
      return n;
    }
    for (int32_t i = 0; i < (x.level > 2 ? x.children : 1); i++) {
      n.cells.emplace_back();
      words(x.level > 2 ? x.first + i : c, n.cells.back());
    }
    return n;
  }
  void words(int32_t c, std::vector<std::string>& out) const {
    if (f()[c].level == 1) return out.push_back(word(c));
    for (int32_t i = 0; i < f()[c].children; i++) words(f()[c].first + i, out);
  }
  std::string word(int32_t leaf) const {
    const Cell& x = f()[leaf];
    if (LeafState(x.state) == LeafState::reserved || LeafState(x.state) == LeafState::reserving) return "(" + name_of(f().info(leaf).reserver) + ")";
    return x.user >= 0 ? name_of(x.user) : x.bad ? "x" : ".";
  }

  void step(std::string title, std::string outcome, std::vector<std::string> because) {
    HivedStep s;
    s.title = std::move(title), s.outcome = std::move(outcome), s.because = std::move(because);
    s.free = free_lists();
    for (size_t v = 0; v < f().vcs().size(); v++) {
      int32_t n = 0;
      for (const Chain& c : f().chains())
        for (const int32_t of : c.vc_free[v]) n += of;
      s.left.emplace_back(f().vcs()[v], n);
    }
    std::map<std::string, std::vector<std::string>> leaves;
    for (const Chain& c : f().chains()) {
      for (const int32_t x : c.full[1]) {
        const auto st = LeafState(f()[x].state);
        if (st != LeafState::reserving && st != LeafState::reserved) continue;
        leaves[(st == LeafState::reserving ? "reserving " : "reserved ") + f().nodes()[size_t(f().info(x).node)].name].push_back(std::to_string(f().leaf_index(x)));
      }
      Tree t;
      for (const int32_t top : c.full[size_t(c.top)]) t.roots.push_back(draw(top));
      s.trees.push_back(std::move(t));
    }
    for (const auto& [at, list] : leaves) {
      s.reserved += (s.reserved.empty() ? "" : "; ") + at + ":";
      for (const std::string& one : list) s.reserved += " " + one;
    }
    for (const VirtualTree& t : f().trees())
      for (size_t l = t.roots.size(); l-- > 1;)
        for (const int32_t r : t.roots[l])
          if (f()[r].bound != kNoCell) s.bindings += (s.bindings.empty() ? "" : ", ") + f().address(r) + " = " + f().address(f()[r].bound);
    s_.steps.push_back(std::move(s));
    done_.clear();
  }

  const Config& in_;
  HivedSolution s_;
  std::vector<CellStep> done_;
  std::map<std::string, int32_t> groups_;
  std::map<std::string, uint32_t> tags_;
};

}  // namespace

HivedSolution solve_hived(const Exercise& e) { return Solver(e).take(); }

}  // namespace muster
