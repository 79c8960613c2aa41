// DRF over jobs and over trees of queues.
#include <algorithm>

#include "explain/drf.hpp"
#include "text/numbers.hpp"

namespace muster {
namespace {

[[noreturn]] void refuse(const std::string& where, const std::string& what) {
  throw InputError((where.empty() ? "" : where + ": ") + what);
}

/// Leaves of a tree as users named by their paths; weights of all nodes by path.
void leaves(const Config& tree, const std::string& path, Config& users, std::string& weights) {
  if (tree.kind != Config::Kind::object || tree.fields.empty()) refuse(tree.where, "want queues: {\"n1\": {\"demand\": {\"cpu\": 1}}}");
  for (const auto& [name, node] : tree.fields) {
    if (name.find('/') != std::string::npos) refuse(node.where, "a queue's name has no /");
    const std::string full = path.empty() ? name : path + "/" + name;
    if (const Config* w = node.find("weight")) weights += (weights.empty() ? "" : ",") + full + "=" + exact(*w).text();
    if (const Config* children = node.find("children")) {
      leaves(*children, full, users, weights);
      continue;
    }
    Config user;
    const Config* asks = node.find("demand");
    if (!asks) refuse(node.where, "want \"demand\" or \"children\"");
    user.set("demand", *asks);
    for (const char* key : {"tasks", "max_tasks", "max"})
      if (const Config* c = node.find(key)) user.set("tasks", *c);
    users.set(full, user);
  }
}

}  // namespace

Hierarchy solve_hdrf(const Exercise& e) {
  Exercise plain = e;
  Config users, input;
  std::string weights;
  leaves(*e.input.find("tree"), "", users, weights);
  const Config* capacity = e.input.find("capacity");
  if (!capacity) refuse(e.file, "want \"capacity\"");
  input.set("capacity", *capacity);
  input.set("users", users);
  plain.input = input;
  Hierarchy h;
  h.sharing = Sharing(plain);
  Config parameters;
  parameters.set("by", Config::text("user"));
  if (!weights.empty()) parameters.set("weights", Config::text(weights));
  const ExerciseRun r = run_sharing(e, "hdrf", h.sharing, "hdrf", parameters);
  h.tasks.resize(h.sharing.users.size());
  h.shares.assign(h.sharing.users.size(), "0");
  const auto last = [](const std::string& path) { return std::string_view(path).substr(path.rfind('/') + 1); };
  const Workload w = h.sharing.workload();
  for (JobId j = 0; j < w.jobs.size(); j++)
    if (r.rows.rows()[j].start != kNever) h.tasks[w.jobs[j].tenant]++;
  for (const Told& t : r.notes)
    if (t.kind == "hdrf_node")
      for (size_t u = 0; u < h.shares.size(); u++)
        if (last(h.sharing.users[u].name) == t["node"]) h.shares[u] = t["share"];
  for (auto& u : h.sharing.users) u.name = last(u.name);
  return h;
}

JobShares solve_job_shares(const Exercise& e) {
  const Config& jobs = *e.input.find("jobs");
  const Config* capacity = e.input.find("capacity");
  if (!capacity) refuse(e.file, "want \"capacity\"");
  Exercise plain = e;
  Config users, input;
  std::vector<bool> below;  // its minimum
  for (const auto& [name, job] : jobs.fields) {
    Config user;
    const Config* held = job.find("allocated");
    user.set("demand", held ? *held : job);
    user.set("tasks", Config::text("1"));
    users.set(name, user);
    const Config *ready = job.find("ready"), *least = job.find("min_available");
    below.push_back(ready && least && exact(*ready) < exact(*least));
  }
  input.set("capacity", *capacity);
  input.set("users", users);
  plain.input = input;
  JobShares s;
  s.sharing = Sharing(plain);
  Config parameters;
  parameters.set("share", Config::text("next"));
  s.solution = read_solution(s.sharing, run_sharing(e, "drf", s.sharing, "drf", parameters));
  for (const bool first : {true, false})
    for (const SharingStep& step : s.solution.steps)
      if (below[step.chosen] == first && std::find(s.order.begin(), s.order.end(), step.chosen) == s.order.end())
        s.order.push_back(step.chosen);
  return s;
}

}  // namespace muster
