// Backfilling against a twin that remembers nothing but who runs where, and draws up every reservation anew in every pass by looking at
// every node at every instant. Estimates are wrong in both directions; submits, ends and estimated ends fall together often.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>

#include "muster/config.hpp"
#include "random_workload.hpp"

namespace muster { namespace {

struct Choice {
  size_t depth;
  bool counts;
  std::string place;
};

struct Amount {
  int64_t gpus = 0, cpus = 0;
  bool covers(Amount o) const { return (!o.gpus || gpus >= o.gpus) && (!o.cpus || cpus >= o.cpus); }
};

/// The rules of docs/policies/backfilling.md for jobs of one task.
class SlowBackfill final : public Policy {
 public:
  SlowBackfill(const Topology& t, const Choice& c) : t_(t), choice_(c) {}
  std::map<JobId, Time> promised;  // by head: the earliest promise
  void schedule(const View& now, Plan& plan) override {
    const Time at = now.now();
    for (const Event& e : now.events())
      if (e.what == What::end) here_.erase(e.job);
    for (auto& [j, stay] : here_) {
      if (stay.end > at) continue;
      Duration believed = std::max<Duration>(stay.end - stay.since, kSecond);
      while (stay.since + believed <= at) believed *= 2;
      stay.end = stay.since + believed;
    }
    reserved_.clear();
    std::vector<JobId> waiting;
    Time wake = kNever;
    for (JobId j = plan.queue().first(); j != kNone; j = plan.queue().next(j + 1)) {
      if (now.job(j).earliest_start <= at) waiting.push_back(j);
      else wake = std::min(wake, now.job(j).earliest_start);
    }
    size_t given = 0;
    for (const JobId j : waiting) {
      const Duration d = std::max<Duration>(now.estimate(j), 1);
      const Amount want = amount(now, j);
      if (const NodeId n = choose(now, plan, want, at, d); n != kNone) {
        start(now, plan, j, n, d);
        continue;
      }
      if (given == choice_.depth) continue;
      given++;
      Stay slot = earliest(now, plan, want, d);
      if (given == 1) {
        const bool kept = !choice_.counts && head_ == j && slot_.since > at && slot_.since != kNever &&
                          free(now, slot_.node, slot_.since, d).covers(want);
        if (kept && slot_.since <= slot.since) slot = slot_;
        head_ = j, slot_ = slot;
        if (slot.since != kNever) {
          if (slot.since > at) wake = std::min(wake, slot.since);
          promised.emplace(j, slot.since);
          promised[j] = std::min(promised[j], slot.since);
        }
      }
      if (slot.since == kNever) continue;
      slot.end = plus(slot.since, d);
      slot.want = want;
      reserved_.push_back(slot);
    }
    if (given == 0) head_ = kNone;
    if (wake != kNever) plan.wake_at(wake);
  }

