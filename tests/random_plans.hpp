// A policy that makes random plans, legal and illegal ones, and small random worlds with everything that can happen in them.
#pragma once
#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "muster/simulator.hpp"
#include "random_workload.hpp"

namespace muster {

struct RandomWorld {
  Topology topology;
  Workload workload;
  RunOptions options;
};

/// Elastic jobs, gangs, costs, limits, events; times are a few ticks, so that much happens at once.
inline RandomWorld random_world(Dice& dice, uint32_t size) {
  RandomWorld r{random_topology(dice, 1 + size / 12, dice.one_in(12)), {}, {}};
  const Topology& t = r.topology;
  Workload& w = r.workload;
  w = random_workload(dice, t, dice.from_to(1, 1 + size / 4), dice.from_to(1, 6), dice.one_in(3) ? 3 : 1);
  for (Shape& s : w.shapes)
    for (TaskGroup& g : s.groups)
      if (s.nodes != Nodes::whole && g.max_tasks > 1 && dice.one_in(2)) g.min_tasks = dice.from_to(1, g.max_tasks), s.fixed &= g.min_tasks == g.max_tasks;
  for (uint32_t i = dice.below(4); i > 0; i--) {
    LifeCosts& c = w.costs.emplace_back();
    c.checkpoint_interval = dice.one_in(3) ? 0 : dice.one_in(4) ? kNever : dice.from_to(1, 6);
    c.checkpoint_cost = dice.one_in(3) ? 0 : dice.from_to(1, 3);
    c.start_cost = dice.one_in(2) ? 0 : dice.from_to(1, 4);
    c.restart_cost = dice.one_in(2) ? 0 : dice.from_to(1, 4);
    if (dice.one_in(2)) c.gives_back_after = dice.below(5);
  }
  w.tenants.add("other");
  for (uint32_t j = 0; j < w.jobs.size(); j++) {
    w.jobs[j].tenant = dice.below(2);
    if (dice.one_in(4)) w.jobs[j].time_limit = dice.below(20);
    w.truths[j].costs = dice.below(uint32_t(w.costs.size()));
    w.truths[j].fate = dice.one_in(8) ? Fate::failed : dice.one_in(8) ? Fate::cancelled : Fate::done;
    if (dice.one_in(15)) w.truths[j].work = kNever;
  }
  using Kind = ScriptedEvent::Kind;
  for (uint32_t i = dice.below(2 + size / 8); i > 0; i--) {
    ScriptedEvent& e = r.options.events.emplace_back();
    e.at = dice.below(60);
    e.kind = Kind(dice.below(9));
    e.job = dice.below(uint32_t(w.jobs.size()));
    e.queue = 0;
    e.node_begin = dice.below(t.nodes()), e.node_end = dice.from_to(e.node_begin + 1, t.nodes());
    e.value = dice.one_in(3) ? kNever : dice.below(6);
    if (e.kind == Kind::priority) e.value = dice.below(6);
    if ((e.kind == Kind::down || e.kind == Kind::up) && dice.one_in(2) && t.gpus_of(e.node_begin)) {
      const NodeId n = e.node_begin;
      e.node_end = n;
      e.gpu_begin = t.first_gpu(n) + dice.below(t.gpus_of(n));
      e.gpu_end = dice.from_to(e.gpu_begin + 1, t.first_gpu(n) + t.gpus_of(n));
    }
  }
  if (dice.one_in(10)) r.options.until = dice.below(80);
  r.options.repartition_time = dice.from_to(1, 5);
  r.options.check = true;
  return r;
}

/// Random plans. What it does depends on its dice and on what it sees alone. Throws std::logic_error when the plan answers wrongly.
class RandomPolicy : public Policy {
 public:
  explicit RandomPolicy(uint64_t seed, uint32_t lively = 6) : dice_(seed), lively_(lively) {}
  /// For looking at the state as text: edits taken back must leave it as it was.
  const Simulator* run = nullptr;
  bool illegal = false;       ///< tries plans that must be refused, and checks that they leave no trace
  uint64_t refused = 0, passes = 0;

