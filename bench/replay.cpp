// A whole replay in process: no file is read or written. Prints processor time a job and what the run was like.
//   bench-replay [JOBS] [DIVISOR] [NODES] [POLICY]      defaults: 1000000 106 12500 fifo
// The workload comes from an integer recurrence, the same on every machine: one to eight GPUs, one second to two hours, 10 s between
// submits on average before they are divided by DIVISOR. On 100,000 GPUs a divisor of 106 asks for 95 % of them, 117 for 105 %.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>

#include "muster/simulator.hpp"

namespace {

muster::Workload make_workload(uint32_t jobs, int64_t divisor) {
  muster::Workload w;
  w.tenants.add("");
  w.queues.add("");
  uint32_t shape_of[9] = {};
  for (const uint32_t gpus : {1u, 2u, 4u, 8u}) {
    shape_of[gpus] = uint32_t(w.shapes.size());
    muster::Shape& s = w.shapes.emplace_back();
    s.nodes = muster::Nodes::one;
    s.total_gpus = gpus;
    muster::TaskGroup& g = s.groups.emplace_back();
    g.gpus = gpus, g.per_task[muster::kGpu] = gpus * muster::kMilli;
  }
  constexpr uint32_t kSizes[8] = {1, 1, 1, 1, 2, 2, 4, 8};
  uint64_t x = 12345;
  const auto next = [&x] { return x = (1103515245 * x + 12345) % 2147483648; };
  int64_t at = 0;
  w.jobs.reserve(jobs), w.truths.reserve(jobs), w.names.reserve(jobs, size_t{jobs} * 7);
  for (uint32_t i = 0; i < jobs; i++) {
    at += int64_t(next() % 21);
    const uint32_t gpus = kSizes[(next() >> 16) % 8];
    muster::Job& j = w.jobs.emplace_back();
    j.submit = at * muster::kSecond / divisor;
    j.shape = shape_of[gpus];
    w.truths.emplace_back().work = int64_t(1 + (next() >> 8) % 7200) * muster::kSecond;
    w.names.add("j" + std::to_string(i));
  }
  return w;
}

/// The least that a run is watched for.
struct Watch final : muster::Observer {
  const muster::Workload* workload = nullptr;
  int64_t held = 0, most_held = 0, waiting = 0, most_waiting = 0;
  muster::Int128 jct = 0;
  uint64_t ended = 0;
  void see(std::span<const muster::Record> records) override {
    for (const muster::Record& r : records) {
      held += r.held, waiting += r.waiting;
      if (r.what == muster::What::end) jct += r.at - workload->jobs[r.job].submit, ended++;
    }
    most_held = std::max(most_held, held), most_waiting = std::max(most_waiting, waiting);
  }
};

}  // namespace

int main(int argc, char** argv) {
  const auto argument = [&](int i, long fallback) { return argc > i ? std::strtol(argv[i], nullptr, 10) : fallback; };
  const uint32_t jobs = uint32_t(argument(1, 1'000'000));
  const long divisor = argument(2, 106), nodes = argument(3, 12'500);
  const std::string name = argc > 4 ? argv[4] : "fifo";
  const muster::Workload w = make_workload(jobs, divisor);
  const muster::Topology t = muster::Topology::parse_line("node:" + std::to_string(nodes) + " gpu:8");
  for (const muster::PolicyInfo& info : muster::builtin_policies()) {
    if (info.name != name) continue;
    double best = 1e99;
    for (int run = 0; run < 3; run++) {
      const std::clock_t begin = std::clock();
      const auto policy = info.make({t, w, info.preset, 0});
      muster::RunOptions options;
      options.oracle = info.needs_oracle;
      muster::Simulator s(t, w, *policy, options);
      Watch watch;
      watch.workload = &w;
      s.observe(watch);
      s.run();
      const double ns = double(std::clock() - begin) / CLOCKS_PER_SEC * 1e9 / jobs;
      best = std::min(best, ns);
      std::printf(
          "%s %u jobs, %ld nodes of 8, submits / %ld: %.0f ns a job, %llu passes, jct %.3f s, most held %lld GPUs, most waiting %lld\n",
          name.c_str(), jobs, nodes, divisor, ns, static_cast<unsigned long long>(s.passes()),
          double(watch.jct / muster::Int128(watch.ended)) / 1e6, static_cast<long long>(watch.most_held / muster::kMilli),
          static_cast<long long>(watch.most_waiting));
    }
    std::printf("best of 3: %.0f ns a job\n", best);
    return 0;
  }
  std::fprintf(stderr, "no policy is called %s\n", name.c_str());
  return 2;
}
