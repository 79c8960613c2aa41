// The engine against slower twins: time tick by tick, timers as a sorted list, the index over nodes as a scan; and against itself.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstdlib>
#include <map>
#include <set>
#include <thread>
#include <tuple>

#include "engine/timers.hpp"
#include "random_plans.hpp"

namespace muster { namespace {

/// Cases of each property: MUSTER_CASES, or 10,000.
uint64_t cases() {
  const char* n = std::getenv("MUSTER_CASES");
  return n ? std::strtoull(n, nullptr, 10) : 10'000;
}

template <class F>
void for_all(const char* name, F property) {
  const bool ok = rc::check(name, [&] {
    const uint64_t seed = *rc::gen::noShrink(rc::gen::resize(1000, rc::gen::arbitrary<uint64_t>()));
    for (uint64_t i = 0; i < (cases() + 99) / 100; i++) {
      try {
        property(seed + i);
      } catch (const std::exception& e) { RC_FAIL("seed " + std::to_string(seed + i) + ": " + e.what()); }
    }
  });
  EXPECT_TRUE(ok);
}

// ---- one job, tick by tick

struct Act {
  bool start = false, preempt = false;
  Duration grace = 0;
};

struct Ended {
  Time at = 0;
  State state = State::future;
  TimeParts time;
  std::string text() const {
    std::string s = std::to_string(at) + " " + std::string(to_text(state));
    for (const Duration d : {time.queue_first, time.requeue, time.start_first, time.work, time.checkpoint, time.drain, time.restart, time.lost}) s += " " + std::to_string(d);
    return s;
  }
};

/// Does what its table says at each tick; after the table it starts the job whenever it waits.
class TablePolicy final : public Policy {
 public:
  explicit TablePolicy(const std::vector<Act>& acts) : acts_(acts) {}
  void schedule(const View& now, Plan& plan) override {
    if (now.now() != seen_) {  // once a tick: an instant may have several passes
      const Act a = size_t(now.now()) < acts_.size() ? acts_[size_t(now.now())] : Act{true, false, 0};
      if (a.preempt && plan.placed().contains(0)) plan.preempt(0, a.grace);
      const Piece p = Piece::whole(0, 1, 1);
      if (a.start && plan.queue().contains(0)) plan.start(0, {&p, 1});
    }
    seen_ = now.now();
    plan.wake_at(now.now() + 1);
  }

