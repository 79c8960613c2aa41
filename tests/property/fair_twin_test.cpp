// drf, max-min and fair-share, which keep queues by shape and look only at what changed, against twins of a few lines that look at everything.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>
#include <set>

#include "parts/fraction.hpp"
#include "parts/placer.hpp"
#include "random_workload.hpp"

namespace muster { namespace {

/// Rules 1 to 6 of docs/policies/drf.md with nothing remembered but who was chosen when.
class SlowDrf final : public Policy {
 public:
  SlowDrf(const Topology& t, bool stop, bool next, bool amounts, std::vector<Fraction> weights)
      : t_(t), stop_(stop), next_(next), amounts_(amounts), weights_(std::move(weights)), placer_(make_placer("pack", t, 0)) {}
  void schedule(const View& now, Plan& plan) override {
    std::set<TenantId> out;
    Time wake = kNever;
    for (JobId j = plan.queue().first(); j != kNone; j = plan.queue().next(j + 1))
      if (now.job(j).earliest_start > now.now()) wake = std::min(wake, now.job(j).earliest_start);
    for (;;) {
      std::map<TenantId, JobId> heads;
      for (JobId j = plan.queue().first(); j != kNone; j = plan.queue().next(j + 1))
        if (now.job(j).earliest_start <= now.now() && !out.count(now.job(j).tenant)) heads.emplace(now.job(j).tenant, j);
      if (heads.empty()) break;
      JobId best = kNone;
      for (const auto& [tenant, j] : heads)
        if (best == kNone || before(now, plan, j, best)) best = j;
      const Pieces at = placer_->find(now, plan, best);
      if (!at.empty()) plan.start(best, at);
      else if (stop_) break;
      else out.insert(now.job(best).tenant);
    }
    if (wake != kNever) plan.wake_at(wake);
  }

 private:
  bool before(const View& now, const Plan& plan, JobId a, JobId b) const {
    const Fraction &wa = weights_[now.job(a).tenant], &wb = weights_[now.job(b).tenant];
    if (wa.zero() != wb.zero()) return wb.zero();
    const Fraction x = share(now, plan, a), y = share(now, plan, b);
    const Fraction sa = wa.zero() ? x : x / wa, sb = wb.zero() ? y : y / wb;
    return sa == sb ? a < b : sa < sb;
  }
  /// Of what its user holds, summed up from the placements.
  Fraction share(const View& now, const Plan& plan, JobId head) const {
    std::array<int64_t, kMaxKinds> held{};
    const auto add = [&](const Shape& s, Pieces at, bool all) {
      if (s.nodes == Nodes::whole) {
        held[kGpu] += int64_t{s.total_gpus} * kMilli;
        for (size_t k = 1; k < kMaxKinds; k++) held[k] += s.groups[0].per_task[k] * s.groups[0].max_tasks;
        return;
      }
      for (size_t g = 0; g < s.groups.size(); g++) {
        int64_t tasks = all ? s.groups[g].max_tasks : 0;
        for (const Piece& p : at) tasks += p.group == g ? p.tasks : 0;
        for (size_t k = 0; k < kMaxKinds; k++) held[k] += s.groups[g].per_task[k] * tasks;
      }
    };
    for (JobId j = 0; j < now.jobs(); j++)
      if (now.job(j).tenant == now.job(head).tenant && plan.placed().contains(j)) add(now.shape(j), plan.at(j), false);
    if (next_) add(now.shape(head), {}, true);
    Fraction most = 0;
    for (size_t k = 0; k < 3; k++) {
      int64_t installed = 0;
      for (NodeId n = 0; n < t_.nodes(); n++)
        if (k == kGpu || t_.limits(k)) installed += t_.kind(n).capacity[k];
      if (installed == 0 || (amounts_ && k != kGpu)) continue;
      const Fraction s = amounts_ ? Fraction(held[k]) : Fraction(held[k], installed);
      if (most < s) most = s;
    }
    return most;
  }
  const Topology& t_;
  bool stop_, next_, amounts_;
  std::vector<Fraction> weights_;
  std::unique_ptr<Placer> placer_;
};

class Log final : public Observer {
 public:
  explicit Log(const Topology& t) : t_(t) {}
  void see(std::span<const Record> records) override {
    for (const Record& r : records)
      if (r.what == What::start || r.what == What::end)
        text += std::to_string(r.at) + (r.what == What::start ? " start j" : " end j") + std::to_string(r.job) + " " + to_text(t_, r.pieces) + "\n";
  }
  std::string text;