 private:
  struct Stay {
    NodeId node = kNone;
    Time since = kNever, end = kNever;
    Amount want;
  };
  static Time plus(Time t, Duration d) { return d == kNever ? kNever : t + d; }
  static Amount amount(const View& now, JobId j) {
    const TaskGroup& g = now.shape(j).groups[0];
    return {g.gpus, g.per_task[kCpu]};
  }
  void start(const View& now, Plan& plan, JobId j, NodeId n, Duration d) {
    const Amount want = amount(now, j);
    uint64_t mask = 0, left = plan.cluster().free_now(n);
    for (int64_t i = 0; i < want.gpus; i++) mask |= left & -left, left &= left - 1;
    const Piece piece = Piece::whole(n, 1, mask);
    plan.start(j, {&piece, 1});
    here_[j] = {n, now.now(), plus(now.now(), d), want};
  }
  /// What node `n` has at `when`; with counts the whole cluster's GPUs.
  Amount free_at(NodeId n, Time when) const {
    Amount a;
    for (NodeId m = 0; m < t_.nodes(); m++)
      if (choice_.counts || m == n) a.gpus += t_.gpus_of(m), a.cpus += t_.kind(m).limits_cpu ? t_.kind(m).capacity[kCpu] : 1'000'000'000;
    const auto take = [&](const Stay& s) {
      if (choice_.counts || s.node == n) a.gpus -= s.want.gpus, a.cpus -= s.want.cpus;
    };
    for (const auto& [j, s] : here_)
      if (when < s.end) take(s);
    for (const Stay& s : reserved_)
      if (s.since <= when && when < s.end) take(s);
    return a;
  }
  /// The least of it in [from, from + d).
  Amount free(const View&, NodeId n, Time from, Duration d) const {
    Amount least = free_at(n, from);
    for (const Stay& s : reserved_)
      if (s.since > from && s.since < plus(from, d)) {
        const Amount then = free_at(n, s.since);
        least.gpus = std::min(least.gpus, then.gpus), least.cpus = std::min(least.cpus, then.cpus);
      }
    return least;
  }
  NodeId choose(const View& now, const Plan& plan, Amount want, Time from, Duration d) const {
    if (choice_.counts && !reserved_.empty() && free(now, 0, from, d).gpus < want.gpus) return kNone;
    NodeId best = kNone;
    int64_t best_rank = 0;
    for (NodeId n = 0; n < t_.nodes(); n++) {
      Amount a;
      if (choice_.counts) {
        a.gpus = plan.cluster().free_now_count(n), a.cpus = plan.cluster().free_amount(n, kCpu);
      } else {
        a = free(now, n, from, d);
      }
      if (!a.covers(want) || t_.gpus_of(n) < want.gpus) continue;
      const int64_t rank = choice_.place == "pack" ? a.gpus : choice_.place == "spread" ? -a.gpus : 0;
      if (best == kNone || rank < best_rank) best = n, best_rank = rank;
    }
    return best;
  }
  Stay earliest(const View& now, const Plan& plan, Amount want, Duration d) const {
    std::vector<Time> times{now.now()};
    for (const auto& [j, s] : here_) times.push_back(s.end);
    for (const Stay& s : reserved_) times.push_back(s.end);
    std::sort(times.begin(), times.end());
    for (const Time t : times) {
      if (t == kNever) break;
      if (choice_.counts) {
        if (free(now, 0, t, d).gpus >= want.gpus) return {0, t, kNever, {}};
      } else if (t > now.now()) {
        if (const NodeId n = choose(now, plan, want, t, d); n != kNone) return {n, t, kNever, {}};
      }
    }
    return {};
  }
  const Topology& t_;
  Choice choice_;
  std::map<JobId, Stay> here_;
  std::vector<Stay> reserved_;
  JobId head_ = kNone;
  Stay slot_;
};

/// Starts and ends as text, and when each job started.
class Log final : public Observer {
 public:
  explicit Log(const Topology& t) : t_(t) {}
  void see(std::span<const Record> records) override {
    for (const Record& r : records) {
      if (r.what == What::start) starts[r.job] = r.at;
      if (r.what == What::start || r.what == What::end)
        text += std::to_string(r.at) + (r.what == What::start ? " start j" : " end j") + std::to_string(r.job) + " " +
                to_text(t_, r.pieces) + " " + std::string(to_text(r.state)) + "\n";
    }
  }
  std::string text;
  std::map<JobId, Time> starts;