 private:
  const std::vector<Act>& acts_;
  Time seen_ = -1;
};

/// The rules of a job's life, one tick after the other.
Ended tick_by_tick(Duration work, Duration limit, const LifeCosts& c, const std::vector<Act>& acts) {
  Ended e;
  TimeParts& p = e.time;
  State state = State::queued;
  Duration left = work, risk_run = 0, risk_write = 0, phase = 0;
  Time until = 0;  // of starting or draining
  unsigned starts = 0;
  const auto save = [&] { p.work += risk_run, p.checkpoint += risk_write, risk_run = risk_write = phase = 0; };
  const auto lose = [&] { p.lost += risk_run + risk_write, left += risk_run, risk_run = risk_write = phase = 0; };
  const auto over = [&](Time t) {
    if (state != State::running) return false;
    const bool done = left == 0;
    if (!done && p.work + p.checkpoint + p.lost + risk_run + risk_write < limit) return false;
    done ? save() : lose();
    e.at = t, e.state = done ? State::done : State::timed_out;
    return true;
  };
  for (Time t = 0;; t++) {
    if (over(t)) return e;
    if (state == State::draining && t == until) state = State::queued;
    if (state == State::starting && t == until) state = State::running;
    if (over(t)) return e;
    const Act a = size_t(t) < acts.size() ? acts[size_t(t)] : Act{true, false, 0};
    if (a.preempt && (state == State::running || state == State::starting)) {
      if (a.grace) {
        save();
        state = State::draining, until = t + std::min(a.grace, c.gives_back_after);
      } else {
        lose();
        state = State::queued;
      }
    }
    if (a.start && state == State::queued) {
      const Duration cost = starts++ ? c.restart_cost : c.start_cost;
      state = cost ? State::starting : State::running;
      until = t + cost;
    }
    if (over(t)) return e;
    if (state == State::draining && t == until) state = State::queued;  // obeyed at once
    switch (state) {
      case State::queued: (starts ? p.requeue : p.queue_first)++; break;
      case State::starting: (starts > 1 ? p.restart : p.start_first)++; break;
      case State::draining: p.drain++; break;
      default:
        if (c.checkpoint_interval == 0) {
          p.work++, left--;
        } else if (c.checkpoint_interval == kNever) {
          risk_run++, left--;
        } else {
          phase < c.checkpoint_interval ? (risk_run++, left--) : risk_write++;
          if (++phase == c.checkpoint_interval + c.checkpoint_cost) save();
        }
    }
  }
}

class Ends final : public Observer {
 public:
  void see(std::span<const Record> records) override {
    for (const Record& r : records)
      if (r.what == What::end) ended = {r.at, r.state, *r.time};
  }
  Ended ended;
};

TEST(EngineTwins, CheckpointsRestartsAndNoticesTickByTick) {
  for_all("closed form", [](uint64_t seed) {
    Dice dice(seed);
    const Topology t = Topology::parse_line("node:1 gpu:1");
    LifeCosts c;
    c.checkpoint_interval = dice.one_in(4) ? 0 : dice.one_in(5) ? kNever : dice.from_to(1, 8);
    c.checkpoint_cost = dice.one_in(3) ? 0 : dice.from_to(1, 4);
    c.start_cost = dice.one_in(2) ? 0 : dice.from_to(1, 5), c.restart_cost = dice.one_in(2) ? 0 : dice.from_to(1, 5);
    if (dice.one_in(3)) c.gives_back_after = dice.from_to(1, 4);
    std::vector<Act> acts(dice.below(60));
    for (Act& a : acts) {  // not both: a plan that takes and gives the same devices changes nothing
      a.preempt = dice.one_in(8), a.start = !a.preempt && dice.one_in(3);
      if (dice.one_in(2)) a.grace = dice.from_to(1, 6);
    }
    Workload w;
    w.tenants.add(""), w.queues.add(""), w.names.add("a");
    Shape s;
    s.groups.resize(1), s.groups[0].gpus = s.total_gpus = 1, s.groups[0].per_task[kGpu] = kMilli;
    w.shapes.push_back(s);
    w.costs.push_back(c);
    w.jobs.emplace_back();
    if (dice.one_in(3)) w.jobs[0].time_limit = dice.below(50);
    w.truths.push_back({Duration(dice.below(50)), 1, Fate::done});
    TablePolicy policy(acts);
    RunOptions options;
    options.check = true;
    Simulator run(t, w, policy, options);
    Ends ends;
    run.observe(ends);
    run.run();
    const Ended want = tick_by_tick(w.truths[0].work, w.jobs[0].time_limit, c, acts);
    if (ends.ended.text() != want.text())
      throw std::logic_error("interval " + std::to_string(c.checkpoint_interval) + " cost " + std::to_string(c.checkpoint_cost) + " start " + std::to_string(c.start_cost) +
                             " restart " + std::to_string(c.restart_cost) + " work " + std::to_string(w.truths[0].work) + ": engine " + ends.ended.text() + ", tick by tick " + want.text());
  });
}

// ---- timers

TEST(EngineTwins, TimersAgainstASortedListThroughRenumbering) {
  for_all("timers", [](uint64_t seed) {
    Dice dice(seed);
    TimerQueue queue;
    queue.set_limit(dice.from_to(70, 120));
    std::multimap<std::tuple<Time, Rank>, uint32_t> sorted;  // equal keys stay in order of insertion
    std::vector<uint32_t> armed(64);                         // by subject; each has at most one that counts
    for (int i = 0; i < 300; i++) {
      if (dice.below(5) < 3) {
        const uint32_t subject = dice.below(64);
        std::erase_if(sorted, [&](const auto& x) { return x.second == subject; });
        armed[subject] = 0;
        const Time at = dice.below(20);
        const Rank rank = Rank(dice.below(10));
        if (queue.full()) queue.renumber([&](const Timer& t) { return &armed[t.subject()]; });
        armed[subject] = queue.push(at, rank, subject);
        sorted.insert({{at, rank}, subject});
      } else if (!sorted.empty()) {
        Timer t = queue.pop();
        while (armed[t.subject()] != t.seq()) t = queue.pop();
        armed[t.subject()] = 0;
        const auto first = sorted.begin();
        if (first->first != std::make_tuple(t.at, t.rank()) || first->second != t.subject()) throw std::logic_error("wrong timer");
        sorted.erase(first);
      }
    }
  });
}

// ---- the index

/// Compares the index with a scan, then plans at random.
class IndexPolicy final : public RandomPolicy {
 public:
  using RandomPolicy::RandomPolicy;
  void schedule(const View& now, Plan& plan) override {
    compare(now.topology(), plan.cluster());
    const Plan::Mark m = plan.mark();
    edits(now, plan, 4, 0);
    compare(now.topology(), plan.cluster());
    plan.rollback(m);
    compare(now.topology(), plan.cluster());
    RandomPolicy::schedule(now, plan);
    compare(now.topology(), plan.cluster());
  }

