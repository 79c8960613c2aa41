// HiveD cases: whole histories of a cluster, pod by pod, with the state after each step.
#include "parts/hived.hpp"

#include <algorithm>
#include <regex>
#include <set>
#include <sstream>

#include "cases.hpp"

namespace conformance {

using namespace muster;

namespace {

HivedConfig::Cell physical(const Json& j) {
  HivedConfig::Cell c;
  c.type = j.value("type", "");
  c.address = j.value("address", "");
  c.pinned = j.value("pinned_id", "");
  if (j.contains("children"))
    for (const Json& child : j["children"]) c.children.push_back(physical(child));
  return c;
}

HivedConfig config(const Json& cluster, const Json& vcs, const Json& chain_order) {
  HivedConfig c;
  std::map<std::string, std::set<std::string, std::greater<>>> chains;
  for (const auto& [name, t] : cluster.at("cell_types").items())
    c.types.push_back({name, t.at("child").get<std::string>(), t.at("count").get<int32_t>(), t.value("is_node", false)});
  for (const Json& j : cluster.at("physical_cells")) {
    c.cells.push_back(physical(j));
    std::string leaf = c.cells.back().type;
    while (const HivedConfig::Type* t = c.type(leaf)) leaf = t->child;
    chains[leaf].insert(c.cells.back().type);
  }
  for (const auto& [name, vc] : vcs.items()) {
    HivedConfig::Vc v;
    v.name = name;
    if (vc.contains("cells"))
      for (const Json& q : vc["cells"]) v.cells.push_back({q.at("path").get<std::string>(), q.at("count").get<int32_t>(), {}});
    if (vc.contains("pinned"))
      for (const Json& p : vc["pinned"]) v.pinned.push_back({p.get<std::string>(), {}});
    c.vcs.push_back(std::move(v));
  }
  for (const auto& [leaf, names] : chains) {
    HivedConfig::ChainOrder o;
    o.leaf_type = leaf;
    if (chain_order.contains(leaf)) o.chains = chain_order[leaf].get<std::vector<std::string>>();
    else o.chains.assign(names.begin(), names.end());
    c.chain_order.push_back(std::move(o));
  }
  return c;
}

/// The case's cluster with its groups and pods by name.
class Player {
 public:
  explicit Player(const Json& c) : case_(c), order_(c.value("chain_order", Json::object())) {
    make(c.at("cluster"), c.at("vcs"));
    if (c.value("startup", "clean") != "k8s") return;
    for (const Chain& chain : hived_->forest.chains())
      for (const int32_t leaf : chain.full[1]) hived_->node_bad(hived_->forest.info(leaf).node);
    std::vector<const Chain*> chains;
    for (const Chain& chain : hived_->forest.chains()) chains.push_back(&chain);
    std::sort(chains.begin(), chains.end(), [](const Chain* a, const Chain* b) { return a->name < b->name; });
    for (const Chain* chain : chains)
      for (const int32_t leaf : chain->full[1]) hived_->node_healthy(hived_->forest.info(leaf).node);
  }

  /// Plays an event; what the pods of it came to.
  Json play(const Json& e) {
    const std::string op = e.at("op").get<std::string>();
    Json pods = Json::array();
    if (op == "submit") {
      const std::string group = e.at("group").get<std::string>();
      int number = 0;
      for (const Json& m : case_.at("groups").at(group).at("members")) {
        for (int i = 0; i < m.at("pods").get<int>(); i++) {
          const std::string pod = group + "/" + std::to_string(number++);
          if (bound(group, pod)) continue;
          pods.push_back(schedule(e, pod, group, m.at("leaf_cells").get<int32_t>()));
          const std::string outcome = pods.back().at("outcome").get<std::string>();
          if (outcome == "wait" || outcome == "user_error") return pods;
        }
      }
    } else if (op == "schedule") {
      const std::string pod = e.at("pod").get<std::string>();
      const Json& p = case_.at("pods").at(pod);
      pods.push_back(schedule(e, pod, p.at("group").get<std::string>(), p.at("leaf_cells").get<int32_t>()));
    } else if (op == "release") {
      release(e.at("group").get<std::string>());
    } else if (op == "delete_pod") {
      const std::string pod = e.at("pod").get<std::string>();
      std::vector<std::string> in;
      for (const auto& [group, g] : groups_)
        if (bound(group, pod) || g.waiting.count(pod)) in.push_back(group);
      for (const std::string& group : in) leave(group, pod);
    } else if (op == "node_bad" || op == "node_healthy") {
      const int32_t node = hived_->forest.find_node(e.at("node").get<std::string>());
      if (node >= 0) op == "node_bad" ? hived_->node_bad(node) : hived_->node_healthy(node);
    } else if (op == "reconfigure") {
      reconfigure(e);
    } else {
      throw InputError("no event is called " + op);
    }
    return pods;
  }