  void schedule(const View& now, Plan& plan) override {
    if (++passes > 3000) throw std::logic_error("it does not end:\n" + run->state_text());
    if (passes > 60) return finish(now, plan);
    edits(now, plan, dice_.below(lively_), 0);
    if (illegal && dice_.one_in(3)) try_illegal(now, plan);
    if (!plan.queue().empty() || !plan.placed().empty()) plan.wake_at(now.now() + dice_.from_to(1, 5));
  }

  /// Random edits, some of them taken back.
  void edits(const View& now, Plan& plan, uint32_t n, unsigned depth) {
    for (; n > 0; n--) {
      if (depth < 3 && dice_.one_in(6)) {
        const std::string before = run && dice_.one_in(4) ? run->state_text() : "";
        const Plan::Mark m = plan.mark();
        edits(now, plan, dice_.below(5), depth + 1);
        plan.rollback(m);
        if (!before.empty() && run->state_text() != before) throw std::logic_error("rollback left a trace:\n" + before + "now\n" + run->state_text());
        continue;
      }
      edit(now, plan);
    }
  }

  /// One edit that must be refused; false when this state offers no chance for its kind. `caught`: it must be refused and leave no trace.
  bool break_a_rule(const View& now, Plan& plan, uint32_t kind) {
    const Topology& t = now.topology();
    const JobId q = pick(plan.queue()), p = pick(plan.placed());
    const Cluster& c = plan.cluster();
    std::vector<Piece> good;
    if (q != kNone) good = place(now, plan, q, {}, true);
    switch (kind) {
      case 0: plan.start(JobId(now.jobs() + dice_.below(3)), good); return true;
      case 1:
        for (JobId j = 0; j < now.jobs(); j++)
          if (now.state(j) == State::future || ended(now.state(j))) {
            const Piece one = Piece::whole(0, 1, 0);
            const uint32_t verb = dice_.below(5);
            verb == 0 ? plan.start(j, {&one, 1}) : verb == 1 ? plan.preempt(j) : verb == 2 ? plan.reject(j, Reason::policy) : verb == 3 ? plan.ask(j, 1) : plan.resize(j, {&one, 1});
            return true;
          }
        return false;
      case 2:
        if (p == kNone) return false;
        good.assign(plan.at(p).begin(), plan.at(p).end());
        plan.start(p, good);
        return true;
      case 3:
        if (q == kNone) return false;
        plan.start(q, {});
        return true;
      case 4:
        if (q == kNone) return false;
        plan.preempt(q);
        return true;
      case 5:
        if (p == kNone) return false;
        dice_.one_in(2) ? plan.preempt(p, -1) : plan.resize(p, plan.at(p), -1);
        return true;
      case 6:  // GPUs that are not there
        if (good.empty() || !good[0].what || good[0].share != Share::whole) return false;
        {
          const unsigned gpus = t.gpus_of(good[0].node), last = gpus - good[0].word * 64;
          if (last >= 64) return false;
          good[0].what = (good[0].what & (good[0].what - 1)) | uint64_t{1} << last;
        }
        plan.start(q, good);
        return true;
      case 7:
        if (good.empty()) return false;
        good.back().node = t.nodes() + dice_.below(2);
        plan.start(q, good);
        return true;
      case 8:  // a device that is broken, or held by another
        if (good.empty() || good[0].share != Share::whole || !good[0].what) return false;
        {
          const NodeId n = good[0].node;
          const uint64_t no = (c.all(n, good[0].word) & ~c.free(n, good[0].word));
          if (!no) return false;
          good[0].what = (good[0].what & (good[0].what - 1)) | (no & (0 - no));
        }
        plan.start(q, good);
        return true;
      case 9:  // a node that takes nobody
        if (good.empty() || good.size() > 1 || !now.held(q).empty()) return false;  // who was there may come back
        for (NodeId n = 0; n < t.nodes(); n++)
          if (!c.usable(n)) {
            good[0].node = n;
            plan.start(q, good);
            return true;
          }
        return false;
      case 10:  // device twice in one placement
        if (good.empty() || !good.back().what || good.back().share != Share::whole) return false;
        good.push_back(good.back());
        plan.start(q, good);
        return true;
      case 11:  // more tasks than asked (C3)
        if (good.empty() || now.shape(q).nodes == Nodes::whole) return false;
        good[0].tasks = uint16_t(good[0].tasks + now.shape(q).groups[good[0].group].max_tasks);
        plan.start(q, good);
        return true;
      case 12:  // too few or too many GPUs for its tasks
        if (good.empty() || now.shape(q).nodes == Nodes::whole || good[0].share != Share::whole) return false;
        if (good[0].what) {
          good[0].what &= good[0].what - 1;
        } else {
          if (!c.free(good[0].node)) return false;
          good[0].what = c.free(good[0].node) & (0 - c.free(good[0].node));
        }
        plan.start(q, good);
        return true;
      case 13:  // not in tree order
        if (good.size() < 2 || good.front().node == good.back().node) return false;
        std::swap(good.front(), good.back());
        plan.start(q, good);
        return true;
      case 14:
        if (good.empty()) return false;
        good[0].group = uint8_t(now.shape(q).groups.size()) & 31;
        if (good[0].group == 0) return false;
        plan.start(q, good);
        return true;
      case 15:  // CPU or memory over capacity
        if (good.empty()) return false;
        for (const size_t k : {size_t{kCpu}, size_t{kMem}}) {
          if (c.free_amount(good[0].node, k) >= Cluster::kPlenty / 2) continue;
          for (JobId j = plan.queue().first(); j != kNone; j = plan.queue().next(j + 1)) {
            const TaskGroup& g = now.shape(j).groups[0];
            const NodeId n = good[0].node;
            if (g.per_task[kGpu] || now.shape(j).nodes == Nodes::whole || now.shape(j).nodes == Nodes::each || !g.per_task[k]) continue;
            if (g.per_task[k] * g.max_tasks <= t.kind(n).capacity[k]) continue;
            const Piece all = Piece::whole(n, uint16_t(g.max_tasks), 0);
            plan.start(j, {&all, 1});
            return true;
          }
        }
        return false;
      case 16: plan.wake_at(now.now() - Time(dice_.below(2))); return true;
      case 17: plan.repartition(t.gpus() + dice_.below(2), 1); return true;
      case 18:
        for (GpuId g = 0; g < t.gpus(); g++)
          if (c.holder(g) != kNone) {
            plan.repartition(g, 1);
            return true;
          }
        return false;
      case 19:
        if (p == kNone) return false;
        plan.resize(p, {});
        return true;
      case 20:
        if (good.empty()) return false;
        for (Piece& x : good) x.tasks = 0;
        plan.start(q, good);
        return true;
      case 21:
        if (q == kNone) return false;
        plan.resize(q, good);
        return true;
      case 22:  // shares that cannot be
        if (q == kNone || !t.gpus()) return false;
        {
          const GpuId g = dice_.below(t.gpus());
          const NodeId n = t.node_of(g);
          const unsigned local = g - t.first_gpu(n);
          static const struct {
            Share share;
            unsigned first, size;
            uint32_t mib;
          } kBad[] = {{Share::mig, 1, 2, 0}, {Share::mig, 7, 1, 0},   {Share::mig, 2, 4, 0},      {Share::mig, 0, 3, 0},        {Share::mig, 0, 0, 0},
                      {Share::mps, 0, 101, 0}, {Share::slice, 0, 1001, 0}, {Share::mps, 0, 10, 9'999'999}, {Share::slice, 0, 10, 9'999'999}};
          const auto& b = kBad[dice_.below(9)];
          Piece x = Piece::part(b.share, n, local, b.first, b.size, b.mib);
          if (dice_.one_in(4)) x = Piece::part(Share::mps, n, 0, 0, 10, 0), x.what = t.gpus_of(n), x.word = 0;  // a GPU that its word does not have
          plan.start(q, {&x, 1});
        }
        return true;
      case 23:  // a job that drains wants nothing: it cannot be dropped, for it does not wait
        for (JobId j = 0; j < now.jobs(); j++)
          if (now.state(j) == State::draining && plan.at(j).empty()) {
            dice_.one_in(2) ? plan.drop(j, Reason::policy) : plan.reject(j, Reason::policy);
            return true;
          }
        return false;
      case 24: plan.reason(JobId(now.jobs()), Reason::policy); return true;
      case 25:  // another share than asked, a whole GPU instead, or two tasks on one piece
        for (Piece& x : good)
          if (x.share == Share::slice) {
            const unsigned other = x.size() % 1000 + 1;
            const NodeId n = x.node;
            if (dice_.one_in(3)) x = Piece::part(Share::slice, n, x.gpu(), 0, other, 0, x.group);
            else if (dice_.one_in(2)) x = Piece::whole(n, 1, x.mask(), x.word, x.group);
            else x.tasks = 2;
            plan.start(q, good);
            return true;
          }
        return false;
      default: plan.ask(JobId(now.jobs()), 1); return true;
    }
  }
  static constexpr uint32_t kRules = 27;

