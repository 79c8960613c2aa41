// The loop: all that happens at one instant, in its written order, then one pass.
#include <algorithm>

#include "engine/engine.hpp"
#include "muster/config.hpp"
#include "muster/fits.hpp"

namespace muster {

namespace {

constexpr uint64_t kIdlePasses = 1000;  // passes in a row that change nothing while only alarms are ahead
constexpr size_t kBatch = 256;         // records handed over at once
constexpr size_t kNamedJobs = 20;       // of those that wait without hope

Rank rank_of(ScriptedEvent::Kind k) {
  switch (k) {
    case ScriptedEvent::Kind::down: return Rank::fault;
    case ScriptedEvent::Kind::up: return Rank::repair;
    case ScriptedEvent::Kind::cancel: return Rank::cancel;
    default: return Rank::scripted;
  }
}

}  // namespace

Simulator::Engine::Engine(const Topology& t, const Workload& work, Policy& p, RunOptions o)
    : w(t, work), policy(p), options(std::move(o)), plan(w), view(w), fits(work.shapes.size()), left(work.jobs.size()) {
  records.reserve(2 * kBatch);
  w.oracle = options.oracle, w.model = options.model;
  for (JobId j = 0; j < work.jobs.size(); j++) {
    Duration units = work.truths[j].work;
    if (units != kNever && !w.shape(j).fixed) {  // work of an elastic job is counted in task-microseconds
      Int128 tasks = 0;
      for (const TaskGroup& g : w.shape(j).groups) tasks += g.max_tasks;
      const Int128 all = tasks * units;
      units = all >= kNever ? kNever - 1 : Duration(all);
    }
    w.live[j].left = units;
  }
  options.header.topology = &t, options.header.workload = &work, options.header.until = options.until;
  std::vector<uint8_t> seen(t.nodes());
  std::vector<uint32_t> order(options.events.size());
  for (uint32_t i = 0; i < order.size(); i++) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return options.events[a].at < options.events[b].at; });
  for (const uint32_t i : order) {
    const ScriptedEvent& e = options.events[i];
    timers.push(e.at, rank_of(e.kind), i);
    scripted_left++;
    if (e.kind != ScriptedEvent::Kind::add && e.kind != ScriptedEvent::Kind::remove) continue;
    for (NodeId n = e.node_begin; n < e.node_end; n++)  // a node that is first added is not there before
      if (!seen[n]) seen[n] = 1, e.kind == ScriptedEvent::Kind::add ? w.cluster.set_removed(n, true) : void();
  }
}

/// Where the subject of a timer keeps the number of the last one it armed; null: a timer that is never stale.
uint32_t* Simulator::Engine::armed(const Timer& t) {
  switch (t.rank()) {
    case Rank::finish:
    case Rank::limit:
    case Rank::ready: return &w.live[t.subject()].timer;
    case Rank::drained: return &drains[t.subject()].timer;
    case Rank::wake: return &wake_timer;
    default: return nullptr;
  }
}

uint32_t Simulator::Engine::arm(Time at, Rank rank, uint32_t subject) {
  if (timers.full()) timers.renumber([&](const Timer& t) { return armed(t); });
  return timers.push(at, rank, subject);
}

/// Stale timers must not make an instant of their own: a run would seem to end, or to be stuck, later than it does.
void Simulator::Engine::drop_stale() {
  while (!timers.empty()) {
    const uint32_t* seq = armed(timers.top());
    if (!seq || *seq == timers.top().seq()) return;
    timers.pop();
  }
}

void Simulator::Engine::run() {
  for (Observer* o : observers) o->begin(options.header);
  const auto& jobs = w.workload.jobs;
  const size_t n = jobs.size();
  if (w.cluster.installed() != int64_t(w.topology.gpus()) && !observers.empty())
    absent();
  while (left) {
    Time t = next_submit < n ? jobs[next_submit].submit : kNever;
    drop_stale();
    if (!timers.empty()) t = std::min(t, timers.top().at);
    if (t > options.until) {
      stop_at_until();
      break;
    }
    if (t == kNever) deliver(true), no_progress();
    w.now = t;
    instants++;
    while (!timers.empty() && timers.top().at == t && timers.top().rank() < Rank::wake) fire(timers.pop());
    for (; next_submit < n && jobs[next_submit].submit == t; next_submit++) submit(JobId(next_submit));
    while (!timers.empty() && timers.top().at == t) fire(timers.pop());
    if (devices_back) begin_claimed();
    if (deserves_pass) pass();
    if (!disturbed.empty()) reforecast();
    deliver(false);
  }
  deliver(true);
  for (Observer* o : observers) o->finish(w.now);
}