  /// Which invariant is broken, or empty.
  std::string check() const { return hived_->forest.check(); }

  Json state() const {
    const CellForest& f = hived_->forest;
    Json s = {{"free", Json::object()},        {"bad_free", Json::object()},
              {"doomed", Json::object()},      {"preassigned_bindings", Json::object()},
              {"leaf_states", Json::object()}, {"groups", Json::object()},
              {"vc_free", Json::object()},     {"total_left", Json::object()}};
    for (const Chain& c : f.chains()) {
      for (int32_t l = 1; l <= c.top; l++) {
        const std::string& type = c.types[size_t(l)];
        for (int32_t i = 0; i < c.free[size_t(l)].size(); i++) s["free"][c.name][type].push_back(f.address(c.free[size_t(l)][i]));
        for (int32_t i = 0; i < c.bad_free[size_t(l)].size(); i++)
          s["bad_free"][c.name][type].push_back(f.address(c.bad_free[size_t(l)][i]));
        s["total_left"][c.name][type] = c.left[size_t(l)];
        for (size_t v = 0; v < f.vcs().size(); v++)
          for (int32_t i = 0; i < c.doomed[v][size_t(l)].size(); i++) {
            const int32_t x = c.doomed[v][size_t(l)][i];
            s["doomed"][f.vcs()[v]][f.address(f[x].bound)] = f.address(x);
          }
      }
      for (const int32_t x : c.full[1]) {
        const auto st = LeafState(f[x].state);
        if (st == LeafState::reserving || st == LeafState::reserved)
          s["leaf_states"][st == LeafState::reserving ? "Reserving" : "Reserved"].push_back(place(x));
      }
    }
    for (auto& [name, list] : s["leaf_states"].items()) std::sort(list.begin(), list.end());
    for (const VirtualTree& t : f.trees())
      for (size_t l = 1; l < t.roots.size(); l++) {
        const Chain& c = f.chains()[size_t(t.chain)];
        if (!t.roots[l].empty()) s["vc_free"][f.vcs()[size_t(t.vc)]][c.name][c.types[l]] = c.vc_free[size_t(t.vc)][l];
        for (const int32_t v : t.roots[l])
          if (f[v].bound != kNoCell) s["preassigned_bindings"][f.address(v)] = f.address(f[v].bound);
      }
    for (const auto& [name, g] : groups_) {
      if (g.number < 0) continue;
      const Hived::Group& x = hived_->group(g.number);
      Json one;
      const auto st = GroupState(x.state);
      one["state"] = st == GroupState::allocated ? "allocated" : st == GroupState::preempting ? "preempting" : "being_preempted";
      if (x.lazied) one["lazy_preempted"] = true;
      one["physical"] = Json::object();
      for (const int32_t leaf : hived_->physical(g.number))
        if (leaf != kNoCell) one["physical"][f.nodes()[size_t(f.info(leaf).node)].name].push_back(f.leaf_index(leaf));
      for (auto& [node, list] : one["physical"].items()) std::sort(list.begin(), list.end());
      s["groups"][name] = one;
    }
    return s;
  }

 private:
  struct Slot {
    int32_t size;
    std::string pod;             // who has it; empty: nobody
    std::vector<size_t> leaves;  // positions in the placement
  };
  struct Recorded {
    std::string chain, node, root_type;
    int32_t leaf;
  };
  struct Group {
    int32_t number = -1;
    HivedRequest request;
    std::vector<Slot> slots;
    std::vector<Recorded> recorded;
    std::set<std::string> waiting;
  };

