// kueue.*: quota trees, shares, victims, topology requests.
#include <algorithm>
#include <cmath>
#include <set>

#include "cases.hpp"
#include "parts/kueue_victims.hpp"
#include "parts/topology_request.hpp"

namespace conformance {

using namespace muster;
using namespace muster::kueue;

namespace {

using muster::kueue::Workload;  // not the engine's

/// Amounts are in thousandths, since some rows have halves of a core.
int64_t amount(const Json& j) { return std::llround(j.get<double>() * 1000); }
int64_t limit(const Json& q, const char* name) { return !q.contains(name) || q[name].is_null() ? QuotaTree::kUnlimited : amount(q[name]); }
double value(const Json& j, const char* name, double fallback) {
  return j.contains(name) && j[name].is_number() ? j[name].get<double>() : fallback;
}
std::string text(const Json& j, const char* name) { return j.contains(name) && j[name].is_string() ? j[name].get<std::string>() : ""; }

/// The queues and cohorts of a case.
struct Tree {
  std::vector<std::pair<std::string, std::string>> columns;  // flavor, resource
  std::vector<std::string> resources;
  std::map<std::string, uint32_t> queue, cohort;
  std::map<std::string, const Json*> cohorts;
  std::vector<Rules> rules;
  std::optional<QuotaTree> tree;

  uint32_t column(const std::string& flavor, const std::string& resource) const {
    const auto at = std::find(columns.begin(), columns.end(), std::pair{flavor, resource});
    if (at == columns.end()) throw InputError("no quota for " + resource + " of " + flavor);
    return uint32_t(at - columns.begin());
  }
  void note_columns(const Json& node) {
    for (const Json& group : node.value("groups", Json::array()))
      for (const Json& flavor : group)
        for (const auto& [resource, quota] : flavor.at("resources").items()) columns.emplace_back(text(flavor, "flavor"), resource);
  }
  std::vector<QuotaTree::Quota> quotas(const Json& node) const {
    std::vector<QuotaTree::Quota> all(columns.size());
    for (const Json& group : node.value("groups", Json::array()))
      for (const Json& flavor : group)
        for (const auto& [resource, q] : flavor.at("resources").items())
          all[column(text(flavor, "flavor"), resource)] = {amount(q.at("nominal")), limit(q, "borrowingLimit"), limit(q, "lendingLimit")};
    return all;
  }
  uint32_t add(uint32_t parent, const Json& node) {
    const uint32_t n = tree->add(parent, quotas(node), std::llround(value(node, "fairWeight", 1) * 1000));
    rules.resize(n + 1);
    return n;
  }
  uint32_t cohort_node(const std::string& name) {
    if (const auto at = cohort.find(name); at != cohort.end()) return at->second;
    const auto given = cohorts.find(name);
    const Json none = Json::object();
    const Json& spec = given == cohorts.end() ? none : *given->second;
    const std::string above = text(spec, "parent");
    const uint32_t parent = above.empty() ? kNone : cohort_node(above);
    return cohort[name] = add(parent, spec);
  }