 private:
  const Topology& t_;
};

std::unique_ptr<Policy> list(const Topology& t, const Workload& w, std::initializer_list<std::pair<std::string_view, std::string>> slots) {
  PolicyInput in{t, w, {}, 7};
  for (const auto& [name, value] : slots) in.parameters.set(name, Config::text(value));
  for (const PolicyInfo& info : builtin_policies())
    if (info.name == "list") return info.make(in);
  return nullptr;
}

std::string run(const Topology& t, const Workload& w, Policy& p, const std::vector<ScriptedEvent>& events = {},
                std::map<JobId, Time>* starts = nullptr) {
  RunOptions options;
  options.events = events;
  options.check = true;
  Simulator s(t, w, p, options);
  Log log(t);
  s.observe(log);
  try {
    s.run();
  } catch (const NoProgress& e) { log.text += e.what(); }
  if (starts) *starts = log.starts;
  return log.text;
}

Topology nodes(Dice& dice, uint32_t most) {
  TopologySpec spec;
  spec.name = "random";
  spec.levels = {"node"};
  const bool cpus = dice.one_in(2);
  for (uint32_t k = 0; k < 2; k++) {
    NodeKind& kind = spec.kinds.emplace_back();
    kind.name = "kind" + std::to_string(k);
    kind.gpus = dice.from_to(1, 8);
    kind.capacity[kGpu] = kind.gpus * kMilli;
    kind.limits_cpu = cpus;
    if (cpus) kind.capacity[kCpu] = dice.from_to(4, 12) * kMilli;
  }
  for (uint32_t n = dice.from_to(1, most); n > 0; n--) {
    TopologySpec::Vertex& v = spec.top.emplace_back();
    v.kind = dice.below(2);
    v.gpus = spec.kinds[v.kind].gpus;
  }
  return Topology::build(std::move(spec));
}

enum class Estimates : uint8_t { exact, over, any };

/// Jobs of one task; times are few small numbers of seconds, so that much falls together; some last no time at all.
Workload jobs(Dice& dice, const Topology& t, uint32_t n, Estimates how) {
  Workload w;
  w.tenants.add(""), w.queues.add("");
  for (uint32_t i = dice.from_to(1, 6); i > 0; i--) {
    Shape& s = w.shapes.emplace_back();
    s.nodes = Nodes::one;
    TaskGroup& g = s.groups.emplace_back();
    g.gpus = s.total_gpus = dice.one_in(8) ? 0 : dice.from_to(1, t.most_gpus());
    g.per_task[kGpu] = g.gpus * kMilli;
    if (dice.one_in(2) || !g.gpus) g.per_task[kCpu] = dice.from_to(1, 5) * kMilli;
  }
  Time at = 0;
  for (uint32_t i = 0; i < n; i++) {
    if (!dice.one_in(3)) at += dice.below(4) * kSecond;
    Job& j = w.jobs.emplace_back();
    j.submit = at;
    j.shape = dice.below(uint32_t(w.shapes.size()));
    JobTruth& truth = w.truths.emplace_back();
    truth.work = dice.below(12) * kSecond;
    j.estimate = how == Estimates::exact  ? truth.work
                 : how == Estimates::over ? truth.work + dice.below(8) * kSecond
                 : dice.one_in(10)        ? kNever
                                          : dice.below(15) * kSecond;
    if (dice.one_in(12)) j.earliest_start = at + dice.below(10) * kSecond;
    w.names.add("j" + std::to_string(i));
  }
  // A list without any estimate is refused; that is another test's.
  w.jobs[0].estimate = w.truths[0].work;
  return w;
}

void agree(uint64_t seed) {
  Dice dice(seed);
  const std::vector<std::string> places = {"pack", "spread", "first"};
  const size_t depths[] = {1, 1, 2, 3, ~size_t{0}};
  const Choice c{depths[dice.below(5)], dice.one_in(4), places[dice.below(3)]};
  const Topology t = nodes(dice, 4);
  const Workload w = jobs(dice, t, dice.from_to(1, 60), Estimates(dice.below(3)));
  const std::string blocked = c.depth == 1 ? "easy" : c.depth > 9 ? "conservative" : "hybrid";
  std::unique_ptr<Policy> fast;
  const std::string reserve = c.counts ? "counts" : "devices";
  if (blocked == "hybrid")
    fast = list(t, w, {{"blocked", blocked}, {"place", c.place}, {"reserve", reserve}, {"depth", std::to_string(c.depth)}});
  else fast = list(t, w, {{"blocked", blocked}, {"place", c.place}, {"reserve", reserve}});
  SlowBackfill slow(t, c);
  RC_LOG() << "seed " << seed << " " << blocked << " " << reserve << " " << c.depth << " place " << c.place << "\n";
  RC_ASSERT(run(t, w, *fast) == run(t, w, slow));
}

TEST(Backfill, AgreesWithATwinThatForgetsEverything) {
  EXPECT_TRUE(rc::check("same starts, devices and ends", [] {
    const uint64_t seed = *rc::gen::resize(1000, rc::gen::arbitrary<uint64_t>());
    for (uint64_t i = 0; i < 20; i++) agree(seed + i);
  }));
}

/// EASY has a form of its own for a queue in submit order and jobs of one node; the form for any depth is its twin on whatever else a
/// cluster has: kinds of nodes, memory, faults, drains.
TEST(Backfill, EasyIsHybridOfDepthOne) {
  EXPECT_TRUE(rc::check("same starts, devices and ends", [] {
    const uint64_t seed = *rc::gen::resize(1000, rc::gen::arbitrary<uint64_t>());
    for (uint64_t i = 0; i < 10; i++) {
      Dice dice(seed + i);
      const Topology t = random_topology(dice, 8, dice.one_in(8));
      Workload w = random_workload(dice, t, dice.from_to(1, 80), 8, 1);
      for (Shape& s : w.shapes) {
        if (s.nodes == Nodes::whole) s.groups[0].gpus = s.total_gpus = 1, s.groups[0].per_task[kGpu] = kMilli;
        s.nodes = Nodes::one;
      }
      w.jobs[0].estimate = 5;
      std::vector<ScriptedEvent> events;
      for (uint32_t k = dice.below(5); k > 0; k--) {
        ScriptedEvent& e = events.emplace_back();
        e.at = dice.below(60);
        e.kind = dice.one_in(2) ? ScriptedEvent::Kind::down : ScriptedEvent::Kind::drain;
        e.node_begin = dice.below(t.nodes()), e.node_end = e.node_begin + 1;
        ScriptedEvent back = e;
        back.kind = e.kind == ScriptedEvent::Kind::down ? ScriptedEvent::Kind::up : ScriptedEvent::Kind::undrain;
        back.at += 1 + dice.below(20);
        events.push_back(back);
      }
      const std::vector<std::string> places = {"pack", "spread", "first", "random"};
      const std::string place = places[dice.below(4)];
      const auto easy = list(t, w, {{"blocked", "easy"}, {"place", place}});
      const auto hybrid = list(t, w, {{"blocked", "hybrid"}, {"depth", "1"}, {"place", place}});
      RC_LOG() << "seed " << seed + i << " place " << place << "\n";
      RC_ASSERT(run(t, w, *easy, events) == run(t, w, *hybrid, events));
    }
  }));
}

TEST(Backfill, NoHeadStartsLaterThanPromised) {
  EXPECT_TRUE(rc::check("starts by its promise while estimates are never too short", [] {
    const uint64_t seed = *rc::gen::resize(1000, rc::gen::arbitrary<uint64_t>());
    for (uint64_t i = 0; i < 10; i++) {
      Dice dice(seed + i);
      const Topology t = nodes(dice, 4);
      Workload w = jobs(dice, t, dice.from_to(1, 60), dice.one_in(3) ? Estimates::exact : Estimates::over);
      for (Job& j : w.jobs) j.earliest_start = 0;  // nobody joins ahead of a head
      SlowBackfill slow(t, {1, false, "pack"});
      std::map<JobId, Time> starts;
      run(t, w, slow, {}, &starts);
      const auto easy = list(t, w, {{"blocked", "easy"}});
      run(t, w, *easy, {}, &starts);
      for (const auto& [j, promise] : slow.promised) RC_ASSERT(starts.at(j) <= promise);
    }
  }));
}

}}  // namespace muster