void Simulator::Engine::submit(JobId j) {
  Live& l = w.live[j];
  const bool cancelled = l.leaving;
  l.leaving = false;
  l.state = State::queued;
  l.since = w.now;
  w.queue.insert(j);
  if (!observers.empty()) record(What::submit, j).waiting = 1;
  if (!w.priorities.empty() && w.priorities[j] != w.job(j).priority) tell_priority(j);
  if (cancelled) return end(j, State::cancelled);
  uint8_t& fit = fits[w.job(j).shape];
  if (!fit) fit = uint8_t(1 + int(never_fits(w.shape(j), w.topology)));
  if (fit > 1) return end(j, State::rejected, Reason(fit - 1));
  happened(What::submit, j);
}

void Simulator::Engine::tell_priority(JobId j) {
  if (observers.empty()) return;
  Record& r = record(What::priority, j);
  note_fields.push_back({{"priority", w.priorities[j], {}}});
  r.fields = note_fields.back();
}

void Simulator::Engine::happened(What what, JobId j, const Held& held, int64_t value) {
  Pieces at = PieceStore::pieces(held);
  if (held.count == 1) at = {heard_pieces.put(held.one), 1};
  if (held.count > 1) heard.push_back(held);
  w.events.push_back({what, j, w.now, at, value});
  deserves_pass |= first_event || (w.listens & bit(what));
}

Record& Simulator::Engine::record(What what, JobId j, const Held& at) {
  static const Record kBlank;  // copied: g++ clears a fresh one with a string instruction, which is slow at this size
  records.push_back(kBlank);
  Record& r = records.back();
  r.at = w.now, r.what = what, r.job = j, r.held = owed_held;
  owed_held = 0;
  if (j != kNone) r.state = w.live[j].state, r.reason = w.live[j].reason;
  // One piece lies in a row that may change before the records are delivered; a block of the store stays until then.
  r.pieces = at.count == 1 ? Pieces(pieces.put(at.one), 1) : PieceStore::pieces(at);
  return r;
}

/// Records are handed over in batches of some instants: what a record points to is kept until then.
void Simulator::Engine::deliver(bool all) {
  if (!all && records.size() < kBatch && doomed.size() < kBatch) return;
  if (!records.empty()) {
    for (Observer* o : observers) o->see(records);
    records.clear();
    pieces.clear(), times.clear();
  }
  told.clear(), note_fields.clear();
  for (const Held& h : doomed) w.store.release(h);
  doomed.clear();
}

void Simulator::Engine::fire(const Timer& t) {
  const uint32_t id = t.subject();
  if (!timers.empty() && timers.top().rank() <= Rank::ready) {  // the next one's rows are on their way while this one is handled
    const uint32_t next = std::min<uint32_t>(timers.top().subject(), uint32_t(w.live.size() - 1));
    __builtin_prefetch(&w.live[next]), __builtin_prefetch(reinterpret_cast<const char*>(&w.live[next]) + 64);
    __builtin_prefetch(&w.workload.jobs[next]), __builtin_prefetch(&w.workload.truths[next]);
  }
  switch (t.rank()) {
    case Rank::finish:
      if (w.live[id].timer != t.seq()) break;
      switch (w.workload.truths[id].fate) {
        case Fate::done: end(id, State::done); break;
        case Fate::failed: end(id, State::failed); break;
        case Fate::cancelled: end(id, State::cancelled); break;
      }
      break;
    case Rank::limit:
      if (w.live[id].timer == t.seq()) end(id, State::timed_out);
      break;
    case Rank::ready: {
      Live& l = w.live[id];
      if (l.timer != t.seq()) break;
      settle(id);
      l.state = State::running, l.began = w.now;
      forecast(id);
      happened(What::run, id);
      if (!observers.empty()) record(What::run, id, l.at).speed = speed_ppm(l);
      break;
    }
    case Rank::drained:
      if (drains[id].open && drains[id].timer == t.seq()) drained(id);
      break;
    case Rank::gave_back: give_back(asked[id].job, asked[id].tasks); break;
    case Rank::wake:
      if (t.seq() != wake_timer) break;
      wake = kNever;
      happened(What::wake, kNone);
      break;
    case Rank::repair:
    case Rank::fault:
    case Rank::cancel:
    case Rank::scripted: scripted(id); break;
  }
}