 private:
  const Topology& t_;
};

std::string run(const Topology& t, const Workload& w, Policy& p, const std::vector<ScriptedEvent>& events) {
  RunOptions options;
  options.events = events;
  options.check = true;
  Simulator s(t, w, p, options);
  Log log(t);
  s.observe(log);
  try {
    s.run();
  } catch (const NoProgress& e) { log.text += "no progress\n"; }
  return log.text;
}

void compare(uint64_t seed) {
  Dice dice(seed);
  const Topology t = random_topology(dice, 6, dice.one_in(8));
  if (t.gpus() == 0) return;
  Workload w = random_workload(dice, t, dice.from_to(1, 60), 8, 1);
  const uint32_t users = dice.from_to(1, 5);
  w.tenants = {};
  for (uint32_t u = 0; u < users; u++) w.tenants.add("u" + std::to_string(u));
  for (Job& j : w.jobs) j.tenant = dice.below(users);
  std::vector<ScriptedEvent> events;
  for (uint32_t i = dice.below(6); i > 0; i--) {
    ScriptedEvent& e = events.emplace_back();
    e.at = dice.below(60);
    if (dice.one_in(3)) {
      e.kind = ScriptedEvent::Kind::cancel;
      e.job = dice.below(uint32_t(w.jobs.size()));
      continue;
    }
    e.kind = dice.one_in(2) ? ScriptedEvent::Kind::down : ScriptedEvent::Kind::drain;
    e.node_begin = dice.below(t.nodes()), e.node_end = e.node_begin + 1;
    ScriptedEvent back = e;
    back.kind = e.kind == ScriptedEvent::Kind::down ? ScriptedEvent::Kind::up : ScriptedEvent::Kind::undrain;
    back.at += 1 + dice.below(20);
    events.push_back(back);
  }
  const bool stop = dice.one_in(2), next = dice.one_in(3), amounts = dice.one_in(3);
  PolicyInput in{t, w, {}, seed};
  in.parameters.set("blocked", Config::text(stop ? "stop" : "skip"));
  if (next) in.parameters.set("share", Config::text("next"));
  if (amounts) in.parameters.set("measure", Config::text("amount")), in.parameters.set("resources", Config::text("gpu"));
  std::vector<Fraction> weights(w.tenants.size(), 1);
  Config given;
  const std::vector<std::pair<std::string, Fraction>> values = {{"2", 2}, {"1/3", Fraction(1, 3)}, {"0", 0}, {"0.5", Fraction(1, 2)}};
  for (uint32_t u = 0; u < w.tenants.size(); u++)
    if (dice.one_in(3)) {
      const auto& [text, value] = values[dice.below(4)];
      given.set(w.tenants[u], Config::text(text));
      weights[u] = value;
    }
  if (!given.fields.empty()) in.parameters.set("weights", given);
  std::unique_ptr<Policy> fast;
  for (const PolicyInfo& info : builtin_policies())
    if (info.name == "drf") fast = info.make(in);
  SlowDrf slow(t, stop, next, amounts, weights);
  RC_LOG() << "seed " << seed << (stop ? " stop" : " skip") << (next ? " next" : "") << (amounts ? " amounts" : "") << "\n";
  RC_ASSERT(run(t, w, *fast, events) == run(t, w, slow, events));
}

TEST(Drf, AgreesWithATwinThatLooksAtEverything) {
  const bool ok = rc::check("same starts and ends", [] {
    const uint64_t seed = *rc::gen::resize(1000, rc::gen::arbitrary<uint64_t>());
    for (uint64_t i = 0; i < 20; i++) compare(seed + i);
  });
  EXPECT_TRUE(ok);
}

}}  // namespace muster
