// Placing and releasing in turn on a cluster that is 90 % allocated: processor time of one pair, for every placer and several clusters.
//   bench-place [PAIRS] [PLACER]      defaults: 1000000, the placers whose bounds are kept
// Jobs of 1, 2, 4 and 8 GPUs come as 4 : 2 : 1 : 1. A pair gives back one job, chosen at random, and places another of the same size, the
// devices taken and the indexes brought up to date. "place alone" is the search, without taking and giving.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>

#include "muster/random.hpp"
#include "muster/simulator.hpp"
#include "parts/placer.hpp"

namespace {

using namespace muster;

struct Case {
  std::string name;
  Topology topology;
  bool amounts = false;  // jobs ask for CPUs and memory, some for a type
};

Topology kinds_of_nodes() {
  TopologySpec spec;
  spec.name = "20 kinds", spec.levels = {"node"};
  for (uint32_t k = 0; k < 20; k++) {
    NodeKind& kind = spec.kinds.emplace_back();
    kind.name = "k" + std::to_string(k), kind.gpu_type = "T" + std::to_string(k % 7), kind.gpus = 8;
    kind.limits_cpu = kind.limits_mem = true;
    kind.capacity[kCpu] = (64 + 8 * int64_t(k % 5)) * kMilli, kind.capacity[kMem] = (512 + 64 * int64_t(k % 4)) * 1024;
  }
  for (uint32_t n = 0; n < 12'500; n++) {
    auto& v = spec.top.emplace_back();
    v.kind = n * 7 % 20, v.gpus = 8;
  }
  return Topology::build(std::move(spec));
}

/// Nodes of 5 to 11 GPUs whose switches have one to four.
Topology uneven() {
  TopologySpec spec;
  spec.name = "uneven", spec.levels = {"rack", "node", "socket", "switch"};
  constexpr uint32_t kLayouts[4][4] = {{2, 1, 1, 1}, {4, 2, 1, 1}, {4, 4, 2, 1}, {3, 3, 1, 1}};
  for (const auto& l : kLayouts) {
    NodeKind& kind = spec.kinds.emplace_back();
    kind.name = "k" + std::to_string(spec.kinds.size()), kind.gpus = l[0] + l[1] + l[2] + l[3];
  }
  uint32_t at = 0;
  for (uint32_t r = 0; r < 400; r++) {
    auto& rack = spec.top.emplace_back();
    for (uint32_t n = 0; n < 32; n++, at++) {
      auto& node = rack.children.emplace_back();
      node.kind = at % 4;
      for (uint32_t s = 0; s < 2; s++) {
        auto& socket = node.children.emplace_back();
        for (uint32_t w = 0; w < 2; w++) socket.children.emplace_back().gpus = kLayouts[at % 4][2 * s + w];
      }
    }
  }
  return Topology::build(std::move(spec));
}

Workload jobs_for(const Case& c, uint32_t jobs) {
  Workload w;
  w.tenants.add(""), w.queues.add(""), w.tags.add("");
  Random dice(1, "bench-place");
  constexpr uint32_t kSizes[8] = {1, 1, 1, 1, 2, 2, 4, 8};
  for (const uint32_t gpus : {1u, 2u, 4u, 8u})
    for (uint32_t type = 0; type < (c.amounts ? 8u : 1u); type++) {  // the last one takes any
      Shape& s = w.shapes.emplace_back();
      s.nodes = Nodes::one, s.total_gpus = gpus;
      TaskGroup& g = s.groups.emplace_back();
      g.gpus = gpus, g.per_task[kGpu] = gpus * kMilli;
      if (!c.amounts) continue;
      g.per_task[kCpu] = gpus * 6 * kMilli, g.per_task[kMem] = int64_t{gpus} * 48 * 1024;
      if (type < 7) g.gpu_types = {"T" + std::to_string(type)};
    }
  for (uint32_t i = 0; i < jobs; i++) {
    const uint32_t size = kSizes[dice.below(8)], row = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3;
    w.jobs.emplace_back().shape = c.amounts ? row * 8 + (dice.below(2) ? 7 : uint32_t(dice.below(7))) : row;
    w.truths.emplace_back().work = kSecond;
    w.names.add("j" + std::to_string(i));
  }
  return w;
}

struct Result {
  double pair = 0, place = 0, allocated = 0, failed = 0;
};

/// Fills the cluster and then measures, all in its first pass.
class Bench final : public Policy {
 public:
  Bench(const Topology& t, std::string_view placer, uint32_t pairs) : topology_(t), placer_(make_placer(placer, t, 1)), pairs_(pairs) {}
  void schedule(const View& now, Plan& plan) override {
    auto& cluster = const_cast<Cluster&>(plan.cluster());  // without the plan's log: the placer is what is measured
    std::vector<JobId> held;
    std::vector<std::array<Piece, 2>> pieces(now.jobs());  // a node of 72 GPUs has two words
    std::vector<uint8_t> count(now.jobs());
    const int64_t most = topology_.gpus() * int64_t{9} / 10;
    JobId next = 0;
    const auto place = [&](JobId j) {
      const Pieces at = placer_->find(now, plan, j);
      if (at.empty()) return false;
      count[j] = uint8_t(at.size());
      for (size_t i = 0; i < at.size(); i++) cluster.take(j, now.shape(j), pieces[j][i] = at[i]);
      return true;
    };
    const auto give = [&](JobId j) {
      for (size_t i = 0; i < count[j]; i++) cluster.give(j, now.shape(j), pieces[j][i]);
    };
    for (; next < now.jobs() && topology_.gpus() - plan.index().free_now_gpus() < most; next++)
      if (place(next)) held.push_back(next);
    Random dice(2, "bench-place");
    std::vector<uint32_t> which(pairs_);
    for (uint32_t& w : which) w = uint32_t(dice.below(held.size()));
    result.allocated = 1 - double(plan.index().free_now_gpus()) / topology_.gpus();
    uint32_t failed = 0;
    for (int run = 0; run < 3; run++) {
      const std::clock_t begin = std::clock();
      for (const uint32_t w : which) {
        const JobId j = held[w];
        give(j);
        if (place(j)) continue;
        failed++;
        for (size_t i = 0; i < count[j]; i++) cluster.take(j, now.shape(j), pieces[j][i]);
      }
      const double ns = double(std::clock() - begin) / CLOCKS_PER_SEC * 1e9 / pairs_;
      if (run == 0 || ns < result.pair) result.pair = ns;
    }
    const std::clock_t begin = std::clock();
    uint64_t sum = 0;
    for (const uint32_t w : which) {
      const Pieces at = placer_->find(now, plan, held[w]);
      sum += at.empty() ? 0 : at[0].node;
    }
    result.place = double(std::clock() - begin) / CLOCKS_PER_SEC * 1e9 / pairs_ + double(sum & 1) * 1e-12;
    result.failed = double(failed) / pairs_ / 3;
    for (const JobId j : held) give(j);
    for (JobId j = plan.queue().first(); j != kNone; j = plan.queue().next(j + 1)) plan.reject(j, Reason::policy);
  }
  Result result;