  explicit Tree(const Json& in) {
    const Json none = Json::array();
    const Json& listed = in.contains("cohorts") ? in["cohorts"] : none;
    for (const Json& c : listed) cohorts[text(c, "name")] = &c, note_columns(c);
    for (const Json& q : in.at("clusterQueues")) note_columns(q);
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    std::set<std::string> names;
    for (const auto& c : columns) names.insert(c.second);
    resources.assign(names.begin(), names.end());
    std::vector<uint32_t> resource_of;
    for (const auto& c : columns)
      resource_of.push_back(uint32_t(std::find(resources.begin(), resources.end(), c.second) - resources.begin()));
    tree.emplace(resource_of);
    for (const auto& c : cohorts) cohort_node(c.first);
    for (const Json& q : in["clusterQueues"]) {
      const std::string above = text(q, "cohort");
      const uint32_t n = add(above.empty() ? kNone : cohort_node(above), q);
      queue[text(q, "name")] = n;
      const Json& p = q.contains("preemption") ? q["preemption"] : none;
      rules[n].within = whom(text(p, "withinClusterQueue"));
      rules[n].reclaim = whom(text(p, "reclaimWithinCohort"));
      if (p.contains("borrowWithinCohort") && p["borrowWithinCohort"].is_object()) {
        const Json& b = p["borrowWithinCohort"];
        rules[n].borrow = text(b, "policy") == "LowerPriority";
        if (b.contains("maxPriorityThreshold") && b["maxPriorityThreshold"].is_number())
          rules[n].borrow_most = b["maxPriorityThreshold"].get<int32_t>();
      }
    }
  }
  static Whom whom(const std::string& policy) {
    if (policy == "LowerPriority") return Whom::lower;
    if (policy == "LowerOrNewerEqualPriority") return Whom::lower_or_newer_equal;
    if (policy == "Any") return Whom::any;
    return Whom::never;
  }
  Workload workload(const Json& w) const {
    Workload out;
    out.queue = queue.at(text(w, "clusterQueue"));
    out.priority = int32_t(value(w, "priority", 0));
    out.queued = Time(value(w, "ts", 0) * 1000), out.reserved = Time(value(w, "reservedAt", 0) * 1000);
    out.evicted = w.value("evicted", false);
    for (const auto& [resource, a] : w.at("requests").items())
      out.usage.push_back({column(w.contains("flavors") ? text(w["flavors"], resource.c_str()) : text(w, "flavor"), resource), amount(a)});
    return out;
  }
};

std::string available(const Json& c) {
  Tree t(c.at("input"));
  std::string difference;
  const auto check = [&](const char* what, auto&& found) {
    for (const auto& [queue, flavors] : c.at("expect").at(what).items())
      for (const auto& [flavor, want] : flavors.items()) {
        const int64_t got = std::max<int64_t>(0, found(t.queue.at(queue), t.column(flavor, "cpu")));
        if (got != amount(want))
          difference += std::string(what) + " " + queue + " " + flavor + ": " + want.dump() + ", found " + std::to_string(got) + "/1000; ";
      }
  };
  check("potentiallyAvailable", [&](uint32_t n, uint32_t k) { return t.tree->potential(n, k); });
  for (const auto& [queue, flavors] : c["input"].at("usage").items())
    for (const auto& [flavor, used] : flavors.items()) t.tree->use(t.queue.at(queue), t.column(flavor, "cpu"), amount(used));
  check("available", [&](uint32_t n, uint32_t k) { return t.tree->available(n, k); });
  return difference;
}

std::string dominant_share(const Json& c) {
  const Json& in = c.at("input");
  Tree t(in);
  const uint32_t n = t.queue.at(text(in.at("clusterQueues").at(0), "name"));
  const Json& first = in["clusterQueues"][0];
  // Usage is stated by resource, of the first flavor that has it, or by flavor and resource.
  const auto use = [&](const std::string& resource, const Json& a) {
    for (const Json& group : first["groups"])
      for (const Json& flavor : group)
        if (flavor["resources"].contains(resource)) return t.tree->use(n, t.column(text(flavor, "flavor"), resource), amount(a));
  };
  for (const char* part : {"usage", "plusWorkload"}) {
    const Json used = in.value(part, Json::object());
    for (const auto& [name, a] : used.items()) {
      if (!a.is_object()) use(name, a);
      else
        for (const auto& [resource, b] : a.items()) t.tree->use(n, t.column(name, resource), amount(b));
    }
  }
  const uint32_t r = t.tree->dominant(n);
  const std::string found = r == kNone ? "null" : "\"" + t.resources[r] + "\"", want = c.at("expect").at("dominant").dump();
  const int64_t shown = t.tree->share(n).shown();
  if (shown != c["expect"].at("drs_ceil").get<int64_t>())
    return "share " + c["expect"]["drs_ceil"].dump() + ", found " + std::to_string(shown);
  return found == want ? "" : "dominant " + want + ", found " + found;
}

std::string preemption(const Json& c) {
  const Json& in = c.at("input");
  Tree t(in);
  std::vector<const Json*> rows;
  for (const Json& w : in.at("admitted")) rows.push_back(&w);
  std::sort(rows.begin(), rows.end(), [](const Json* a, const Json* b) { return text(*a, "name") < text(*b, "name"); });
  std::vector<Workload> workloads;
  std::vector<std::vector<uint32_t>> admitted(t.tree->nodes());
  for (const Json* w : rows) {
    workloads.push_back(t.workload(*w));
    admitted[workloads.back().queue].push_back(uint32_t(workloads.size() - 1));
    for (const Amount& a : workloads.back().usage) t.tree->use(workloads.back().queue, a.column, a.amount);
  }
  const Workload incoming = t.workload(in.at("incoming"));
  std::vector<uint32_t> contested;
  if (in["incoming"].contains("needPreemption")) {
    for (const auto& [resource, flavor] : in["incoming"]["needPreemption"].items())
      contested.push_back(t.column(flavor.get<std::string>(), resource));
  } else {
    for (const Amount& a : incoming.usage) contested.push_back(a.column);
  }
  Victims victims(*t.tree, t.rules, workloads, admitted);
  std::vector<Victim> found;
  if (text(in, "mode") == "fair") {
    FairStrategies s;
    if (in.contains("strategies")) {
      s = {false, false};
      for (const Json& name : in["strategies"]) (name == "LessThanInitialShare" ? s.initial_share : s.final_share) = true;
    }
    found = victims.fair(incoming, contested, s);
  } else {
    found = victims.classical(incoming, contested);
  }
  std::set<std::string> got, want;
  for (const Json& v : c.at("expect").at("preempted")) want.insert(text(v, "workload"));
  for (const Victim& v : found) {
    const std::string name = text(*rows[v.workload], "name");
    got.insert(name);
    for (const Json& w : c["expect"]["preempted"])
      if (text(w, "workload") == name && !text(w, "reason").empty() && text(w, "reason") != to_text(v.why))
        return name + ": " + text(w, "reason") + ", found " + std::string(to_text(v.why));
  }
  if (got == want) return {};
  std::string all = "found";
  for (const std::string& n : got) all += " " + n;
  return all + ", expected " + c["expect"]["preempted"].dump();
}

std::string candidate_order(const Json& c) {
  const Json& in = c.at("input");
  std::vector<const Json*> rows;
  for (const Json& w : in.at("candidates")) rows.push_back(&w);
  std::sort(rows.begin(), rows.end(), [](const Json* a, const Json* b) { return text(*a, "name") < text(*b, "name"); });
  std::map<std::string, uint32_t> queues = {{text(in, "preemptorClusterQueue"), 0}}, local;
  std::vector<Workload> workloads;
  for (const Json* row : rows) {
    Workload w;
    w.queue = queues.emplace(text(*row, "clusterQueue"), uint32_t(queues.size())).first->second;
    w.priority = int32_t(value(*row, "priority", 0));
    if (in.value("priorityBoost", false)) w.boost = int32_t(value(*row, "boost", 0));
    w.reserved = Time(value(*row, "reservedAt", 0) * 1000);
    w.evicted = row->value("evicted", false);
    w.local_queue = local.emplace(text(*row, "localQueue"), uint32_t(local.size())).first->second;
    w.local_usage = std::llround(value(*row, "localQueueUsage", 0) * 1000);
    workloads.push_back(w);
  }
  QuotaTree tree({});
  Victims victims(tree, {}, workloads, {});
  victims.admission_fair_sharing(in.value("admissionFairSharing", false));
  std::vector<uint32_t> order(rows.size());
  for (uint32_t i = 0; i < order.size(); i++) order[i] = i;
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return victims.before(a, b, 0); });
  Json names = Json::array();
  for (const uint32_t i : order) names.push_back(text(*rows[i], "name"));
  return names == c.at("expect").at("order") ? "" : "found " + names.dump() + ", expected " + c["expect"]["order"].dump();
}