  void make(const Json& cluster, const Json& vcs) {
    cluster_ = cluster, vcs_ = vcs;
    hived_ = std::make_unique<Hived>(config(cluster, vcs, order_));
  }

  std::string place(int32_t leaf) const {
    const CellForest& f = hived_->forest;
    return f.nodes()[size_t(f.info(leaf).node)].name + ":" + std::to_string(f.leaf_index(leaf));
  }

  bool bound(const std::string& group, const std::string& pod) const {
    const auto it = groups_.find(group);
    if (it == groups_.end()) return false;
    return std::any_of(it->second.slots.begin(), it->second.slots.end(), [&](const Slot& s) { return s.pod == pod; });
  }

  HivedRequest request(const std::string& group) const {
    const Json& g = case_.at("groups").at(group);
    HivedRequest r;
    for (const auto& [name, other] : case_.at("groups").items()) {
      if (name == group) break;
      r.tag++;
    }
    r.vc = hived_->forest.find_vc(g.value("vc", ""));
    r.priority = g.at("priority").get<int32_t>();
    r.leaf_type = g.value("leaf_type", "");
    r.pinned = g.value("pinned", "");
    r.lazy_preemption = g.value("lazy_preemption", false);
    r.ignore_suggested = g.value("ignore_suggested", true);
    std::map<int32_t, int32_t> sizes;  // members of one size are added up
    for (const Json& m : g.at("members")) {
      if (m.at("pods").get<int32_t>() <= 0) sizes[0] = 0;
      sizes[m.at("leaf_cells").get<int32_t>()] += m.at("pods").get<int32_t>();
    }
    for (const auto& [leaves, pods] : sizes) r.members.push_back({pods, leaves});
    return r;
  }

  std::vector<char> suggested(const Json& e) const {
    if (!e.contains("suggested") && !e.contains("suggested_except")) return {};
    const bool except = e.contains("suggested_except");
    std::vector<char> s(hived_->forest.nodes().size(), except);
    for (const Json& n : e[except ? "suggested_except" : "suggested"])
      if (const int32_t node = hived_->forest.find_node(n.get<std::string>()); node >= 0) s[size_t(node)] = !except;
    return s;
  }

  Json schedule(const Json& e, const std::string& pod, const std::string& group, int32_t size) {
    Json result = once(e, pod, group, size);
    if (!e.value("evict", false)) return result;
    std::set<std::string> evicted;
    while (result.at("outcome") == "preempt") {
      std::set<std::string> names;
      for (const int32_t v : victims_)
        for (const auto& [name, g] : groups_)
          if (g.number == v) names.insert(name);
      for (const std::string& name : names) release(name);
      evicted.insert(names.begin(), names.end());
      result = once(e, pod, group, size);
    }
    if (!evicted.empty()) result["evicted_groups"] = evicted;
    return result;
  }

