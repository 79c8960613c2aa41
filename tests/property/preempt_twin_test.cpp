// Preemptive orders, which keep indexes and count, against a twin that recomputes every key and tries every eviction in every pass.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>

#include "parts/placer.hpp"
#include "random_workload.hpp"

namespace muster { namespace {

/// What is compared, and how the twin finds a key.
struct Case {
  std::string order, blocked;
  std::vector<std::pair<std::string, std::string>> parameters;
};

/// The rules of docs/policies with nothing remembered between passes but what the rules themselves remember.
class SlowPreempt final : public Policy {
 public:
  SlowPreempt(const Topology& t, const Case& c, Duration step) : case_(c), step_(step), placer_(make_placer("pack", t, 0)) {}

  void schedule(const View& now, Plan& plan) override {
    Time wake = kNever;
    const auto alarm = [&](Time t) {
      if (t > now.now()) wake = std::min(wake, t);
    };
    std::vector<JobId> waiting;
    for (JobId j = plan.queue().first(); j != kNone; j = plan.queue().next(j + 1)) {
      const Time earliest = now.job(j).earliest_start;
      if (earliest > now.now()) alarm(earliest);
      else waiting.push_back(j);
    }
    turns(now, plan, waiting);
    std::map<JobId, bool> tried;
    for (;;) {
      JobId j = kNone;
      for (const JobId w : waiting)
        if (!tried[w] && (j == kNone || before(now, w, j))) j = w;
      if (j == kNone) break;
      tried[j] = true;
      std::vector<JobId> gone;
      if (!serve(now, plan, j, gone)) {
        if (case_.blocked == "stop") break;
        continue;
      }
      std::erase(waiting, j);
      if (!first_.count(j)) first_[j] = now.now();
      waiting.insert(waiting.end(), gone.begin(), gone.end());
    }
    for (JobId j = plan.placed().first(); j != kNone; j = plan.placed().next(j + 1)) alarm(now.now() + until_next(now, j));
    if (wake != kNever) plan.wake_at(wake);
  }

 private:
  /// Jobs take 1, 1, 4 or 9 GPU-seconds: the largest chance of an end per service, over the sizes ahead, as numerator and denominator.
  static constexpr int64_t kSizes[] = {1, 1, 4, 9};
  std::pair<int64_t, int64_t> index(const View& now, JobId j) const {
    const Int128 seconds = now.attained(j) / kMilli / kSecond;
    const int64_t a = seconds >= 9 ? 9 : seconds >= 4 ? 4 : seconds >= 1 ? 1 : 0;
    std::pair<int64_t, int64_t> best{0, 1};
    for (const int64_t until : kSizes) {
      int64_t ended = 0, invested = 0;
      for (const int64_t s : kSizes)
        if (s > a) ended += s <= until, invested += std::min(s, until) - a;
      if (until > a && ended * best.second > best.first * invested) best = {ended, invested};
    }
    return best;
  }
  bool before(const View& now, JobId a, JobId b) const {
    if (case_.order == "gittins") {
      const auto ia = index(now, a), ib = index(now, b);
      const int64_t left = ia.first * ib.second, right = ib.first * ia.second;
      return left != right ? left > right : a < b;
    }
    const Int128 ka = key(now, a), kb = key(now, b);
    return ka != kb ? ka < kb : a < b;
  }
  Int128 key(const View& now, JobId j) const {
    if (case_.order == "srtf") return now.oracle_left(j);
    if (case_.order == "srsf") return Int128(now.oracle_left(j)) * now.shape(j).total_milli();
    if (case_.order == "priority") return -now.priority(j);
    if (case_.order == "edf") return now.job(j).deadline;
    if (case_.order == "las") return now.attained(j) / (Int128(step_) * kMilli);
    if (case_.order == "rr") return turn_.count(j) ? turn_.at(j).first : 2 * now.now();
    // tiresias: first the queue, then who started first, then who did not start
    const Int128 second = now.attained(j) / kMilli / step_;
    return Int128(second < 1 ? 0 : second < 3 ? 1 : 2) * (Int128(1) << 80) + (first_.count(j) ? first_.at(j) : (Int128(1) << 70) + now.job(j).submit);
  }
  /// Time until the key takes its next step if the job computes; the next microsecond while it does not.
  Duration until_next(const View& now, JobId j) const {
    if (case_.order == "rr") return std::max<Duration>(1, step_ - (now.ran(j) - turn_.at(j).second));
    if (case_.order != "las" && case_.order != "tiresias" && case_.order != "gittins") return kNever - now.now();
    const int64_t milli = now.shape(j).total_milli();
    if (milli == 0) return kNever - now.now();
    const Int128 unit = Int128(step_) * kMilli, next = (now.attained(j) / unit + 1) * unit;
    return Duration((next - now.attained(j) + milli - 1) / milli);
  }
  void turns(const View& now, const Plan& plan, const std::vector<JobId>& waiting) {
    if (case_.order != "rr") return;
    for (const JobId j : waiting)
      if (!turn_.count(j)) turn_[j] = {2 * now.now(), 0};
    for (JobId j = plan.placed().first(); j != kNone; j = plan.placed().next(j + 1))
      if (now.ran(j) - turn_.at(j).second >= step_) turn_[j] = {2 * now.now() + 1, now.ran(j)};
  }
  bool serve(const View& now, Plan& plan, JobId j, std::vector<JobId>& gone) {
    const auto fits = [&] { return !placer_->find(now, plan, j).empty(); };
    const auto start = [&] { plan.start(j, placer_->find(now, plan, j)); };
    if (fits()) return start(), true;
    std::vector<JobId> later;
    for (JobId v = plan.placed().first(); v != kNone; v = plan.placed().next(v + 1))
      if (before(now, j, v)) later.push_back(v);
    std::sort(later.begin(), later.end(), [&](JobId a, JobId b) { return before(now, b, a); });
    const auto mark = plan.mark();
    std::vector<std::pair<JobId, std::vector<Piece>>> removed;
    for (const JobId v : later) {
      removed.push_back({v, {plan.at(v).begin(), plan.at(v).end()}});
      plan.preempt(v);
      if (fits()) break;
    }
    if (!fits()) return plan.rollback(mark), false;
    for (auto v = removed.rbegin(); v != removed.rend(); ++v) {
      plan.start(v->first, v->second);
      if (fits()) continue;
      plan.preempt(v->first);
      gone.push_back(v->first);
    }
    start();
    return true;
  }