 private:
  void compare(const Topology& t, const Cluster& c) {
    const NodeIndex& index = c.index();
    const auto must = [](bool ok, const char* what) {
      if (!ok) throw std::logic_error(std::string("index: ") + what);
    };
    std::map<unsigned, std::set<NodeId>> with;
    std::set<NodeId> whole;
    int64_t whole_gpus = 0, free = 0, free_now = 0;
    for (NodeId n = 0; n < t.nodes(); n++) {
      for (unsigned word = 0; word < c.words(n); word++) free += std::popcount(c.free(n, word)), free_now += std::popcount(c.free_now(n, word));
      if (!c.usable(n)) continue;
      const unsigned count = c.free_now_count(n);
      with[count].insert(n);
      if (count && count == t.gpus_of(n)) whole.insert(n), whole_gpus += count;
    }
    must(free == c.free_gpus() && free_now == c.free_now_gpus(), "free GPUs");
    must(index.most() == (with.empty() ? 0 : with.rbegin()->first), "most");
    must(whole_gpus == index.whole_gpus(), "GPUs of whole nodes");
    std::set<NodeId> got;
    for (NodeId n = index.whole().first(); n != kNone; n = index.whole().next(n + 1)) got.insert(n);
    must(got == whole, "whole nodes");
    for (unsigned count = 0; count <= t.most_gpus(); count++) {
      const auto next = with.lower_bound(count);
      must(index.count_from(count) == (next == with.end() ? kNone : next->first), "count_from");
      const unsigned asked = dice2_.below(t.most_gpus() + 1);
      Resources need;
      need[kCpu] = dice2_.below(8) * kMilli, need[kMem] = dice2_.below(8);
      const NodeId from = dice2_.below(t.nodes() + 1);
      NodeId want = kNone;
      if (const auto nodes = with.find(asked); nodes != with.end())
        for (const NodeId n : nodes->second) {
          bool room = n >= from;
          for (size_t k = 1; k < kMaxKinds; k++) room &= need[k] <= c.free_amount(n, k);
          if (room && want == kNone) want = n;
        }
      must(index.first_with_room(asked, need, from) == want, "first_with_room");
    }
  }
  Dice dice2_{7};
};

TEST(EngineTwins, NodeIndexAgainstAScan) {
  for_all("index", [](uint64_t seed) {
    Dice dice(seed);
    RandomWorld r = random_world(dice, 1 + uint32_t(seed % 40));
    IndexPolicy policy(seed);
    Simulator run(r.topology, r.workload, policy, r.options);
    try {
      run.run();
    } catch (const NoProgress&) {}
  });
}

// ---- refused plans, and the same run twice

/// Random plans, until one breaks a rule and does not catch it.
class Breaker final : public RandomPolicy {
 public:
  Breaker(uint64_t seed, uint64_t at, uint32_t rule) : RandomPolicy(seed), at_(at), rule_(rule) {}
  void schedule(const View& now, Plan& plan) override {
    const std::string before = run->state_text();
    RandomPolicy::schedule(now, plan);
    if (passes < at_) return;
    try {
      break_a_rule(now, plan, rule_);
    } catch (const ContractError&) {
      state = before;
      throw;
    }
  }
  std::string state;

 private:
  uint64_t at_;
  uint32_t rule_;
};

TEST(EngineTwins, ARefusedPlanLeavesTheStateBeforeThePass) {
  uint64_t refused = 0;
  for_all("refused whole", [&](uint64_t seed) {
    Dice dice(seed);
    RandomWorld r = random_world(dice, 1 + uint32_t(seed % 60));
    Breaker policy(seed, 1 + dice.below(8), dice.below(RandomPolicy::kRules));
    Simulator run(r.topology, r.workload, policy, r.options);
    policy.run = &run;
    try {
      run.run();
    } catch (const NoProgress&) {
    } catch (const ContractError& e) {
      refused++;
      if (policy.state.empty()) throw std::logic_error(std::string("a legal plan was refused: ") + e.what());
      if (run.state_text() != policy.state) throw std::logic_error(std::string(e.what()) + " left a trace:\n" + policy.state + "now\n" + run.state_text());
    }
  });
  EXPECT_GT(refused, cases() / 4);
}

std::string play(uint64_t seed, uint32_t timers = 0) {
  Dice dice(seed);
  const RandomWorld r = random_world(dice, 1 + uint32_t(seed % 60));
  RandomPolicy policy(seed + 1);
  Simulator s(r.topology, r.workload, policy, r.options);
  RecordText text(r.topology, r.workload);
  s.observe(text);
  if (timers) s.renumber_timers_at(timers);
  try {
    s.run();
  } catch (const NoProgress& e) { text.text += e.what(); }
  return text.text;
}

TEST(EngineTwins, NumberingTimersAnewChangesNoByte) {
  uint64_t done = 0;
  for_all("renumbering", [&](uint64_t seed) {
    std::string few;
    try {
      few = play(seed, 90);
    } catch (const std::logic_error& e) {
      if (std::string(e.what()).find("more live timers") != std::string::npos) return;
      throw;
    }
    if (few != play(seed)) throw std::logic_error("runs differ");
    done++;
  });
  EXPECT_GT(done, cases() / 2);
}

TEST(EngineTwins, TwoRunsInOneProcessAndOneInAThreadAgree) {
  for_all("twice", [](uint64_t seed) {
    std::string other;
    std::thread thread([&] { other = play(seed); });
    const std::string a = play(seed);
    thread.join();
    const std::string b = play(seed);
    if (a != b || a != other) throw std::logic_error("runs differ\n" + a + "----\n" + b + "----\n" + other);
  });
}

}}  // namespace muster