void Simulator::Engine::scripted(uint32_t id) {
  const ScriptedEvent& e = options.events[id];
  scripted_left--;
  using Kind = ScriptedEvent::Kind;
  const bool nodes = e.node_begin < e.node_end;
  const NodeId from = nodes ? e.node_begin : e.gpu_begin < e.gpu_end ? w.topology.node_of(e.gpu_begin) : 0;
  const NodeId to = nodes ? e.node_end : from + 1;
  switch (e.kind) {
    case Kind::down:
      for (NodeId n = from; n < to; n++) {
        const GpuId first = w.topology.first_gpu(n);
        nodes ? break_gpus(n, first, first + w.topology.gpus_of(n), true) : break_gpus(n, e.gpu_begin, e.gpu_end, false);
      }
      break;
    case Kind::up:
      for (NodeId n = from; n < to; n++) {
        const GpuId first = w.topology.first_gpu(n);
        const GpuId begin = nodes ? first : e.gpu_begin, end = nodes ? first + w.topology.gpus_of(n) : e.gpu_end;
        if (nodes) w.cluster.set_down(n, false);
        std::vector<Piece> back;
        for (unsigned word = 0; word < w.cluster.words(n); word++) {
          uint64_t mask = 0;
          for (GpuId g = std::max(begin, first + word * 64); g < std::min(end, first + word * 64 + 64); g++) mask |= uint64_t{1} << ((g - first) & 63);
          w.cluster.set_bad(n, word, w.cluster.bad(n, word) & ~mask);
          if (mask || word == 0) back.push_back(Piece::whole(n, 0, mask, uint8_t(word)));
        }
        const Held held = w.store.keep(back);
        if (!observers.empty()) record(What::repair, kNone, held);
        happened(What::repair, n, held);
      }
      devices_back = true;
      break;
    case Kind::drain:
      for (NodeId n = from; n < to; n++) drain_node(n, e.value);
      break;
    case Kind::undrain:
      for (NodeId n = from; n < to; n++) {
        w.cluster.set_cordoned(n, false);
        const Held held = all_of(n);
        if (!observers.empty()) record(What::uncordon, kNone, held);
        happened(What::uncordon, n, held);
      }
      break;
    case Kind::add:
    case Kind::remove:
      for (NodeId n = from; n < to; n++) set_installed(n, e.kind == Kind::add);
      break;
    case Kind::quota:
      happened(What::quota, e.queue, {}, e.value);
      if (!observers.empty()) {
        Record& r = record(What::quota, kNone);
        note_fields.push_back({{"gpus", e.value, {}}});
        r.kind = w.workload.queues[e.queue], r.fields = note_fields.back();
      }
      break;
    case Kind::priority:
      if (w.priorities.empty())
        for (const Job& j : w.workload.jobs) w.priorities.push_back(j.priority);
      w.priorities[e.job] = int32_t(e.value);
      if (w.live[e.job].state == State::future || ended(w.live[e.job].state)) break;  // told when it comes, or too late
      happened(What::priority, e.job, {}, e.value);
      tell_priority(e.job);
      break;
    case Kind::cancel:
      if (w.live[e.job].state == State::future) w.live[e.job].leaving = true;  // leaves as it comes
      else if (!ended(w.live[e.job].state)) end(e.job, State::cancelled);
      break;
  }
}

