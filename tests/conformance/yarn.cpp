// yarn.*: a round of the preemption monitor.
#include <algorithm>
#include <cmath>

#include "cases.hpp"
#include "parts/yarn_capacity.hpp"

namespace conformance {

using namespace muster;

namespace {

int64_t millionths(const Json& c, const char* name, int64_t fallback) {
  return c.contains(name) ? std::llround(c[name].get<double>() * 1e6) : fallback;
}

/// A vector of amounts, or a number for the only kind.
Resources amounts(const Json& j) {
  Resources r;
  if (j.is_number()) r[0] = j.get<int64_t>();
  else
    for (size_t k = 0; k < j.size() && k < kMaxKinds; k++) r[k] = j[k].get<int64_t>();
  return r;
}

/// How many containers of `size` make up `all`.
int64_t containers(const Resources& all, const Resources& size) {
  for (size_t k = 0; k < kMaxKinds; k++)
    if (size[k] > 0) return all[k] / size[k];
  return 0;
}

struct Round {
  std::vector<yarn::Queue> queues;
  std::vector<yarn::App> apps;
  std::vector<std::string> queue_names, app_names;
  yarn::Settings settings;
  yarn::Calculator calculator;
  bool observe_only = false;

  uint32_t add_app(uint32_t queue, const Json& a, int64_t running, int64_t reserved, bool master) {
    yarn::App app;
    const Resources size = amounts(a.at("containerSize"));
    for (int64_t i = 0; i < running; i++) app.containers.push_back({size, master && i == 0, false});
    for (int64_t i = 0; i < reserved; i++) app.containers.push_back({size, false, true});
    if (a.contains("pending")) app.pending = amounts(a["pending"]);
    if (a.contains("priority") && a["priority"].is_number()) app.priority = a["priority"].get<int32_t>();
    apps.push_back(app);
    app_names.push_back(a.at("name").get<std::string>());
    queues[queue].apps.push_back(uint32_t(apps.size() - 1));
    return uint32_t(apps.size() - 1);
  }

  explicit Round(const Json& in) {
    const Json& c = in.at("config");
    settings.per_round = millionths(c, "total_preemption_per_round", settings.per_round);
    settings.natural = millionths(c, "natural_termination_factor", settings.natural);
    settings.ignored = millionths(c, "max_ignored_over_capacity", settings.ignored);
    settings.balance = c.value("preemption_to_balance", false);
    settings.intra = c.value("intra_queue_preemption", false);
    settings.intra_threshold = millionths(c, "minimum_threshold", settings.intra_threshold);
    settings.intra_most = millionths(c, "max_allowable_limit", settings.intra_most);
    settings.priority_first = c.value("order_policy", "userlimit_first") == "priority_first";
    observe_only = c.value("observe_only", false);
    calculator.dominant = in.contains("calculator") && in["calculator"] == "dominant";

    const Json& list = in.at("queues");
    const size_t kinds = list.at(0).at("guaranteed").is_array() ? list[0]["guaranteed"].size() : 1;
    for (size_t k = 0; k < kinds; k++) calculator.kinds.push_back(k);
    const bool flat = !list[0].contains("parent");  // intra-queue rows leave the root out
    if (flat) {
      yarn::Queue root;
      root.leaf = false;
      for (const Json& q : list) root.guaranteed += amounts(q.at("guaranteed")), root.used += amounts(q.at("used"));
      root.most = root.guaranteed;
      queues.push_back(root);
      queue_names.push_back("root");
    }
    std::map<std::string, uint32_t> number;
    for (const Json& q : list) {
      yarn::Queue queue;
      queue.leaf = flat || q.value("leaf", true);
      queue.guaranteed = amounts(q.at("guaranteed")), queue.most = amounts(q.at("max")), queue.used = amounts(q.at("used"));
      if (q.contains("pending")) queue.pending = amounts(q["pending"]);
      if (q.contains("reserved")) queue.reserved = amounts(q["reserved"]);
      queue.off = q.value("preemptionDisabled", false);
      queue.am_millionths = millionths(q, "maxAMPercent", 0);
      queue.parent = flat ? 0 : q.at("parent").is_null() ? kNone : number.at(q["parent"].get<std::string>());
      queue.user_limit = calculator.scaled_down(queue.guaranteed, {millionths(c, "user_limit_percent", 100'000'000), 100'000'000});
      const uint32_t n = uint32_t(queues.size());
      number[q.at("name").get<std::string>()] = n;
      queue_names.push_back(q["name"].get<std::string>());
      queues.push_back(queue);
      if (!q.contains("apps")) continue;
      for (const Json& a : q["apps"]) {
        const Resources size = amounts(a.at("containerSize"));
        add_app(n, a, containers(amounts(a.at("used")), size), containers(amounts(a.at("reserved")), size), a.value("hasAM", false));
      }
    }
    if (!in.contains("apps")) return;
    std::map<std::string, uint32_t> users;
    for (const Json& a : in["apps"]) {
      const uint32_t app = add_app(number.at(a.at("queue").get<std::string>()), a, a.at("containers").get<int64_t>(), 0,
                                   a.value("firstContainerIsAM", false));
      apps[app].user = users.emplace(a.value("user", ""), uint32_t(users.size())).first->second;
    }
  }
};

std::string preempted(const Json& c) {
  const Round r(c.at("input"));
  yarn::Ideal ideal;
  std::map<std::string, int64_t> found;
  if (!r.observe_only)
    for (const yarn::Chosen& x : yarn::select_containers(r.queues, r.apps, r.calculator, r.settings, &ideal)) found[r.app_names[x.app]]++;
  const Json& want = c.at("expect").at("preemptedContainers");
  std::string difference;
  for (const auto& [app, n] : want.items())
    if (found[app] != n.get<int64_t>()) difference += app + ": " + n.dump() + ", found " + std::to_string(found[app]) + "; ";
  for (const auto& [app, n] : found)
    if (n && (want.empty() || (c["expect"].contains("onlyTheseApps") && !want.contains(app))))
      difference += app + ": none, found " + std::to_string(n) + "; ";
  if (c["expect"].contains("idealAssigned"))
    for (const auto& [queue, n] : c["expect"]["idealAssigned"].items()) {
      const auto q = std::find(r.queue_names.begin(), r.queue_names.end(), queue);
      const int64_t got = ideal.assigned.at(size_t(q - r.queue_names.begin()))[0];
      if (n.is_number() && got != n.get<int64_t>())
        difference += "ideal of " + queue + ": " + n.dump() + ", found " + std::to_string(got) + "; ";
    }
  return difference;
}

}  // namespace

bool yarn_case(const std::string& kind, const Json& c, Tally& tally) {
  if (kind != "yarn.preempt.inter_queue_round" && kind != "yarn.preempt.intra_queue_round") return false;
  tally.judged(c.at("id").get<std::string>(), preempted(c), c.value("check", "") == "oracle: not run");
  return true;
}

}  // namespace conformance