 protected:
  void try_illegal(const View& now, Plan& plan) {
    const std::string before = run->state_text();
    const uint32_t kind = dice_.below(kRules);
    bool thrown = false, tried = false;
    try {
      tried = break_a_rule(now, plan, kind);
    } catch (const ContractError&) {
      thrown = tried = true;
    }
    if (!tried) return;
    if (!thrown) throw std::logic_error("an illegal edit of kind " + std::to_string(kind) + " was taken");
    if (run->state_text() != before) throw std::logic_error("a refused edit of kind " + std::to_string(kind) + " left a trace:\n" + before + "now\n" + run->state_text());
    refused++;
  }

  /// After many passes: all that is not running leaves.
  void finish(const View& now, Plan& plan) {
    for (JobId j = plan.queue().first(); j != kNone; j = plan.queue().next(j + 1)) plan.drop(j, Reason::policy);
    for (JobId j = plan.placed().first(); j != kNone; j = plan.placed().next(j + 1)) plan.reject(j, Reason::policy);
    plan.listen(~WhatSet{0});
    plan.wake_at(now.now() + 1);
  }

  JobId pick(const IdSet& set) {
    std::vector<JobId> all;
    for (JobId j = set.first(); j != kNone; j = set.next(j + 1)) all.push_back(j);
    return all.empty() ? kNone : all[dice_.below(uint32_t(all.size()))];
  }