void Simulator::Engine::pass() {
  passes++;
  changed = first_event = false;
  deserves_pass = false;
  if (!w.parts.empty()) {
    for (auto& part : w.parts)
      if (part.wake <= w.now) part.wake = kNever;
    w.hand_out_events();
  }
  const Plan::Mark start = plan.mark();
  try {
    if (before) before->schedule(view, plan);
    policy.schedule(view, plan);
  } catch (const ContractError& e) {
    plan.rollback(start);
    throw ContractError("policy " + options.header.policy + " broke its contract at " + format_duration(w.now) + ": " + e.what());
  }
  doomed.insert(doomed.end(), heard.begin(), heard.end());
  w.events.clear(), heard.clear(), heard_pieces.clear();
  if (!w.edits.empty()) apply();
  for (const World::Ask& a : w.asks) {
    asked.push_back(a);
    if (const Duration d = w.costs(a.job).gives_back_after; d != kNever) arm(w.now + d, Rank::gave_back, uint32_t(asked.size() - 1));
  }
  for (const World::Why& y : w.whys) {
    if (!w.queue.contains(y.job) || w.live[y.job].reason == y.reason) continue;
    w.live[y.job].reason = y.reason;
    if (!observers.empty()) record(What::waits, y.job);
  }
  if (!observers.empty()) {
    for (World::Note& note : w.notes) {
      const World::Note& n = told.emplace_back(std::move(note));
      auto& fields = note_fields.emplace_back();
      for (const auto& [name, value] : n.fields) fields.push_back({name, value.first, value.second});
      Record& r = record(What::note, kNone);
      r.kind = n.kind, r.fields = fields;
    }
  }
  w.asks.clear(), w.whys.clear(), w.notes.clear();
  for (const auto& part : w.parts) w.wake = std::min(w.wake, part.wake);  // an alarm each; the engine rings for the earliest
  if (w.wake < wake) {
    wake = w.wake;
    wake_timer = arm(wake, Rank::wake, 0);
  }
  w.wake = kNever;
#ifdef NDEBUG
  if (options.check) check();
#else
  check();
#endif
  const bool hopeless = !changed && busy == 0 && next_submit == w.workload.jobs.size() && scripted_left == 0;
  idle_passes = hopeless ? idle_passes + 1 : 0;
  if (idle_passes >= kIdlePasses) deliver(true), no_progress();
}

void Simulator::Engine::stop_at_until() {
  w.now = options.until;
  for (JobId j = 0; j < next_submit; j++)
    if (!ended(w.live[j].state)) end(j, State::unfinished);
}

void Simulator::Engine::no_progress() const {
  std::string jobs;
  size_t waiting = 0, open = 0;
  for (JobId j = 0; j < w.live.size(); j++) {
    const Live& l = w.live[j];
    if (l.state == State::future || ended(l.state)) continue;
    if (l.state == State::running) {
      open++;
      continue;
    }
    if (waiting++ >= kNamedJobs) continue;
    uint64_t most = 0;
    for (const TaskGroup& g : w.shape(j).groups) most += g.max_tasks;
    const unsigned has = tasks_of(PieceStore::pieces(l.at));
    jobs += "\n  job " + w.name(j) + "  " + std::to_string(most) + (most == 1 ? " task waits" : " tasks wait");
    if (has) jobs += ": holds " + std::to_string(has) + ", wants " + std::to_string(most - std::min<uint64_t>(has, most)) + " more";
    else if (l.reason != Reason::none) jobs += ": " + std::string(to_text(l.reason));
  }
  if (waiting > kNamedJobs) jobs += "\n  and " + std::to_string(waiting - kNamedJobs) + " more";
  std::string text = "no progress at " + format_duration(w.now) + ": " + std::to_string(waiting) + (waiting == 1 ? " job waits" : " jobs wait");
  text += open ? ", " + std::to_string(open) + (open == 1 ? " runs" : " run") + " without an end, nothing is due" : ", nothing runs, nothing is due";
  throw NoProgress(text + jobs);
}

// ---- Simulator

Simulator::Simulator(const Topology& t, const Workload& w, Policy& policy, RunOptions options) : engine_(std::make_unique<Engine>(t, w, policy, std::move(options))) {}
Simulator::~Simulator() = default;
void Simulator::observe(Observer& o) { engine_->observers.push_back(&o); }
void Simulator::run() { engine_->run(); }
uint64_t Simulator::passes() const { return engine_->passes; }
uint64_t Simulator::instants() const { return engine_->instants; }
std::string Simulator::state_text() const { return engine_->state_text(); }
void Simulator::before_pass(Policy* p) { engine_->before = p; }
void Simulator::renumber_timers_at(uint32_t n) { engine_->timers.set_limit(n); }

}  // namespace muster