std::string topology(const Json& c) {
  const Json& in = c.at("input");
  const std::vector<std::string> levels = in.at("levels").get<std::vector<std::string>>();
  // Domains are known by their path of names, numbered in its order.
  std::vector<std::set<std::vector<std::string>>> paths(levels.size());
  std::map<std::vector<std::string>, int64_t> capacity;
  for (const Json& node : in.at("nodes")) {
    std::vector<std::string> path;
    for (const std::string& l : levels)
      if (node.at("labels").contains(l)) path.push_back(text(node["labels"], l.c_str()));
    if (path.size() != levels.size()) continue;  // a node without a label of a level is no part of the tree
    Json request = in.at("podRequests");
    if (!request.contains("pods")) request["pods"] = 1;
    int64_t fits = std::numeric_limits<int64_t>::max();
    for (const auto& [resource, need] : request.items())
      if (amount(need) > 0)
        fits = std::min(fits, (node.at("allocatable").contains(resource) ? amount(node["allocatable"][resource]) : 0) / amount(need));
    capacity[path] += fits;
    for (size_t l = 0; l < levels.size(); l++) paths[l].insert({path.begin(), path.begin() + ptrdiff_t(l) + 1});
  }
  DomainTree tree;
  tree.parent.resize(levels.size());
  std::vector<int64_t> leaves;
  for (size_t l = 0; l < levels.size(); l++)
    for (const auto& path : paths[l]) {
      tree.parent[l].push_back(l ? uint32_t(std::distance(paths[l - 1].begin(), paths[l - 1].find({path.begin(), path.end() - 1})))
                                 : kNone);
      if (l + 1 == levels.size()) leaves.push_back(capacity[path]);
    }
  const auto level_of = [&](const std::string& name) { return size_t(std::find(levels.begin(), levels.end(), name) - levels.begin()); };
  const Json& r = in.at("request");
  TopologyRequest request;
  const std::string mode = text(r, "mode");
  request.mode = mode == "required"    ? TopologyRequest::Mode::required
                 : mode == "preferred" ? TopologyRequest::Mode::preferred
                                       : TopologyRequest::Mode::unconstrained;
  request.level = level_of(text(r, "level"));
  request.pods = in.at("podCount").get<int64_t>();
  for (const Json& s : r.value("slices", Json::array()))
    request.slices.push_back({level_of(text(s, "level")), int64_t(value(s, "size", 0))});
  const auto found = assign(tree, leaves, request, in.value("featureGates", Json::object()).value("TASProfileMixed", true));
  const bool fails = c.at("expect").value("fails", false);
  Json got = Json::array();
  for (const auto& [leaf, pods] : found) {
    const auto& path = *std::next(paths.back().begin(), leaf);
    const size_t shown = c["expect"].contains("levels") ? c["expect"]["levels"].size() : levels.size();
    got.push_back(
        {{"values", std::vector<std::string>(path.end() - ptrdiff_t(std::min(shown, path.size())), path.end())}, {"count", pods}});
  }
  if (fails) return found.empty() ? "" : "expected no assignment, found " + got.dump();
  return got == c["expect"].at("domains") ? "" : "found " + got.dump() + ", expected " + c["expect"]["domains"].dump();
}

