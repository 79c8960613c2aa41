// HiveD cases once more as whole runs: a trace, a script of events, the policy of the table.
#include <algorithm>
#include <set>

#include "cases.hpp"
#include "explain/hived.hpp"
#include "text/json_config.hpp"
#include "workload/events.hpp"
#include "workload/trace.hpp"

namespace conformance {

using namespace muster;

namespace {

constexpr int kStep = 10;  // seconds from event to event

/// What a submit must come to.
struct Wanted {
  std::string job, outcome;
  int at = 0;
  std::map<std::string, std::set<int>> gpus;  // by node
};

/// A case as the files that `muster run` takes.
struct Files {
  std::string trace = "job_id,vc,submit_s,tasks,gpus_per_task,gpu_type,priority,run_s\n", events = "time,kind,target,value\n";
  Json queues = Json::object();
  std::vector<Wanted> wanted;
};

/// Cases in which nothing is asked that a run does not have: single pods, partial answers, filtering, restarts, victims whose job is simply
/// forgotten, node names and GPU numbers of their own, nodes that break under a job.
std::optional<Files> as_files(const Json& c) {
  if (c.value("startup", "clean") != "clean" || c.value("expect_init", "ok") != "ok") return {};
  Files f;
  std::map<std::string, std::string> runs;                 // group: its job
  std::map<std::string, std::set<std::string>> nodes_of;   // job: its nodes
  int number = 0, time = 0;
  for (const Json& e : c.at("events")) {
    const std::string op = e.at("op").get<std::string>();
    for (const char* key : {"phase", "suggested", "suggested_except", "commit", "evict"})
      if (e.contains(key)) return {};
    time += kStep;
    if (op == "node_bad" || op == "node_healthy") {
      const std::string node = e.at("node").get<std::string>();
      for (const auto& [group, job] : runs)
        if (op == "node_bad" && nodes_of[job].count(node)) return {};
      f.events += std::to_string(time) + (op == "node_bad" ? ",down," : ",up,") + node + ",\n";
      continue;
    }
    if (op == "release") {
      const auto it = runs.find(e.at("group").get<std::string>());
      if (it == runs.end()) continue;
      f.events += std::to_string(time) + ",cancel," + it->second + ",\n";
      runs.erase(it);
      continue;
    }
    if (op != "submit" || !e.contains("expect")) return {};
    const std::string group = e.at("group").get<std::string>();
    const Json pods = e["expect"].value("pods", Json::array());
    if (e["expect"].value("pods_vary", false)) return {};
    if (pods.empty()) continue;  // runs already
    const Json& g = c.at("groups").at(group);
    if (g.at("members").size() != 1) return {};
    Wanted w;
    w.at = time;
    w.job = group + "-" + std::to_string(number++);
    w.outcome = pods.back().at("outcome").get<std::string>();
    for (const Json& p : pods) {
      if (p.at("outcome") != w.outcome) return {};
      if (w.outcome == "preempt" || w.outcome == "bind") {
        if (w.outcome == "preempt") return {};
        for (const Json& i : p.at("leaf_cells")) w.gpus[p.at("node").get<std::string>()].insert(i.get<int>());
      }
    }
    const std::string queue = g.value("vc", "") + (g.contains("pinned") ? "+" + g["pinned"].get<std::string>() : "") + (g.value("lazy_preemption", false) ? "+lazy" : "");
    Json door = {{"vc", g.value("vc", "")}, {"lazy_preemption", g.value("lazy_preemption", false)}};
    if (g.contains("pinned")) door["pinned"] = g["pinned"];
    if (c.at("vcs").contains(g.value("vc", ""))) f.queues[queue] = door;
    f.trace += w.job + "," + queue + "," + std::to_string(time) + "," + g["members"][0].at("pods").dump() + "," + g["members"][0].at("leaf_cells").dump() + "," +
               g.value("leaf_type", "") + "," + g.at("priority").dump() + ",1000000\n";
    if (w.outcome == "bind") {
      runs[group] = w.job;
      for (const auto& [node, gpus] : w.gpus) nodes_of[w.job].insert(node);
    }
    // The real scheduler is asked again by the case; here a job that waits is withdrawn before anything else happens.
    if (w.outcome == "wait") f.events += std::to_string(time + kStep / 2) + ",cancel," + w.job + ",\n";
    f.wanted.push_back(std::move(w));
  }
  for (const auto& [group, job] : runs) f.events += std::to_string(time + kStep) + ",cancel," + job + ",\n";
  if (f.wanted.empty()) return {};
  return f;
}

/// Every node with the GPUs of its cells.
Topology nodes_of(const CellForest& forest) {
  TopologySpec spec;
  spec.levels = {"node"};
  for (const CellForest::Node& n : forest.nodes()) {
    NodeKind kind;
    kind.name = "kind" + std::to_string(spec.kinds.size());
    kind.gpus = uint32_t(n.leaves.size());
    kind.gpu_type = forest.chain_of(n.leaves[0]).leaf_type();
    kind.capacity[kGpu] = int64_t(kind.gpus) * kMilli;
    TopologySpec::Vertex v;
    v.name = n.name, v.kind = uint32_t(spec.kinds.size()), v.gpus = kind.gpus;
    spec.kinds.push_back(kind);
    spec.top.push_back(v);
  }
  return Topology::build(std::move(spec));
}

std::string judge(const Json& c, const Files& f) {
  Json keys = {{"cluster", c.at("cluster")}, {"vcs", c.at("vcs")}};
  Config cells = hived_keys(parse_json_config(keys.dump(), "case"));
  const HivedConfig config = read_hived(cells);
  const Hived hived(config);
  const Topology t = nodes_of(hived.forest);
  std::map<std::string, std::set<std::string, std::greater<>>> chains;
  for (const Chain& chain : hived.forest.chains()) chains[chain.leaf_type()].insert(chain.name);
  Json order = Json::object();
  for (const auto& [leaf, names] : chains) order[leaf] = names;
  if (c.contains("chain_order")) order.update(c["chain_order"]);
  cells.set("chainOrder", parse_json_config(order.dump(), "case"));
  Workload w = read_trace(f.trace, "trace").workload;
  fit_shapes(w, t);
  Config parameters;
  parameters.set("cells", cells);
  parameters.set("queues", parse_json_config(f.queues.dump(), "case"));
  const PolicyInfo* p = policy("hived");
  const auto made = p->make({t, w, parameters, 0});
  RunOptions options;
  options.check = true;
  options.events = read_events(f.events, "events", t, w);
  JobRows rows;
  Simulator s(t, w, *made, std::move(options));
  s.observe(rows);
  s.run();
  for (const Wanted& want : f.wanted) {
    JobId j = 0;
    while (w.names[j] != want.job) j++;
    const JobRow& row = rows.rows()[j];
    const bool started = row.start == ticks(want.at) - w.origin;
    const std::string found = row.state == State::rejected ? "user_error" : started ? "bind" : "wait";
    // A request that can never fit is refused at once, where the real scheduler leaves it waiting.
    if (found != want.outcome && !(want.outcome == "wait" && row.state == State::rejected && row.reason == Reason::quota_size))
      return want.job + ": expected " + want.outcome + ", found " + found;
    if (want.outcome != "bind") continue;
    std::map<std::string, std::set<int>> gpus;
    for (const Piece& piece : rows.placement(row))
      for (int i = 0; i < 64; i++)
        if (piece.mask() >> i & 1) gpus[t.node_name(piece.node)].insert(i + 64 * piece.word);
    if (gpus != want.gpus) return want.job + ": placed on " + to_text(t, rows.placement(row));
  }
  return {};
}

}  // namespace

void hived_run(const Json& c, Tally& tally) {
  const auto files = as_files(c);
  if (!files) return;
  std::string difference;
  try {
    difference = judge(c, *files);
  } catch (const std::exception& e) { difference = e.what(); }
  tally.judged(c.at("id").get<std::string>() + " as a run", difference);
}

}  // namespace conformance
