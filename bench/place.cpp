// Placing and releasing in turn on a cluster that is 90 % allocated: processor time of one pair, for every placer and several clusters.
//   bench-place [PAIRS] [PLACER]      defaults: 1000000, the placers whose bounds are kept
// Jobs of 1, 2, 4 and 8 GPUs come as 4 : 2 : 1 : 1. A pair gives back one job, chosen at random, and places another that asks for the same, the
// devices taken and the indexes brought up to date. "search" is the search alone. "floor" is the same pairs replayed on bare tables with nobody
// to search, check or undo: masks and holders written, the node moved between bitmaps by free count, where the next job goes read from a list.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>

#include "muster/id_set.hpp"
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
  double pair = 0, search = 0, floor = 0, allocated = 0, failed = 0;
};

/// Processor time of `f` in ns a pair, best of three; `before` each time, not counted.
template <class B, class F>
double timed(uint32_t pairs, B before, F f) {
  double best = 0;
  for (int run = 0; run < 3; run++) {
    before();
    const std::clock_t begin = std::clock();
    f();
    const double ns = double(std::clock() - begin) / CLOCKS_PER_SEC * 1e9 / pairs;
    if (run == 0 || ns < best) best = ns;
  }
  return best;
}

/// A job that is held. A node of 72 GPUs has two words.
struct Held {
  std::array<Piece, 2> at;
  JobId job = 0, asks = 0;  // asks: the first job that asks for the same; its row is at hand, as is that of the head of a queue
  uint32_t count = 0;
};

/// What pairs cost on tables alone.
class Floor {
 public:
  explicit Floor(const Topology& t) : topology_(t), words_(t.nodes()), holder_(t.gpus(), kNone), by_count_(t.most_gpus() + 1, IdSet(t.nodes())) {
    for (NodeId n = 0; n < t.nodes(); n++) {
      for (uint32_t g = 0; g < t.gpus_of(n); g++) words_[n][g / 64] |= uint64_t{1} << (g % 64);
      by_count_[t.gpus_of(n)].insert(n);
    }
  }
  void move(const Held& h, JobId holder) {
    for (size_t i = 0; i < h.count; i++) {
      const Piece& p = h.at[i];
      auto& free = words_[p.node];
      by_count_[unsigned(std::popcount(free[0]) + std::popcount(free[1]))].erase(p.node);
      free[p.word] ^= p.what;
      by_count_[unsigned(std::popcount(free[0]) + std::popcount(free[1]))].insert(p.node);
      for (uint64_t m = p.what; m; m &= m - 1) holder_[topology_.first_gpu(p.node) + p.word * 64u + unsigned(std::countr_zero(m))] = holder;
    }
  }

 private:
  const Topology& topology_;
  std::vector<std::array<uint64_t, 2>> words_;  // free GPUs
  std::vector<JobId> holder_;
  std::vector<IdSet> by_count_;
};

/// Fills the cluster and then measures, all in its first pass.
class Bench final : public Policy {
 public:
  Bench(const Topology& t, const Workload& w, std::string_view placer, uint32_t pairs)
      : topology_(t), placer_(make_placer(placer, PolicyInput{t, w, {}, 1})), pairs_(pairs) {}
  void schedule(const View& now, Plan& plan) override {
    auto& cluster = const_cast<Cluster&>(plan.cluster());  // without the plan's log: the placer is what is measured
    std::vector<Held> held;
    const auto take = [&](const Held& h) {
      for (size_t i = 0; i < h.count; i++) cluster.take(h.job, now.shape(h.asks), h.at[i]);
    };
    const auto give = [&](const Held& h) {
      for (size_t i = 0; i < h.count; i++) cluster.give(h.job, now.shape(h.asks), h.at[i]);
    };
    const auto place = [&](Held& h) {
      const Pieces at = placer_->find(now, plan, h.asks);
      if (at.empty()) return false;
      std::copy(at.begin(), at.end(), h.at.begin()), h.count = uint32_t(at.size());
      take(h);
      return true;
    };
    std::vector<JobId> first(now.shapes(), kNone);
    const int64_t most = topology_.gpus() * int64_t{9} / 10;
    for (JobId j = 0; j < now.jobs() && topology_.gpus() - plan.index().free_now_gpus() < most; j++) {
      JobId& asks = first[now.job(j).shape];
      if (asks == kNone) asks = j;
      Held h{{}, j, asks, 0};
      if (place(h)) held.push_back(h);
    }
    const std::vector<Held> start = held;
    result.allocated = 1 - double(plan.index().free_now_gpus()) / topology_.gpus();
    Random dice(2, "bench-place");
    std::vector<uint32_t> which(pairs_);
    for (uint32_t& w : which) w = uint32_t(dice.below(held.size()));

    std::vector<Held> went;  // where each went, for the floor
    const auto from_start = [&] {
      for (const Held& h : held) give(h);
      held = start;
      for (const Held& h : held) take(h);
    };
    const auto pairs = [&](auto then) {
      for (const uint32_t w : which) {
        Held& h = held[w];
        give(h);
        if (!place(h)) take(h), result.failed += 1.0 / pairs_;
        then(h);
      }
    };
    pairs([&](const Held& h) { went.push_back(h); });
    result.failed = 0;
    result.pair = timed(pairs_, from_start, [&] { pairs([](const Held&) {}); });
    result.failed /= 3;
    uint64_t sum = 0;
    result.search = timed(pairs_, [] {}, [&] {
      for (const uint32_t w : which) {
        const Pieces at = placer_->find(now, plan, held[w].asks);
        sum += at.empty() ? 0 : at[0].node;
      }
    });
    result.search += double(sum & 1) * 1e-12;
    for (const Held& h : held) give(h);
    std::unique_ptr<Floor> bare;
    const auto bare_start = [&] {
      bare = std::make_unique<Floor>(topology_), held = start;
      for (const Held& h : held) bare->move(h, h.job);
    };
    result.floor = timed(pairs_, bare_start, [&] {
      for (size_t i = 0; i < pairs_; i++) {
        Held& h = held[which[i]];
        bare->move(h, kNone);
        h = went[i];
        bare->move(h, h.job);
      }
    });
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
      Bench bench(c.topology, w, p.name, pairs);
      Simulator s(c.topology, w, bench, {});
      s.run();
      const Result& r = bench.result;
      std::printf("%-24s %-14.*s %5.0f ns a pair, %5.1f floors   %5.0f ns search, %5.1f floors   %4.0f ns floor   %.3f allocated   %.4f did not fit\n",
                  c.name.c_str(), int(p.name.size()), p.name.data(), r.pair, r.pair / r.floor, r.search, r.search / r.floor, r.floor, r.allocated, r.failed);
      std::fflush(stdout);
    }
  }
}
