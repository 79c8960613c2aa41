// kai.integration_round: what runs where after KAI's actions.
#include <cmath>

#include "session.hpp"
#include "topology/json.hpp"

namespace conformance {

using namespace muster;

namespace {

double value(const Json& j, const char* name, double fallback) { return j.contains(name) && j[name].is_number() ? j[name].get<double>() : fallback; }

Topology cluster(const Json& nodes) {
  Json all = Json::array();
  for (const auto& [name, n] : nodes.items()) {
    Json node = {{"name", name}, {"gpus", n.value("GPUs", 0)}};
    if (n.contains("CPUMillis")) node["cpus"] = n["CPUMillis"].get<double>() / 1000;
    if (n.contains("CPUMemory")) node["mem_mib"] = n["CPUMemory"].get<int64_t>() / 1'000'000;  // the rows count in round millions
    all.push_back(node);
  }
  return topology_from_json(Json{{"nodes", all}}.dump(), "case");
}

Config text(const std::string& s) { return Config::text(s); }

/// A queue or department in the words of the policy. What a row leaves out has no quota; CPUs and memory then have no limit.
Config queue(const Json& q, const std::string& parent) {
  Config c;
  c.kind = Config::Kind::object;
  c.set("name", text(q.at("Name").get<std::string>()));
  if (!parent.empty()) c.set("parent", text(parent));
  if (q.contains("Priority")) c.set("priority", text("101"));  // the only other one: the default and one
  const auto resource = [&](const char* name, const char* quota, const char* weight, double unit) {
    if (!q.contains(quota)) return;
    Config r;
    r.kind = Config::Kind::object;
    r.set("quota", text(std::to_string(value(q, quota, 0) / unit)));
    r.set("overQuotaWeight", text(std::to_string(value(q, weight, 0))));
    c.set(name, r);
  };
  resource("gpu", "DeservedGPUs", "GPUOverQuotaWeight", 1);
  resource("cpu", "DeservedCPUs", "CPUOverQuotaWeight", 1000);
  resource("memory", "DeservedMemory", "MemoryOverQuotaWeight", 1024. * 1'000'000);
  return c;
}

std::string integration_round(const Json& c) {
  const PolicyInfo* kai = policy("kai");
  const Json& in = c.at("input");
  const Topology t = cluster(in.at("nodes"));
  Config parameters, queues;
  parameters.kind = Config::Kind::object, queues.kind = Config::Kind::list;
  for (Json d : in.at("departments")) {
    d["GPUOverQuotaWeight"] = value(d, "GPUOverQuotaWeight", 1);
    queues.fields.emplace_back("", queue(d, ""));
  }
  for (const Json& q : in.at("queues")) queues.fields.emplace_back("", queue(q, q.value("ParentQueue", "")));
  parameters.set("queues", queues);

  std::map<std::string, NodeId> node;
  for (NodeId n = 0; n < t.nodes(); n++) node[t.node_name(n)] = n;
  std::map<std::pair<NodeId, std::string>, unsigned> group;  // of GPUs that are shared
  std::vector<uint64_t> taken(t.nodes());
  const auto lowest = [&](NodeId n) {
    unsigned g = 0;
    while (taken[n] >> g & 1) g++;
    taken[n] |= uint64_t{1} << g;
    return g;
  };
  std::vector<SessionJob> jobs;
  for (const Json& j : in.at("jobs")) {
    SessionJob job;
    job.name = j.at("name"), job.queue = j.at("queue"), job.priority = int32_t(value(j, "priority", 50));
    const double gpus = value(j, "gpusPerTask", 0);
    TaskGroup g;
    g.gpus = gpus >= 1 ? uint32_t(gpus) : 0;
    g.per_task[kGpu] = std::llround(gpus * 1000);
    g.per_task[kCpu] = std::llround(value(j, "RequiredCPUsPerTask", 0) * 1000);
    g.per_task[kMem] = std::llround(value(j, "RequiredMemoryPerTask", 0) / 1'000'000);
    g.max_tasks = uint32_t(j.at("tasks").size());
    uint32_t running = 0;
    for (const Json& task : j["tasks"]) {
      if (task.at("state") != "Running") continue;
      running++;
      const NodeId n = node.at(task.at("node").get<std::string>());
      if (gpus > 0 && gpus < 1) {
        const std::string name = task.contains("gpuGroups") ? task["gpuGroups"][0].get<std::string>() : "alone " + job.name;
        const auto at = group.find({n, name});
        const unsigned gpu = at != group.end() ? at->second : group.emplace(std::pair{n, name}, lowest(n)).first->second;
        job.holds.push_back(Piece::part(Share::slice, n, gpu, 0, unsigned(g.per_task[kGpu]), 0));
      } else {
        uint64_t mask = 0;
        for (uint32_t i = 0; i < g.gpus; i++) mask |= uint64_t{1} << lowest(n);
        if (!job.holds.empty() && job.holds.back().node == n) job.holds.back().what |= mask, job.holds.back().tasks++;
        else job.holds.push_back(Piece::whole(n, 1, mask));
      }
    }
    // A gang wants all its tasks at once, one of which a part runs already grows.
    g.min_tasks = running ? running : g.max_tasks;
    job.shape.groups = {g};
    job.shape.fixed = g.min_tasks == g.max_tasks;
    job.shape.total_gpus = g.gpus * g.max_tasks;
    jobs.push_back(job);
  }
  const SessionResult found = decide(t, jobs, *kai, parameters);

  std::string difference;
  size_t evictions = 0;
  for (size_t j = 0; j < jobs.size(); j++) {
    unsigned has = 0;
    for (const Piece& p : found[j]) has += p.tasks;
    evictions += !jobs[j].holds.empty() && (found[j].empty() || found[j][0].node != jobs[j].holds[0].node);
    const Json& all = c.at("expect").at("jobs");
    if (!all.contains(jobs[j].name)) continue;
    const Json& want = all[jobs[j].name];
    const bool runs = has == jobs[j].shape.groups[0].max_tasks;
    if (want.contains("Status") && (want["Status"] == "Running") != runs)
      difference += jobs[j].name + (runs ? " runs; " : has ? " runs in part; " : " waits; ");
    else if (runs && want.contains("NodeName") && t.node_name(found[j][0].node) != want["NodeName"].get<std::string>())
      difference += jobs[j].name + " is on " + t.node_name(found[j][0].node) + "; ";
  }
  const Json& most = c["expect"].value("evictionsAtMost", Json());
  if (most.is_number() && evictions > most.get<size_t>()) difference += std::to_string(evictions) + " evictions, at most " + most.dump();
  return difference;
}

}  // namespace

bool kai_case(const std::string& kind, const Json& c, Tally& tally) {
  if (kind != "kai.integration_round") return false;
  std::string difference;
  try {
    difference = integration_round(c);
  } catch (const InputError& e) { difference = std::string("error: ") + e.what(); } catch (const ContractError& e) {
    difference = std::string("error: ") + e.what();
  }
  tally.judged(c.at("id").get<std::string>(), difference, c.value("check", "") == "oracle: not run");
  return true;
}

}  // namespace conformance