  /// A legal placement of `j`, which gives up `own` for it; empty when there is none, or the dice do not find one. `now_only`: nothing that drains.
  std::vector<Piece> place(const View& now, const Plan& plan, JobId j, Pieces own, bool now_only) {
    const Topology& t = now.topology();
    const Cluster& c = plan.cluster();
    const Shape& s = now.shape(j);
    std::map<NodeId, std::vector<uint64_t>> masks;
    std::map<NodeId, Resources> room;
    for (NodeId n = 0; n < t.nodes(); n++) {
      if (!c.usable(n)) continue;
      for (unsigned word = 0; word < c.words(n); word++) masks[n].push_back(now_only ? c.free_now(n, word) : c.free(n, word));
      for (size_t k = 1; k < kMaxKinds; k++) room[n][k] = c.free_amount(n, k);
    }
    for (const Piece& p : own) {
      if (!masks.count(p.node) || p.share != Share::whole) continue;
      masks[p.node][p.word] |= p.what;
      const TaskGroup& g = s.groups[p.group];
      for (size_t k = 1; k < kMaxKinds; k++) room[p.node][k] += g.per_task[k] * p.tasks;
    }
    std::vector<NodeId> nodes;
    for (const auto& [n, mask] : masks) nodes.push_back(n);
    for (size_t i = nodes.size(); i > 1; i--) std::swap(nodes[i - 1], nodes[dice_.below(uint32_t(i))]);
    std::vector<Piece> out;
    std::map<std::pair<NodeId, unsigned>, int32_t> left;  // of GPUs cut into slices
    if (s.nodes == Nodes::whole) {
      uint32_t want = dice_.one_in(4) ? dice_.from_to(1, s.total_gpus) : s.total_gpus;
      for (const NodeId n : nodes)
        for (unsigned word = 0; word < c.words(n) && want; word++) {
          uint64_t take = 0;
          for (uint64_t m = masks[n][word]; m && want; m &= m - 1, want--) take |= m & (0 - m);
          if (take) out.push_back(Piece::whole(n, 1, take, uint8_t(word)));
        }
      sort(out);
      return out;
    }
    if (s.nodes == Nodes::one && !nodes.empty()) nodes.resize(1);
    std::vector<uint32_t> want;
    for (const TaskGroup& g : s.groups) want.push_back(dice_.one_in(5) ? dice_.from_to(0, g.max_tasks) : dice_.from_to(g.min_tasks, g.max_tasks));
    for (const NodeId n : nodes) {
      bool used = false;
      for (uint32_t k = 0; k < s.groups.size(); k++) {
        const TaskGroup& g = s.groups[k];
        if (!c.suits(n, g)) continue;
        uint32_t here = 0;
        std::vector<uint64_t> take(c.words(n));
        while (want[k] && !(s.nodes == Nodes::each && used) && !(s.nodes == Nodes::any && here && dice_.one_in(4))) {
          unsigned free = 0;
          for (const uint64_t m : masks[n]) free += unsigned(std::popcount(m));
          bool fits = free >= g.gpus;
          for (size_t r = 1; r < kMaxKinds; r++) fits &= g.per_task[r] == 0 || room[n][r] >= g.per_task[r];
          const auto milli = int32_t(g.gpu_milli());
          std::vector<unsigned> cards;
          for (unsigned gpu = 0; milli && gpu < t.gpus_of(n); gpu++)
            if (masks[n][gpu / 64] >> (gpu & 63) & 1 || left.try_emplace({n, gpu}, c.slice_left(n, gpu)).first->second >= milli) cards.push_back(gpu);
          fits &= !milli || !cards.empty();
          if (!fits) break;
          if (milli) {
            const unsigned gpu = cards[dice_.below(uint32_t(cards.size()))];
            uint64_t& word = masks[n][gpu / 64];
            if (const uint64_t bit = uint64_t{1} << (gpu & 63); word & bit) word &= ~bit, left[{n, gpu}] = kMilli;
            left[{n, gpu}] -= milli;
            out.push_back(Piece::part(Share::slice, n, gpu, 0, unsigned(milli), 0, uint8_t(k)));
          }
          for (uint32_t i = 0; i < g.gpus; i++) {
            uint32_t skip = dice_.below(free--);
            for (size_t word = 0; word < masks[n].size(); word++) {
              uint64_t m = masks[n][word];
              const uint32_t count = uint32_t(std::popcount(m));
              if (skip >= count) {
                skip -= count;
                continue;
              }
              while (skip--) m &= m - 1;
              m &= 0 - m;
              masks[n][word] &= ~m, take[word] |= m;
              left[{n, unsigned(word * 64 + unsigned(std::countr_zero(m)))}] = 0;
              break;
            }
          }
          for (size_t r = 1; r < kMaxKinds; r++) room[n][r] -= g.per_task[r];
          here++, want[k]--;
          used = true;
        }
        uint16_t tasks = uint16_t(here);
        if (here && !g.per_task[kGpu]) out.push_back(Piece::whole(n, tasks, 0, 0, uint8_t(k)));
        for (unsigned word = 0; here && word < take.size(); word++)
          if (take[word]) out.push_back(Piece::whole(n, tasks, take[word], uint8_t(word), uint8_t(k))), tasks = 0;
      }
    }
    sort(out);
    return out;
  }