  Case case_;
  Duration step_;
  std::unique_ptr<Placer> placer_;
  std::map<JobId, Time> first_;
  std::map<JobId, std::pair<int64_t, Duration>> turn_;  // rr: key of the turn, run time when it began
};

/// Starts, evictions and ends as text. Those of one instant are sorted: a what-if that is taken back may change their order, nothing else.
class Log final : public Observer {
 public:
  explicit Log(const Topology& t) : t_(t) {}
  void see(std::span<const Record> records) override {
    for (const Record& r : records)
      if (r.what == What::start || r.what == What::end || r.what == What::preempt || r.what == What::resize)
        lines.emplace_back(r.at, std::to_string(r.at) + " " + std::string(to_text(r.what)) + " j" + std::to_string(r.job) + " " + to_text(t_, r.pieces) + " " +
                std::string(to_text(r.state)) + "\n");
  }
  std::string text() {
    std::sort(lines.begin(), lines.end());
    std::string all;
    for (const auto& [at, line] : lines) all += line;
    return all;
  }
  std::vector<std::pair<Time, std::string>> lines;

 private:
  const Topology& t_;
};

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
  } catch (const NoProgress& e) { return log.text() + e.what(); }
  return log.text();
}

void compare(uint64_t seed) {
  Dice dice(seed);
  const std::vector<std::string> orders = {"srtf", "srsf", "priority", "edf", "las", "rr", "tiresias", "gittins"};
  Case c{orders[dice.below(uint32_t(orders.size()))], dice.one_in(4) ? "stop" : "skip", {}};
  const Topology t = random_topology(dice, 8, dice.one_in(8));
  Workload w = random_workload(dice, t, dice.from_to(1, 80), 8, 1);
  const bool only_gpus = dice.one_in(2);  // then evictions are counted, not tried
  for (Shape& s : w.shapes)
    for (TaskGroup& g : s.groups) {
      if (only_gpus) g.gpu_types.clear(), g.gpu_mem_mib = 0, g.per_task[kCpu] = g.per_task[kMem] = 0;
    }
  const bool no_zeros = dice.one_in(2);  // a job without length ends within the instant, but not within the round
  for (JobTruth& truth : w.truths)
    if (no_zeros) truth.work = std::max<Duration>(truth.work, 1);
  for (Job& j : w.jobs)
    if (!dice.one_in(3)) j.deadline = j.submit + dice.below(60);
  if (dice.one_in(2)) {
    w.costs.push_back({});
    w.costs.back().start_cost = dice.below(4), w.costs.back().restart_cost = dice.below(4);
    for (JobTruth& truth : w.truths) truth.costs = dice.below(2);
  }
  Duration step = dice.from_to(1, 9);
  if (c.order == "tiresias" || c.order == "gittins") {
    step = kSecond;  // limits and sizes are GPU-seconds
    for (Job& j : w.jobs) j.submit *= kSecond / 4, j.earliest_start *= kSecond / 4;
    for (JobTruth& truth : w.truths) truth.work *= kSecond / 4;
    if (c.order == "tiresias") c.parameters = {{"queue_limit", "1,3"}};
    else c.parameters = {{"sizes", "1,1,4,9"}};
  } else if (c.order == "las" || c.order == "rr") {
    c.parameters = {{"quantum", std::to_string(step) + "us"}};
  }
  std::vector<ScriptedEvent> events;
  for (uint32_t i = dice.below(6); i > 0; i--) {
    ScriptedEvent& e = events.emplace_back();
    e.at = dice.below(60);
    const uint32_t what = dice.below(3);
    e.kind = what == 0 ? ScriptedEvent::Kind::cancel : what == 1 ? ScriptedEvent::Kind::priority : ScriptedEvent::Kind::down;
    e.job = dice.below(uint32_t(w.jobs.size())), e.value = dice.below(6);
    if (what < 2) continue;
    e.node_begin = dice.below(t.nodes()), e.node_end = e.node_begin + 1;
    ScriptedEvent back = e;
    back.kind = ScriptedEvent::Kind::up, back.at += 1 + dice.below(20);
    events.push_back(back);
  }
  PolicyInput in{t, w, {}, seed};
  for (const auto& [name, value] : std::vector<std::pair<std::string, std::string>>{{"order", c.order}, {"blocked", c.blocked}, {"preempt", "order"}})
    in.parameters.set(name, Config::text(value));
  if (c.order == "srtf" || c.order == "srsf") in.parameters.set("estimate", Config::text("exact"));
  for (const auto& [name, value] : c.parameters) in.parameters.set(name, Config::text(value));
  PolicyInput tick{t, w, {}, seed};  // in rounds of a tick, which is every instant there is
  tick.parameters.set("round", Config::text("1us"));
  tick.parameters.set("policy", Config::text("list"));
  tick.parameters.set("parameters", in.parameters);
  std::unique_ptr<Policy> fast, rounds;
  for (const PolicyInfo& info : builtin_policies()) {
    if (info.name == "list") fast = info.make(in);
    if (info.name == "rounds" && step != kSecond && no_zeros) rounds = info.make(tick);
  }
  SlowPreempt slow(t, c, step);
  RC_LOG() << "order " << c.order << " blocked " << c.blocked << (only_gpus ? " only GPUs" : "") << " seed " << seed << "\n";
  const std::string ours = run(t, w, *fast, events);
  const auto agree = [&](std::string_view who, const std::string& theirs) {
    const size_t same = size_t(std::mismatch(ours.begin(), ours.end(), theirs.begin(), theirs.end()).first - ours.begin());
    const size_t from = same < 300 ? 0 : same - 300;
    if (same == ours.size() && same == theirs.size()) return;
    RC_LOG() << "ours ..." << ours.substr(from, 500) << "\n" << who << " ..." << theirs.substr(from, 500) << "\n";
    RC_FAIL("they part");
  };
  agree("twin", run(t, w, slow, events));
  if (rounds) agree("rounds", run(t, w, *rounds, events));
}

TEST(Preempt, AgreesWithATwinThatTriesEveryEviction) {
  const bool ok = rc::check("same starts, evictions and ends", [] {
    const uint64_t seed = *rc::gen::resize(1000, rc::gen::arbitrary<uint64_t>());
    for (uint64_t i = 0; i < 20; i++) compare(seed + i);
  });
  EXPECT_TRUE(ok);
}

}}  // namespace muster
