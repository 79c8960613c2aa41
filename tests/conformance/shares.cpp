// Shares and scores: yarn.fair.*, kai.*, volcano.*.
#include <algorithm>
#include <cmath>
#include <set>

#include "cases.hpp"
#include "parts/kai_share.hpp"
#include "parts/volcano.hpp"
#include "parts/yarn_fair.hpp"

namespace conformance {

using namespace muster;

namespace {

int64_t thousandths(const Json& j) { return std::llround(j.get<double>() * 1000); }
int64_t integer(const Json& j, const char* name, int64_t fallback) {
  return j.contains(name) && j[name].is_number() ? j[name].get<int64_t>() : fallback;
}
int64_t thousandths(const Json& j, const char* name, int64_t fallback) {
  return j.contains(name) && j[name].is_number() ? thousandths(j[name]) : fallback;
}
std::string text(const Json& j, const char* name) { return j.contains(name) && j[name].is_string() ? j[name].get<std::string>() : ""; }
double value(Ratio r) { return double(r.over) / double(r.under); }

std::string fair_shares(const Json& c) {
  std::vector<yarn::Sharer> sharers;
  for (const Json& s : c.at("input").at("schedulables")) {
    yarn::Sharer sharer;
    sharer.least = integer(s, "min", 0), sharer.most = integer(s, "max", sharer.most), sharer.weight = thousandths(s, "weight", 1000);
    sharer.active = s.value("active", true);
    sharers.push_back(sharer);
  }
  const Json found = yarn::fair_shares(c["input"].at("total").get<int64_t>(), sharers);
  return found == c.at("expect").at("shares") ? "" : "found " + found.dump() + ", expected " + c["expect"]["shares"].dump();
}

std::string drf_compare(const Json& c) {
  const Json& in = c.at("input");
  Resources cluster;
  std::vector<size_t> kinds;
  for (size_t k = 0; k < in.at("cluster").size(); k++) cluster[k] = in["cluster"][k].get<int64_t>(), kinds.push_back(k);
  const auto claimant = [&](const Json& j) {
    yarn::Claimant x;
    for (const size_t k : kinds) {
      x.usage[k] = j.at("usage")[k].get<int64_t>();
      if (j.contains("minShare")) x.least[k] = j["minShare"][k].get<int64_t>();
    }
    x.weight = thousandths(j, "weight", 1000);
    return x;
  };
  const bool first = yarn::fairer(claimant(in.at("first")), claimant(in.at("second")), cluster, kinds) < 0;
  return first == c.at("expect").at("first_before_second").get<bool>()
             ? ""
             : std::string("first before second: found ") + (first ? "true" : "false");
}

std::string division(const Json& c) {
  const Json& in = c.at("input");
  std::vector<kai::ShareQueue> queues;
  for (const Json& q : in.at("queues")) {
    kai::ShareQueue x;
    x.deserved = thousandths(q, "deserved", 0), x.request = thousandths(q, "request", 0),
    x.most = thousandths(q, "maxAllowed", kai::kUnlimited);
    x.weight = thousandths(q, "weight", 0), x.priority = int32_t(integer(q, "priority", 0));
    x.usage_millionths = q.contains("usage") ? std::llround(q["usage"].get<double>() * 1e6) : 0;
    queues.push_back(x);
  }
  const kai::Division found = kai::divide(thousandths(in.at("total")), queues, thousandths(in, "kValue", 1000) * 1000);
  std::string difference;
  for (size_t q = 0; q < queues.size(); q++) {
    const std::string id = text(in["queues"][q], "id");
    const Json& want = c.at("expect").at("fairShare");
    if (want.contains(id) && thousandths(want[id]) != found.fair[q])
      difference += id + ": " + want[id].dump() + ", found " + std::to_string(found.fair[q]) + "/1000; ";
  }
  if (c["expect"].contains("remaining") && thousandths(c["expect"]["remaining"]) != found.remaining)
    difference += "remaining " + c["expect"]["remaining"].dump() + ", found " + std::to_string(found.remaining) + "/1000";
  return difference;
}

std::string reclaim(const Json& c) {
  const Json& in = c.at("input");
  std::map<std::string, uint32_t> number;
  for (const auto& [name, q] : in.at("queues").items()) number.emplace(name, uint32_t(number.size()));
  std::vector<kai::TreeQueue> tree(number.size());
  for (const auto& [name, q] : in["queues"].items()) {
    kai::TreeQueue& x = tree[number[name]];
    const std::string parent = text(q, "parent");
    if (!parent.empty()) x.parent = number.at(parent);
    x.deserved[kGpu] = thousandths(q, "deserved", 0), x.fair[kGpu] = thousandths(q, "fairShare", 0);
    x.allocated[kGpu] = thousandths(q, "allocated", 0), x.fixed[kGpu] = thousandths(q, "np", 0);
    x.most[kGpu] = thousandths(q, "maxAllowed", kai::kUnlimited);
  }
  std::vector<kai::GivesBack> victims;
  for (const auto& [queue, amounts] : in.at("victims").items())
    for (const Json& a : amounts) victims.push_back({number.at(queue), {thousandths(a), 0, 0}});
  const Json& r = in.at("reclaimer");
  const bool found = kai::may_reclaim(tree, number.at(text(r, "queue")), {thousandths(r, "gpus", 0), 0, 0}, r.value("preemptible", true), victims,
                                      thousandths(in, "utilizationMultiplier", 1000) * 1000);
  return found == c.at("expect").at("reclaimable").get<bool>() ? "" : std::string("found ") + (found ? "true" : "false");
}

std::string binpack(const Json& c) {
  const Json& in = c.at("input");
  std::string difference;
  for (const auto& [name, want] : c.at("expect").at("score").items()) {
    const Json& node = in.at("nodes").at(name);
    std::vector<volcano::Packed> resources;
    for (const auto& [resource, request] : in.at("request").items())
      resources.push_back({integer(in.at("resourceWeights"), resource.c_str(), 0), thousandths(request),
                           thousandths(node.at("used"), resource.c_str(), 0), thousandths(node.at("allocatable"), resource.c_str(), 0)});
    const double found = value(volcano::binpack_score(resources, integer(in, "pluginWeight", 1)));
    if (std::abs(found - want.get<double>()) > 1e-8) difference += name + ": " + want.dump() + ", found " + std::to_string(found) + "; ";
  }
  return difference;
}

std::string topology_score(const Json& c) {
  const Json& in = c.at("input");
  const Json& tree = in.at("hyperNodes");
  std::map<std::string, std::string> parent;
  for (const auto& [name, node] : tree.items())
    if (node.contains("children"))
      for (const Json& k : node["children"]) parent[k.get<std::string>()] = name;
  const auto tier = [&](const std::string& n) { return integer(tree.at(n), "tier", 0); };
  std::string difference;
  for (const auto& [node, want] : c.at("expect").at("score").items()) {
    std::set<std::string> above;
    for (std::string n = text(in, "jobAllocatedHyperNode");; n = parent[n]) {
      above.insert(n);
      if (!parent.count(n)) break;
    }
    std::string meets = text(in.at("nodes"), node.c_str());
    while (!above.count(meets) && parent.count(meets)) meets = parent[meets];
    const int64_t low = in.at("tiers")[0].get<int64_t>(), high = in["tiers"][1].get<int64_t>();
    const double found = value(volcano::topology_score(tier(meets), low, high, integer(in, "pluginWeight", 1)));
    if (std::abs(found - want.get<double>()) > 0.1) difference += node + ": " + want.dump() + ", found " + std::to_string(found) + "; ";
  }
  return difference;
}

/// The kinds of gang rows are told by what they give.
std::string bundles(const Json& c) {
  const Json &in = c.at("input"), &want = c.at("expect");
  const auto names_of = [](const std::vector<std::string>& names, const std::vector<uint32_t>& list) {
    std::set<std::string> out;
    for (const uint32_t i : list) out.insert(names[i]);
    return Json(out);
  };
  if (want.contains("order")) {
    std::vector<std::pair<volcano::BundleRank, std::string>> ranks;
    for (const Json& b : in.at("bundles")) {
      volcano::BundleRank r{text(b, "type") == "whole",
                            int32_t(integer(b, "jobPriority", 0)),
                            {thousandths(b, "local", 1000), thousandths(b, "global", thousandths(b, "local", 1000))}};
      ranks.emplace_back(r, text(b, "id"));
    }
    std::stable_sort(ranks.begin(), ranks.end(), [](const auto& a, const auto& b) { return volcano::goes_before(a.first, b.first); });
    Json found = Json::array();
    for (const auto& r : ranks) found.push_back(r.second);
    return found == want["order"] ? "" : "found " + found.dump();
  }
  std::vector<std::string> names;
  std::vector<volcano::GangTask> tasks;
  volcano::GangMinima minima;
  const auto candidate = [&](const std::string& id) {
    return !in.contains("candidates") || !in["candidates"].is_array() ||
           std::find(in["candidates"].begin(), in["candidates"].end(), id) != in["candidates"].end();
  };
  if (want.contains("kept")) {  // what is left of bundles when only some tasks are allowed
    Json found = Json::array();
    const Json& allowed = in.at("allowed");
    for (const Json& b : in.at("bundles")) {
      Json kept = Json::array();
      for (const Json& t : b.at("tasks"))
        if (std::find(allowed.begin(), allowed.end(), t) != allowed.end()) kept.push_back(t);
      if (kept.empty() || (text(b, "type") == "whole" && kept.size() != b["tasks"].size())) continue;
      found.push_back({{"type", b["type"]}, {"tasks", kept}});
    }
    return found == want["kept"] ? "" : "found " + found.dump();
  }
  if (want.contains("victims")) {
    std::string difference;
    const Json& job = in.at("victimJob");
    for (const Json& t : job.at("running")) names.push_back(t.get<std::string>()), tasks.push_back({});
    minima.tasks = uint32_t(integer(job, "minMember", 1));
    const volcano::Bundles b = volcano::gang_bundles(tasks, minima);
    for (const Json& whole : in.at("allowWholeBundle")) {
      std::vector<uint32_t> victims = b.safe;
      if (whole.get<bool>()) victims.insert(victims.end(), b.whole.begin(), b.whole.end());
      const Json& expected = want["victims"].at(whole.get<bool>() ? "True" : "False");
      if (names_of(names, victims) != expected) difference += "expected " + expected.dump() + ", found " + names_of(names, victims).dump();
    }
    return difference;
  }
  minima.tasks = uint32_t(integer(in, "minMember", 1));
  if (in.contains("minSubJobs"))
    for (const auto& [group, n] : in["minSubJobs"].items()) minima.sub_jobs = n.get<uint32_t>();
  minima.tasks_per_sub = uint32_t(integer(in, "subJobMin", 0));
  const Json none = Json::object();
  const Json& priorities = in.contains("priorities") ? in["priorities"] : none;
  if (in.contains("running"))
    for (const Json& t : in["running"])
      names.push_back(text(t, "id")), tasks.push_back({int32_t(integer(t, "priority", 0)), 0, candidate(names.back())});
  uint32_t sub = 0;
  if (in.contains("subJobs"))
    for (const auto& [name, list] : in["subJobs"].items()) {
      for (const Json& t : list)
        names.push_back(t.get<std::string>()),
            tasks.push_back({int32_t(integer(priorities, names.back().c_str(), 0)), sub, candidate(names.back())});
      sub++;
    }
  const volcano::Bundles b = volcano::gang_bundles(tasks, minima);
  std::string difference;
  for (const auto& [part, list] : {std::pair{"safe", &b.safe}, std::pair{"whole", &b.whole}})
    if (want.contains(part)) {
      const std::vector<std::string> expected = want[part].get<std::vector<std::string>>();
      const Json sorted(std::set<std::string>(expected.begin(), expected.end()));
      if (names_of(names, *list) != sorted)
        difference += std::string(part) + ": expected " + sorted.dump() + ", found " + names_of(names, *list).dump() + "; ";
    }
  return difference;
}

}  // namespace

bool share_case(const std::string& kind, const Json& c, Tally& tally) {
  static const std::map<std::string, std::string (*)(const Json&)> kinds = {
      {"yarn.fair.compute_shares", fair_shares}, {"yarn.fair.drf_compare", drf_compare}, {"kai.fair_share_division", division},
      {"kai.reclaim_predicate", reclaim},        {"volcano.binpack_score", binpack},     {"volcano.topology_node_score", topology_score},
      {"volcano.gang_bundles", bundles}};
  const auto k = kinds.find(kind);
  if (k == kinds.end()) return false;
  tally.judged(c.at("id").get<std::string>(), k->second(c), c.value("check", "") == "oracle: not run");
  return true;
}

}  // namespace conformance