  Json once(const Json& e, const std::string& pod, const std::string& name, int32_t size) {
    const bool filtering = e.value("phase", "preempting") == "filtering", commits = e.value("commit", true);
    const auto wait = [&](const char* reason) { return Json{{"pod", pod}, {"outcome", "wait"}, {"reason", reason}}; };
    const auto error = [&] { return Json{{"pod", pod}, {"outcome", "user_error"}}; };
    const HivedRequest r = request(name);
    if (name.empty() || size <= 0) return error();
    if (std::none_of(r.members.begin(), r.members.end(), [&](const HivedRequest::Member& m) { return m.leaves == size; })) return error();
    const auto known = groups_.find(name);
    if (known == groups_.end() || known->second.number < 0) {
      if (!hived_->wrong(r).empty()) return error();
    }
    Group& g = groups_[name];
    for (int again = 0; again < 2; again++) {
      if (g.number >= 0 && GroupState(hived_->group(g.number).state) == GroupState::allocated) return take(g, pod, size, error());
      if (g.number >= 0 && GroupState(hived_->group(g.number).state) == GroupState::being_preempted) return wait("insufficient_capacity");
      Hived::Answer a;
      int32_t number = -1;
      const bool had = g.number >= 0;
      if (had) {
        a = hived_->retry(g.number, filtering, suggested(e));
        if (a.why != HivedWait::none) {  // its reservation was no good any more
          g.number = -1, g.waiting.clear();
          continue;
        }
      } else {
        a = hived_->decide(r, filtering, suggested(e), number);
      }
      for (auto& [other, x] : groups_)
        if (std::find(a.cancelled.begin(), a.cancelled.end(), x.request.tag) != a.cancelled.end()) x.number = -1, x.waiting.clear();
      if (a.why == HivedWait::insufficient_capacity) return wait("insufficient_capacity");
      if (a.why == HivedWait::needs_bad_node) return wait("needs_bad_node");
      if (a.why == HivedWait::needs_non_suggested_node) return wait("needs_non_suggested_node");
      if (a.why == HivedWait::no_physical_mapping) return wait("no_physical_mapping");
      if (number >= 0) g.number = number, g.request = r;
      if (!a.victims.empty()) {
        if (g.number >= 0) g.waiting.insert(pod);
        victims_ = a.victims;
        Json victims = Json::object();
        for (const int32_t v : a.victims)
          for (const auto& [other, x] : groups_) {
            if (x.number != v) continue;
            for (const Slot& s : x.slots)
              if (!s.pod.empty() && hived_->physical(v)[s.leaves[0]] != kNoCell) victims[node_of(v, s)].push_back(s.pod);
          }
        for (auto& [node, list] : victims.items()) std::sort(list.begin(), list.end());
        return {{"pod", pod}, {"outcome", "preempt"}, {"victims", victims}};
      }
      if (!commits) return shown(pod, had ? reserved(g) : hived_->placement(), slots(r), size);
      if (had) hived_->bind(g.number);
      else g.number = hived_->commit(r, hived_->placement());
      g.request = r;
      g.slots = slots(r);
      g.waiting.clear();
      g.recorded.clear();
      for (const HivedLeaf& l : placement(g)) g.recorded.push_back(record(l));
      return take(g, pod, size, error());
    }
    return wait("insufficient_capacity");
  }

  std::string node_of(int32_t number, const Slot& s) const {
    return hived_->forest.nodes()[size_t(hived_->forest.info(hived_->physical(number)[s.leaves[0]]).node)].name;
  }

  /// What the group holds, as it was decided.
  std::vector<HivedLeaf> placement(const Group& g) const {
    std::vector<HivedLeaf> all;
    const auto physical = hived_->physical(g.number), virtual_ = hived_->virtual_leaves(g.number);
    for (size_t i = 0; i < physical.size(); i++) {
      HivedLeaf l{physical[i], virtual_.empty() ? kNoCell : virtual_[i], -1};
      if (l.virtual_ != kNoCell) l.root_level = hived_->forest[hived_->forest[l.virtual_].root].level;
      all.push_back(l);
    }
    return all;
  }
  std::vector<HivedLeaf> reserved(const Group& g) const { return placement(g); }

  Recorded record(const HivedLeaf& l) const {
    const CellForest& f = hived_->forest;
    return {f.chain_of(l.physical).name, f.nodes()[size_t(f.info(l.physical).node)].name,
            l.root_level > 0 ? f.chain_of(l.physical).types[size_t(l.root_level)] : "", f.leaf_index(l.physical)};
  }

  static std::vector<Slot> slots(const HivedRequest& r) {
    std::vector<Slot> all;
    size_t leaf = 0;
    for (const HivedRequest::Member& m : r.members)
      for (int32_t p = 0; p < m.pods; p++) {
        Slot s{m.leaves, "", {}};
        for (int32_t i = 0; i < m.leaves; i++) s.leaves.push_back(leaf++);
        all.push_back(s);
      }
    return all;
  }