/// The quota exercises: the same tree in other words.
QuotaTree::Quota exercise_quota(const Json& q) {
  const auto given = [&](const char* name) { return q.contains(name) ? amount(q[name]) : QuotaTree::kUnlimited; };
  return {amount(q.at("nominal")), given("borrowing_limit"), given("lending_limit")};
}
/// What queue `who` of a cohort could use when nothing runs, in thousandths.
int64_t could_use(const Json& cohort, const std::string& who) {
  QuotaTree tree({0});
  const uint32_t root = tree.add(kNone, {});
  uint32_t asked = root;
  for (const auto& [name, q] : cohort.items()) {
    const uint32_t n = tree.add(root, std::vector{exercise_quota(q)});
    if (name == who) asked = n;
  }
  return tree.available(asked, 0);
}
/// "a.borrowing_limit=5 and c.lending_limit unset", done to the cohort.
Json changed(Json cohort, std::string text) {
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(" and ", at), text.size());
    const std::string one = text.substr(at, end - at);
    at = end + 5;
    const size_t dot = one.find('.'), key_end = one.find_first_of("= ", dot);
    Json& queue = cohort.at(one.substr(0, dot));
    const std::string key = one.substr(dot + 1, key_end - dot - 1);
    if (one[key_end] == '=') queue[key] = std::stod(one.substr(key_end + 1));
    else queue.erase(key);
  }
  return cohort;
}
std::string quota(const Json& c) {
  const Json &in = c.at("input"), &want = c.at("expected");
  std::string difference;
  const auto check = [&](const std::string& what, int64_t expected, int64_t found) {
    if (expected != found) difference += what + ": expected " + std::to_string(expected) + "/1000, found " + std::to_string(found) + "; ";
  };
  if (want.contains("max_usable"))
    for (const auto& [name, n] : want["max_usable"].items()) check(name, amount(n), could_use(in.at("cohort"), name));
  for (const auto& [key, cases] : want.items()) {
    const size_t end = key.find("_may_borrow");
    if (end == std::string::npos) continue;
    const std::string who = key.substr(0, end);
    for (const auto& [text, n] : cases.items()) {
      const Json cohort = changed(in.at("cohort"), text);
      check(text, amount(n), could_use(cohort, who) - amount(cohort.at(who).at("nominal")));
    }
  }
  if (in.contains("cohort_nominal_total")) {  // shares of a borrowing queue; shown in thousandths, rounded up
    const Json &total = in["cohort_nominal_total"], &queue = in.at("queue");
    const auto share = [&](const std::vector<std::string>& resources, int64_t weight) {
      std::vector<uint32_t> numbers;
      std::vector<QuotaTree::Quota> own, others;
      for (const std::string& r : resources) {
        numbers.push_back(uint32_t(numbers.size()));
        own.push_back({amount(queue.at("nominal").at(r))});
        others.push_back({amount(total.at(r)) - amount(queue["nominal"][r])});
      }
      QuotaTree tree(numbers);
      const uint32_t root = tree.add(kNone, {}), n = tree.add(root, own, weight);
      tree.add(root, others);
      for (size_t r = 0; r < resources.size(); r++) tree.use(n, r, amount(queue.at("used").at(resources[r])));
      return tree.share(n).shown();
    };
    const auto shown = [](const Json& v) { return int64_t(std::ceil(number(v) * 1000 - 1e-9)); };
    std::vector<std::string> all;
    for (const auto& [r, v] : want.at("per_resource").items()) all.push_back(r), check(r, shown(v), share({r}, 1000));
    check("unweighted", shown(want.at("unweighted")), share(all, 1000));
    check("weighted", shown(want.at("weighted")), share(all, amount(queue.at("weight"))));
  }
  return difference;
}

}  // namespace

bool kueue_case(const std::string& kind, const Json& c, Tally& tally) {
  static const std::map<std::string, std::string (*)(const Json&)> kinds = {{"kueue.available", available},
                                                                            {"kueue.drs", dominant_share},
                                                                            {"kueue.preemption", preemption},
                                                                            {"kueue.candidate_order", candidate_order},
                                                                            {"kueue.tas_assignment", topology}};
  if (kind == "quota") return tally.judged(c.at("id").get<std::string>(), quota(c)), true;
  const auto k = kinds.find(kind);
  if (k == kinds.end()) return false;
  tally.judged(c.at("id").get<std::string>(), k->second(c), c.value("check", "") == "oracle: not run");
  return true;
}

}  // namespace conformance