 private:
  static void sort(std::vector<Piece>& p) {
    std::stable_sort(p.begin(), p.end(), [](const Piece& a, const Piece& b) { return a.node < b.node; });
  }

  /// An edit that may be refused for want of CPUs, devices or the like; then it must leave no trace.
  template <class F>
  void maybe(F f) {
    const std::string before = run && dice_.one_in(8) ? run->state_text() : "";
    try {
      f();
    } catch (const ContractError&) {
      refused++;
      if (!before.empty() && run->state_text() != before) throw std::logic_error("a refused edit left a trace:\n" + before + "now\n" + run->state_text());
    }
  }

  void edit(const View& now, Plan& plan) {
    const Topology& t = now.topology();
    const Duration grace = dice_.one_in(2) ? 0 : dice_.from_to(1, 8);
    switch (dice_.below(16)) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4: {  // must be taken
        const JobId j = pick(plan.queue());
        if (j == kNone) return;
        const auto p = place(now, plan, j, {}, dice_.one_in(2));
        if (!p.empty()) plan.start(j, p);
        return;
      }
      case 5:
      case 6: {
        const JobId j = pick(plan.placed());
        if (j == kNone) return;
        last_[j].assign(plan.at(j).begin(), plan.at(j).end());
        if (dice_.one_in(4)) plan.restart(j);
        else plan.preempt(j, grace);
        return;
      }
      case 7:
      case 8: {  // must be taken: grow, shrink or move
        const JobId j = pick(plan.placed());
        if (j == kNone) return;
        const auto p = place(now, plan, j, plan.at(j), dice_.one_in(2));
        if (!p.empty()) plan.resize(j, p, grace);
        return;
      }
      case 9: {  // must be taken: fewer tasks where it is
        const JobId j = pick(plan.placed());
        if (j == kNone || now.shape(j).nodes == Nodes::whole) return;
        std::vector<Piece> p(plan.at(j).begin(), plan.at(j).end());
        while (p.size() > 1 && p.back().tasks == 0) p.pop_back();
        if (p.size() < 2) return;
        p.pop_back();
        while (p.size() > 1 && p.back().tasks == 0) return;
        plan.resize(j, p, grace);
        return;
      }
      case 10: {  // a notice withdrawn, or a draining job started elsewhere
        for (JobId j = dice_.below(uint32_t(now.jobs())); j < now.jobs(); j++) {
          if (now.state(j) != State::draining || !plan.at(j).empty()) continue;
          if (dice_.one_in(2)) {
            maybe([&] { plan.start(j, last_[j]); });
          } else if (const auto p = place(now, plan, j, {}, false); !p.empty()) {
            plan.start(j, p);
          }
          return;
        }
        return;
      }
      case 11: {
        const JobId j = pick(plan.placed());
        if (j != kNone) plan.ask(j, dice_.below(plan.tasks(j) + 1));
        return;
      }
      case 12: {
        if (!dice_.one_in(3)) return;
        const JobId j = pick(plan.queue());
        if (j == kNone) return;
        dice_.one_in(2) ? plan.drop(j, Reason::policy) : plan.reject(j, Reason::policy);
        return;
      }
      case 13: {
        if (!t.gpus()) return;
        const GpuId g = dice_.below(t.gpus());
        maybe([&] { plan.repartition(g, uint8_t(dice_.below(3) ? dice_.below(128) : 0)); });
        return;
      }
      case 14: {  // shares
        const JobId j = pick(plan.queue());
        if (j == kNone || !t.gpus() || now.shape(j).nodes == Nodes::whole) return;
        const Share share = Share(dice_.from_to(1, 3));
        const GpuId g = dice_.below(std::min(t.gpus(), 4u));
        const NodeId n = t.node_of(g);
        const unsigned size = 1u << dice_.below(4);
        const Piece p = share == Share::mig ? Piece::part(share, n, g - t.first_gpu(n), dice_.below(8) / size * size, size, 0)
                                            : Piece::part(share, n, g - t.first_gpu(n), 0, dice_.from_to(1, 60), 100 * dice_.below(12));
        maybe([&] { plan.start(j, {&p, 1}); });
        return;
      }
      default:
        if (const JobId j = pick(plan.queue()); j != kNone) plan.reason(j, Reason(dice_.below(8)));
        if (dice_.one_in(6)) plan.listen(WhatSet(dice_.below(1u << 20)));
        if (dice_.one_in(3)) plan.note("dice", {{"n", int64_t(dice_.below(9)), {}}, {"who", 0, "me"}});
        plan.wake_at(now.now() + dice_.from_to(1, 9));
        return;
    }
  }
  Dice dice_;
  uint32_t lively_;
  std::map<JobId, std::vector<Piece>> last_;
};