  Json shown(const std::string& pod, const std::vector<HivedLeaf>& leaves, const std::vector<Slot>& all, int32_t size) const {
    const CellForest& f = hived_->forest;
    for (const Slot& s : all) {
      if (s.size != size || !s.pod.empty()) continue;
      Json out = {{"pod", pod}, {"outcome", "bind"}, {"leaf_cells", Json::array()}};
      for (const size_t i : s.leaves) {
        if (leaves[i].physical == kNoCell) continue;
        out["node"] = f.nodes()[size_t(f.info(leaves[i].physical).node)].name;
        out["chain"] = f.chain_of(leaves[i].physical).name;
        out["leaf_cells"].push_back(f.leaf_index(leaves[i].physical));
      }
      return out;
    }
    return {};
  }

  Json take(Group& g, const std::string& pod, int32_t size, const Json& error) {
    Json out = shown(pod, placement(g), g.slots, size);
    if (out.is_null()) return error;
    for (Slot& s : g.slots) {
      if (s.size != size || !s.pod.empty()) continue;
      s.pod = pod;
      bound_.push_back(pod);
      return out;
    }
    return error;
  }

  void leave(const std::string& group, const std::string& pod) {
    Group& g = groups_.at(group);
    if (g.waiting.erase(pod) && g.waiting.empty() && g.number >= 0 && GroupState(hived_->group(g.number).state) == GroupState::preempting) {
      hived_->cancel(g.number);
      groups_.erase(group);
      return;
    }
    bool left = false, any = false;
    for (Slot& s : g.slots) {
      if (s.pod == pod) s.pod.clear(), left = true;
      any |= !s.pod.empty();
    }
    bound_.erase(std::remove(bound_.begin(), bound_.end(), pod), bound_.end());
    if (!left || any) return;
    hived_->release(g.number);
    groups_.erase(group);
  }

  void release(const std::string& group) {
    if (!groups_.count(group)) return;
    const Group g = groups_.at(group);
    for (const Slot& s : g.slots)
      if (!s.pod.empty()) leave(group, s.pod);
    for (const std::string& pod : g.waiting)
      if (groups_.count(group)) leave(group, pod);
  }

  void reconfigure(const Json& e) {
    make(e.value("cluster", cluster_), e.value("vcs", vcs_));
    if (case_.value("startup", "clean") == "k8s") {}
    std::map<std::string, Group> before;
    before.swap(groups_);
    const std::vector<std::string> pods = bound_;
    for (const std::string& pod : pods)
      for (auto& [name, old] : before) {
        if (std::none_of(old.slots.begin(), old.slots.end(), [&](const Slot& s) { return s.pod == pod; })) continue;
        if (groups_.count(name)) continue;
        Group g = old;
        g.request = request(name);
        g.waiting.clear();
        std::vector<HivedLeaf> leaves;
        for (const Recorded& r : old.recorded) leaves.push_back(find(r));
        g.number = hived_->commit(g.request, leaves);
        groups_[name] = std::move(g);
      }
  }

  HivedLeaf find(const Recorded& r) const {
    const CellForest& f = hived_->forest;
    const int32_t node = f.find_node(r.node);
    HivedLeaf l;
    if (node < 0) return l;
    for (const bool same : {true, false})
      for (const int32_t x : f.nodes()[size_t(node)].leaves) {
        if (f.leaf_index(x) != r.leaf || (same && f.chain_of(x).name != r.chain)) continue;
        l.physical = x;
        if (!r.root_type.empty()) l.root_level = f.chain_of(x).level_of(r.root_type);
        return l;
      }
    return l;
  }