 private:
  const Topology& topology_;
  std::unique_ptr<Placer> placer_;
  uint32_t pairs_;
};

}  // namespace

int main(int argc, char** argv) {
  const auto pairs = uint32_t(argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1'000'000);
  std::vector<Case> cases;
  cases.push_back({"12,500 nodes of 8", Topology::parse_line("rack:400 node:32 socket:2 switch:2 gpu:2")});
  cases.push_back({"6,250 nodes of 16", Topology::parse_line("rack:400 node:16 socket:2 switch:4 gpu:2")});
  cases.push_back({"1,400 nodes of 72", Topology::parse_line("rack:100 node:14 tray:18 gpu:4")});
  cases.push_back({"uneven, 5 to 11", uneven()});
  cases.push_back({"20 kinds, CPUs, memory", kinds_of_nodes(), true});
  for (const Case& c : cases) {
    const Workload w = jobs_for(c, 120'000);
    for (const PartInfo& p : placers()) {
      const bool wanted = argc > 2 ? p.name == argv[2] : p.name == "pack" || p.name == "consolidate" || p.name == "spread";
      if (!wanted) continue;
      Bench bench(c.topology, p.name, pairs);
      Simulator s(c.topology, w, bench, {});
      s.run();
      std::printf("%-24s %-14.*s %5.0f ns a pair   %5.0f ns place alone   %.3f allocated   %.4f did not fit\n", c.name.c_str(), int(p.name.size()),
                  p.name.data(), bench.result.pair, bench.result.place, bench.result.allocated, bench.result.failed);
      std::fflush(stdout);
    }
  }
}
