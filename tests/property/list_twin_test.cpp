// The list policy, which keeps indexes and looks only at what changed, against a twin that scans the whole queue in every pass.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>

#include "parts/placer.hpp"
#include "random_workload.hpp"

namespace muster { namespace {

struct Slots {
  std::string order, place, blocked, estimate;
};

/// The rules of docs/policies/list.md with nothing remembered between passes.
class SlowList final : public Policy {
 public:
  SlowList(const Topology& t, const Slots& s, uint64_t seed) : slots_(s), placer_(make_placer(s.place, t, seed)) {}
  void schedule(const View& now, Plan& plan) override {
    Time wake = kNever;
    std::vector<JobId> waiting;
    for (JobId j = plan.queue().first(); j != kNone; j = plan.queue().next(j + 1)) {
      const Time earliest = now.job(j).earliest_start;
      if (earliest > now.now()) {
        wake = std::min(wake, earliest);
      } else {
        waiting.push_back(j);
      }
    }
    std::map<JobId, int64_t> keys;
    for (const JobId j : waiting) keys[j] = key(now, j);
    std::stable_sort(waiting.begin(), waiting.end(), [&](JobId a, JobId b) { return keys[a] < keys[b]; });
    for (const JobId j : waiting) {
      const Pieces at = placer_->find(now, plan, j);
      if (!at.empty()) plan.start(j, at);
      else if (slots_.blocked == "stop") break;
      else if (slots_.blocked == "drop") plan.drop(j, Reason::policy);
    }
    if (wake != kNever) plan.wake_at(wake);
  }

 private:
  int64_t key(const View& now, JobId j) const {
    const Duration run = slots_.estimate == "exact" ? now.oracle_left(j) : now.estimate(j);
    if (slots_.order == "sjf") return run == kNever ? kNever - 1 : run;
    if (slots_.order == "ljf") return run == kNever ? kNever - 1 : -run;
    if (slots_.order == "largest") return -now.shape(j).total_milli();
    if (slots_.order == "smallest") return now.shape(j).total_milli();
    if (slots_.order == "priority") return -int64_t(now.priority(j));
    return 0;
  }
  Slots slots_;
  std::unique_ptr<Placer> placer_;
};

/// Starts and ends as text.
class Log final : public Observer {
 public:
  explicit Log(const Topology& t) : t_(t) {}
  void see(std::span<const Record> records) override {
    for (const Record& r : records)
      if (r.what == What::start || r.what == What::end)
        text += std::to_string(r.at) + (r.what == What::start ? " start j" : " end j") + std::to_string(r.job) + " " +
                to_text(t_, r.pieces) + " " + std::string(to_text(r.state)) + "\n";
  }
  std::string text;

 private:
  const Topology& t_;
};

std::unique_ptr<Policy> fast_list(const Topology& t, const Workload& w, const Slots& s, uint64_t seed) {
  PolicyInput in{t, w, {}, seed};
  in.parameters.set("order", Config::text(s.order));
  in.parameters.set("place", Config::text(s.place));
  in.parameters.set("blocked", Config::text(s.blocked));
  if (s.estimate != "trace") in.parameters.set("estimate", Config::text(s.estimate));
  for (const PolicyInfo& info : builtin_policies())
    if (info.name == "list") return info.make(in);
  return nullptr;
}

std::string run(const Topology& t, const Workload& w, Policy& p, const std::vector<ScriptedEvent>& events) {
  RunOptions options;
  options.events = events;
  options.oracle = true;
  options.check = true;
  Simulator s(t, w, p, options);
  Log log(t);
  s.observe(log);
  try {
    s.run();
  } catch (const NoProgress& e) { log.text += e.what(); }
  return log.text;
}

void compare(uint64_t seed) {
  Dice dice(seed);
  const std::vector<std::string> orders = {"fifo", "sjf", "ljf", "largest", "smallest", "priority"};
  const std::vector<std::string> places = {"pack", "spread", "first", "random"};
  const std::vector<std::string> blocked = {"stop", "skip", "drop"};
  Slots slots{orders[dice.below(6)], places[dice.below(4)], blocked[dice.below(3)], "trace"};
  if ((slots.order == "sjf" || slots.order == "ljf") && dice.one_in(2)) slots.estimate = "exact";
  const Topology t = random_topology(dice, 8, dice.one_in(8));
  // One group a shape: with several, a greedy placer may find room for a job after it found none, though room only shrank.
  const Workload w = random_workload(dice, t, dice.from_to(1, 80), 8, 1);
  std::vector<ScriptedEvent> events;
  for (uint32_t i = dice.below(8); i > 0; i--) {
    ScriptedEvent& e = events.emplace_back();
    e.at = dice.below(60);
    const uint32_t what = dice.below(4);
    if (what == 0) {
      e.kind = ScriptedEvent::Kind::cancel;
      e.job = dice.below(uint32_t(w.jobs.size()));
    } else if (what == 1) {
      e.kind = ScriptedEvent::Kind::priority;
      e.job = dice.below(uint32_t(w.jobs.size())), e.value = dice.below(6);
    } else {
      e.kind = what == 2 ? ScriptedEvent::Kind::down : ScriptedEvent::Kind::drain;
      e.node_begin = dice.below(t.nodes()), e.node_end = e.node_begin + 1;
      e.value = dice.below(10);
      ScriptedEvent back = e;
      back.kind = what == 2 ? ScriptedEvent::Kind::up : ScriptedEvent::Kind::undrain;
      back.at += 1 + dice.below(20);
      events.push_back(back);
    }
  }
  const std::unique_ptr<Policy> fast = fast_list(t, w, slots, seed);
  SlowList slow(t, slots, seed);
  RC_LOG() << "order " << slots.order << " place " << slots.place << " blocked " << slots.blocked << " estimate " << slots.estimate << "\n";
  RC_ASSERT(run(t, w, *fast, events) == run(t, w, slow, events));
}

TEST(List, AgreesWithATwinThatScansTheQueue) {
  const bool ok = rc::check("same starts and ends", [] {
    const uint64_t seed = *rc::gen::resize(1000, rc::gen::arbitrary<uint64_t>());
    for (uint64_t i = 0; i < 30; i++) compare(seed + i);
  });
  EXPECT_TRUE(ok);
}

}}  // namespace muster
