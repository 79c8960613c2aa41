// The table of all policies. A new one is a file with one function and one row here.
#include "table.hpp"

namespace muster {

namespace {
/// Values for slots of `list`, as a named policy fixes them.
Config slots(std::initializer_list<std::pair<std::string_view, std::string_view>> values) {
  Config c;
  for (const auto& [slot, value] : values) c.set(slot, Config::text(std::string(value)));
  return c;
}

PolicyInfo row(std::string_view name, std::string_view summary, std::unique_ptr<Policy> (*make)(const PolicyInput&),
               std::vector<Parameter> parameters, Config preset = {}, bool needs_oracle = false) {
  PolicyInfo info;
  info.name = name, info.summary = summary, info.parameters = std::move(parameters), info.make = make;
  info.preset = std::move(preset), info.needs_oracle = needs_oracle;
  return info;
}

/// A row over `list`: what it fixes or presets, and which slots are left to the user.
PolicyInfo list_row(std::string_view name, std::string_view summary,
                    std::initializer_list<std::pair<std::string_view, std::string_view>> preset,
                    std::initializer_list<std::string_view> open, bool needs_oracle = false) {
  const Config values = slots(preset);
  return row(name, summary, make_list, list_parameters(open, values), values, needs_oracle);
}

std::vector<PolicyInfo> table() {
  std::vector<PolicyInfo> t;
  t.push_back(list_row("conservative", "backfilling that delays no job ahead in the queue, by estimates",
                       {{"order", "fifo"}, {"blocked", "conservative"}, {"estimate", "stated"}}, {"place", "blocked", "estimate"}, true));
  t.push_back(row("drf", "dominant resource fairness: next is the user with the smallest dominant share", make_drf, drf_parameters()));
  t.push_back(list_row("easy", "backfilling that does not delay the head of the queue, by estimates",
                       {{"order", "fifo"}, {"blocked", "easy"}, {"estimate", "stated"}}, {"place", "blocked", "estimate"}, true));
  t.push_back(list_row("edf", "earliest deadline first, preemptive", {{"order", "edf"}, {"blocked", "skip"}, {"preempt", "order"}},
                       {"place", "blocked", "preempt"}));
  t.push_back(row("fair-share", "fair share by past usage: next is the user who used least, old usage fading", make_fair_share,
                  fair_share_parameters()));
  t.push_back(list_row("fifo", "first in, first out: who does not fit holds up all behind it", {{"order", "fifo"}, {"blocked", "stop"}},
                       {"place"}));
  t.push_back(list_row("fifo-skip", "in order of submission, whatever fits starts", {{"order", "fifo"}, {"blocked", "skip"}}, {"place"}));
  t.push_back(list_row("gittins", "highest Gittins index first, preemptive",
                       {{"order", "gittins"}, {"blocked", "skip"}, {"preempt", "order"}}, {"place", "blocked", "preempt"}));
  t.push_back(row("hdrf", "hierarchical dominant resource fairness over queues named by paths", make_hdrf, hdrf_parameters()));
  t.push_back(row("hived", "virtual clusters that own cells of the topology; opportunistic work in what they leave idle", make_hived,
                  hived_parameters(), {}, true));
  t.push_back(row("kai", "a tree of queues with deserved quotas and fair shares, reclaimed, as KAI-Scheduler", make_kai, kai_parameters()));
  t.push_back(
      row("kueue", "cluster queues that own quota, borrow it in cohorts and take it back, as Kueue", make_kueue, kueue_parameters()));
  t.push_back(list_row("las", "least attained service first, in steps, preemptive",
                       {{"order", "las"}, {"blocked", "skip"}, {"preempt", "order"}}, {"place", "blocked", "preempt"}));
  t.push_back(
      row("list", "a queue composed of parts: order, quota, place, blocked, preempt, estimate", make_list, list_parameters(), {}, true));
  t.push_back(row("max-min", "max-min fairness: next is the user who holds least", make_drf, drf_parameters(),
                  slots({{"resources", "gpu"}, {"measure", "amount"}})));
  t.push_back(list_row("multifactor", "priority from age, fair share, size and QOS, as in Slurm",
                       {{"order", "multifactor"}, {"blocked", "skip"}}, {"place", "blocked", "preempt"}));
  t.push_back(row("muri", "as the simulator of the Muri paper: the cluster emptied and filled anew at every event", make_muri,
                  muri_parameters(), {}, true));
  t.push_back(list_row("priority", "highest priority first, no preemption unless asked for", {{"order", "priority"}},
                       {"place", "blocked", "preempt"}));
  t.push_back(row("rounds", "any policy in rounds: it is asked at the beginning of each and at no other time", make_rounds,
                  {{"round", "360s", "length of a round", {}},
                   {"policy", "las", "who decides", {}},
                   {"parameters", "", "its parameters: {name: value}", {}}},
                  {}, true));
  t.push_back(list_row("rr", "round robin of gangs: time slices of one quantum",
                       {{"order", "rr"}, {"blocked", "skip"}, {"preempt", "order"}}, {"place", "blocked"}));
  t.push_back(list_row("sjf", "shortest job first, by the true run time unless told otherwise, no preemption",
                       {{"order", "sjf"}, {"estimate", "exact"}}, {"place", "blocked", "estimate"}, true));
  t.push_back(row(
      "split", "the cluster in parts, each with nodes, queues and a policy of its own", make_split,
      {{"by", "queue", "what a job's part is told by", {"queue", "tenant"}}, {"parts", "", "NAME: {jobs, nodes, policy, parameters}", {}}},
      {}, true));
  t.push_back(list_row("srsf", "least remaining service (run time x GPUs) first, preemptive",
                       {{"order", "srsf"}, {"blocked", "skip"}, {"preempt", "order"}, {"estimate", "exact"}},
                       {"place", "blocked", "estimate"}, true));
  t.push_back(list_row("srtf", "shortest remaining run time first, preemptive",
                       {{"order", "srtf"}, {"blocked", "skip"}, {"preempt", "order"}, {"estimate", "exact"}},
                       {"place", "blocked", "estimate"}, true));
  t.push_back(row("taskwise", "no gangs: tasks placed one by one hold what they have; shows the deadlock", make_taskwise, {}));
  t.push_back(list_row("themis", "worst finish-time fairness first, in leases",
                       {{"order", "ftf"}, {"blocked", "skip"}, {"preempt", "order"}, {"estimate", "exact"}},
                       {"place", "blocked", "estimate"}, true));
  t.push_back(list_row("tiresias", "queues by attained GPU time (discretised 2D-LAS), preemptive",
                       {{"order", "tiresias"}, {"blocked", "skip"}, {"preempt", "order"}}, {"place", "blocked", "preempt"}));
  t.push_back(row("yarn-capacity", "capacity queues with the preemption monitor, as YARN", make_yarn_capacity, yarn_capacity_parameters()));
  for (PolicyInfo& info : t)  // what a row presets is the default that its parameters show
    for (Parameter& p : info.parameters)
      if (const Config* c = info.preset.find(p.name)) p.fallback = c->value;
  return t;
}
}  // namespace

std::span<const PolicyInfo> builtin_policies() {
  static const std::vector<PolicyInfo> policies = table();
  return policies;
}

std::unique_ptr<Policy> make_policy(std::string_view name, PolicyInput in, std::string_view where) {
  std::vector<std::string_view> names;
  for (const PolicyInfo& info : builtin_policies()) {
    names.push_back(info.name);
    if (info.name != name) continue;
    Config all = info.preset;
    for (const auto& [key, value] : in.parameters.fields) all.set(key, value);
    in.parameters = std::move(all);
    return info.make(in);
  }
  const std::string nearest = nearest_name(name, names);
  throw InputError((where.empty() ? "" : std::string(where) + ": ") + "no policy is called " + std::string(name) +
                   (nearest.empty() ? "" : "; did you mean " + nearest + "?"));
}

}  // namespace muster
