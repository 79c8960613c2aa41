// Small random clusters and workloads for tests of policies and placers.
#pragma once
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "muster/job.hpp"
#include "muster/simulator.hpp"
#include "muster/topology.hpp"

namespace muster {

/// Small whole numbers from a seed, the same on every machine.
class Dice {
 public:
  explicit Dice(uint64_t seed) : engine_(seed) {}
  uint32_t below(uint32_t n) { return uint32_t(engine_() % n); }
  uint32_t from_to(uint32_t a, uint32_t b) { return a + below(b - a + 1); }
  bool one_in(uint32_t n) { return below(n) == 0; }

 private:
  std::mt19937_64 engine_;
};

/// Nodes of up to three kinds; `large` lets a node have more than 64 GPUs. Kinds differ in GPU type, CPUs and memory; some state no limit.
inline Topology random_topology(Dice& dice, uint32_t most_nodes, bool large) {
  TopologySpec spec;
  spec.name = "random";
  spec.levels = {"node"};
  const uint32_t kinds = dice.from_to(1, 3);
  for (uint32_t k = 0; k < kinds; k++) {
    NodeKind& kind = spec.kinds.emplace_back();
    kind.name = "kind" + std::to_string(k);
    kind.gpus = large && dice.one_in(3) ? dice.from_to(60, 140) : dice.one_in(8) ? 0 : dice.from_to(1, 8);
    if (!dice.one_in(3)) kind.gpu_type = dice.one_in(2) ? "A" : "B";
    if (dice.one_in(2)) kind.gpu_mem_mib = 1000 * dice.from_to(1, 3);
    kind.limits_cpu = dice.one_in(2), kind.limits_mem = dice.one_in(2);
    kind.capacity[kGpu] = kind.gpus * kMilli;
    if (kind.limits_cpu) kind.capacity[kCpu] = dice.from_to(1, 16) * kMilli;
    if (kind.limits_mem) kind.capacity[kMem] = dice.from_to(1, 16);
  }
  const uint32_t nodes = dice.from_to(1, most_nodes);
  for (uint32_t n = 0; n < nodes; n++) {
    TopologySpec::Vertex& v = spec.top.emplace_back();
    v.kind = dice.below(kinds);
    v.gpus = spec.kinds[v.kind].gpus;
  }
  return Topology::build(std::move(spec));
}

/// A shape of one group, or of up to `most_groups`.
inline Shape random_shape(Dice& dice, const Topology& t, uint32_t most_groups) {
  Shape s;
  const uint32_t rule = dice.below(8);
  if (rule == 0 && t.gpus() > t.most_gpus() + 1) {
    s.nodes = Nodes::whole;
    s.total_gpus = dice.from_to(t.most_gpus() + 1, t.gpus());
    TaskGroup& g = s.groups.emplace_back();
    g.gpus = s.total_gpus;
    g.per_task[kGpu] = g.gpus * kMilli;
    return s;
  }
  s.nodes = rule < 4 ? Nodes::one : rule < 7 ? Nodes::any : Nodes::each;
  const uint32_t groups = dice.from_to(1, most_groups);
  for (uint32_t i = 0; i < groups; i++) {
    TaskGroup& g = s.groups.emplace_back();
    g.gpus = dice.one_in(6) ? 0 : dice.one_in(6) ? dice.from_to(1, std::max(1u, t.most_gpus())) : dice.from_to(1, 3);
    g.max_tasks = g.min_tasks = dice.one_in(2) ? 1 : dice.from_to(1, 5);
    g.per_task[kGpu] = g.gpus * kMilli;
    if (dice.one_in(5)) g.gpus = 0, g.per_task[kGpu] = dice.one_in(3) ? dice.from_to(1, 999) : 100 * dice.from_to(1, 9);
    if (dice.one_in(3)) g.per_task[kCpu] = dice.from_to(1, 6) * kMilli;
    if (dice.one_in(3)) g.per_task[kMem] = dice.from_to(1, 6);
    const bool gpu = g.per_task[kGpu] > 0;
    if (gpu && dice.one_in(5)) g.gpu_types = {dice.one_in(2) ? "A" : "B"};
    if (gpu && dice.one_in(5)) g.gpu_mem_mib = 500 * dice.from_to(1, 6);
    s.total_gpus += g.gpus * g.max_tasks;
  }
  return s;
}

/// `jobs` jobs of `shapes` shapes; many arrive together, some state an estimate, some may not start at once.
inline Workload random_workload(Dice& dice, const Topology& t, uint32_t jobs, uint32_t shapes, uint32_t most_groups) {
  Workload w;
  for (uint32_t i = 0; i < shapes; i++) w.shapes.push_back(random_shape(dice, t, most_groups));
  w.tenants.add("");
  w.queues.add("");
  Time at = 0;
  for (uint32_t i = 0; i < jobs; i++) {
    if (i && !dice.one_in(3)) at += dice.below(6);
    Job& j = w.jobs.emplace_back();
    j.submit = at;
    j.shape = dice.below(shapes);
    j.priority = int32_t(dice.below(4));
    JobTruth& truth = w.truths.emplace_back();
    truth.work = dice.below(20);
    if (i == 0 || !dice.one_in(3)) j.estimate = truth.work + dice.below(5);
    j.earliest_start = dice.one_in(6) ? at + dice.below(15) : at;
    w.names.add("j" + std::to_string(i));
  }
  return w;
}

}  // namespace muster