/// Every field of every record as text; and what must hold of the stream of records by itself.
class RecordText final : public Observer {
 public:
  RecordText(const Topology& t, const Workload& w) : t_(t), w_(w), lost_(w.jobs.size()), capacity_(int64_t(t.gpus()) * kMilli) {}
  void see(std::span<const Record> records) override {
    for (const Record& r : records) {
      text += std::to_string(r.at) + " " + std::string(to_text(r.what)) + " " + std::string(to_text(r.state)) + " " + std::string(to_text(r.reason)) + " " +
              std::to_string(r.job) + " " + std::to_string(r.held) + " " + std::to_string(r.waiting) + " " + std::to_string(int64_t(r.computed)) + " " +
              std::to_string(int64_t(r.lost)) + " " + std::to_string(r.capacity) + " " + std::to_string(r.lost_time) + " " + std::to_string(r.grace) + " [" +
              to_text(t_, r.pieces) + "] " + std::to_string(r.speed) + " " + std::string(r.kind);
      for (const NoteField& f : r.fields) text += " " + std::string(f.name) + "=" + std::to_string(f.number) + std::string(f.text);
      if (r.time) text += parts(*r.time);
      text += "\n";
      const auto must = [&](bool ok, const char* what) {
        if (!ok) throw std::logic_error(std::string(what) + " after\n" + text);
      };
      must(r.at >= at_, "time runs backwards");
      at_ = r.at, held_ += r.held, waiting_ += r.waiting, capacity_ += r.capacity;
      must(held_ >= 0, "fewer than no GPUs held");
      must(held_ <= capacity_, "more GPUs held than there are");
      must(waiting_ >= 0, "fewer than no jobs wait");
      if (r.job == kNone) continue;
      lost_[r.job] += r.lost_time;
      if (r.what != What::end) continue;
      ended_++;
      const TimeParts& p = *r.time;
      for (const Duration d : {p.queue_first, p.requeue, p.start_first, p.work, p.checkpoint, p.drain, p.restart, p.lost}) must(d >= 0, "a part of T below 0");
      must(p.total() == r.at - w_.jobs[r.job].submit, "T = T_queue + T_run + T_restart");
      must(p.lost == lost_[r.job], "lost time is the sum of what the records say");
      must(r.computed >= 0 && r.lost >= 0 && r.lost <= r.computed, "computed and lost");
    }
  }
  void finish(Time at) override {
    text += "end " + std::to_string(at) + "\n";
    if (ended_ == w_.jobs.size() && (held_ || waiting_)) throw std::logic_error("something is held, or waits, after the last end:\n" + text);
  }
  std::string text;

 private:
  static std::string parts(const TimeParts& p) {
    std::string s = " T";
    for (const Duration d : {p.queue_first, p.requeue, p.start_first, p.work, p.checkpoint, p.drain, p.restart, p.lost}) s += " " + std::to_string(d);
    return s;
  }
  const Topology& t_;
  const Workload& w_;
  std::vector<Duration> lost_;
  Time at_ = 0;
  int64_t held_ = 0, waiting_ = 0, capacity_;
  size_t ended_ = 0;
};

}  // namespace muster