  const Json& case_;
  Json order_, cluster_, vcs_;
  std::unique_ptr<Hived> hived_;
  std::map<std::string, Group> groups_;
  std::vector<std::string> bound_;  // pods in the order in which they were bound
  std::vector<int32_t> victims_;
};

/// Equal, whatever the order of the keys.
bool same(const Json& a, const Json& b) { return nlohmann::json(a) == nlohmann::json(b); }

std::string shorter(const Json& j) {
  const std::string text = j.dump();
  return text.size() > 300 ? text.substr(0, 300) + "..." : text;
}

/// Differences of a state from the expected one; keys that vary from run to run are left out.
std::string differs(const Json& expected, Json found, const std::set<std::string>& varies) {
  for (const auto& [key, want] : expected.items()) {
    if (varies.count(key)) continue;
    Json have = found.contains(key) ? found[key] : Json();
    Json wanted = want;
    if (varies.count(key + ":order")) {
      const auto sorted = [](Json& lists) {
        for (auto& [chain, types] : lists.items())
          for (auto& [type, list] : types.items()) std::sort(list.begin(), list.end());
      };
      sorted(have);
      sorted(wanted);
    }
    if (key == "groups")  // random cases leave out where groups are
      for (auto& [name, g] : have.items())
        if (wanted.contains(name) && !wanted[name].contains("physical")) g.erase("physical");
    if (!same(have, wanted)) return key + ": expected " + shorter(wanted) + ", found " + shorter(have);
  }
  return {};
}

std::set<std::string> strings(const Json& e, const char* key) {
  std::set<std::string> s;
  if (e.contains(key))
    for (const Json& one : e[key]) s.insert(one.get<std::string>());
  return s;
}

std::string judge(const Json& c) {
  std::unique_ptr<Player> p;
  try {
    p = std::make_unique<Player>(c);
  } catch (const InputError& e) { return c.value("expect_init", "ok") == "error" ? "" : std::string("start-up: ") + e.what(); }
  if (c.value("expect_init", "ok") == "error") return "start-up: expected an error";
  if (c.contains("expect_initial_state"))
    if (const std::string d = differs(c["expect_initial_state"], p->state(), strings(c, "initial_state_varies")); !d.empty())
      return "at start: " + d;
  size_t number = 0;
  for (const Json& e : c.at("events")) {
    const std::string where = "event " + std::to_string(number++) + " (" + e.at("op").get<std::string>() + "): ";
    const Json pods = p->play(e);
    if (!e.contains("expect")) continue;
    const Json& x = e["expect"];
    const Json wanted = x.value("pods", Json::array());
    if (x.value("pods_vary", false)) {
      if (x.contains("alternatives") &&
          std::none_of(x["alternatives"].begin(), x["alternatives"].end(), [&](const Json& a) { return same(a, pods); }))
        return where + "none of the alternatives: " + shorter(pods);
    } else if (!same(pods, wanted)) {
      return where + "expected " + shorter(wanted) + ", found " + shorter(pods);
    }
    if (x.contains("state"))
      if (const std::string d = differs(x["state"], p->state(), strings(x, "state_varies")); !d.empty()) return where + d;
  }
  return {};
}

}  // namespace

void hived(const Json& c, Tally& tally) { tally.judged(c.at("id").get<std::string>(), judge(c)); }

/// Inputs on which the real scheduler breaks: played to the end, with all invariants checked after each step. Of what is recommended,
/// "X binds on a,b" and "waits" can be compared.
void hived_defect(const Json& c, Tally& tally) {
  const std::string id = c.at("id").get<std::string>();
  std::string broken;
  Json last = Json::array();
  std::set<std::string> nodes;
  try {
    Player p(c);
    broken = p.check();
    for (const Json& e : c.at("events")) {
      if (!broken.empty()) break;
      const Json pods = p.play(e);
      if (!pods.empty()) last = pods;
      broken = p.check();
    }
  } catch (const std::exception& e) { broken = e.what(); }
  const std::string recommended = c.at("recommended_behaviour").get<std::string>();
  const std::string outcome = last.empty() ? "" : last.back().at("outcome").get<std::string>();
  std::smatch binds;
  if (broken.empty() && std::regex_search(recommended, binds, std::regex(" binds on ([A-Za-z0-9_,.-]*[A-Za-z0-9_])"))) {
    for (const Json& pod : last)
      if (pod.contains("node")) nodes.insert(pod["node"].get<std::string>());
    std::set<std::string> wanted;
    std::stringstream list(binds[1].str());
    for (std::string node; std::getline(list, node, ',');) wanted.insert(node);
    if (nodes != wanted) broken = shorter(last);
  } else if (broken.empty() && std::regex_search(recommended, std::regex("pod waits")) && outcome != "wait") {
    broken = shorter(last);
  }
  tally.defect(broken.empty());
  tally.judged(id, broken);
}

}  // namespace conformance
