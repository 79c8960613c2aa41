// A job's life: progress, time, its end.
#include <algorithm>

#include "engine/engine.hpp"

namespace muster {

namespace {

/// Time to compute for `need` more ticks from `phase` on, checkpoints included; none is written at the very end.
Int128 with_checkpoints(Int128 need, Duration phase, const LifeCosts& c) {
  const Duration interval = c.checkpoint_interval;
  if (interval == 0 || interval == kNever || c.checkpoint_cost == 0 || need == 0) return need;
  Int128 writing = 0;
  if (phase >= interval) writing = interval + c.checkpoint_cost - phase, phase = 0;
  const Int128 rest = need - (interval - phase);
  return need + writing + (rest > 0 ? (rest + interval - 1) / interval * c.checkpoint_cost : 0);
}

}  // namespace

/// Brings time and progress up to now, at the speed that has held since the last change.
void Simulator::Engine::settle(JobId j) {
  Live& l = w.live[j];
  const Duration dt = w.now - l.since;
  l.since = w.now;
  if (dt == 0) return;
  const bool first = l.starts == 0;
  switch (l.state) {
    case State::queued:
    case State::claimed:
      if (w.drains(j)) w.rare_of(j).drain += dt;
      else first ? l.queue_first += dt : w.rare_of(j).requeue += dt;
      return;
    case State::starting:
      (l.starts > 1 ? w.rare_of(j).restart : w.rare_of(j).start_first) += dt;
      return;
    case State::draining:
      w.rare_of(j).drain += dt;
      return;
    case State::running: break;
    default: return;
  }
  const LifeCosts& c = w.costs(j);
  const int64_t rate = l.at.milli;
  const auto credit = [&](Duration t) { return l.speed == l.per ? t : Duration(Int128(t) * l.speed / l.per); };
  if (c.checkpoint_interval == 0) {  // every instant is safe
    if (l.left != kNever) l.left -= std::min(l.left, credit(dt));
    l.work += dt;
    l.computed += Int128(dt) * rate;
    return;
  }
  Rare& r = w.rare_of(j);
  const bool cycles = c.checkpoint_interval != kNever;
  const Duration to = r.phase + dt;
  const Duration computed = cycles ? computing(to, c.checkpoint_interval, c.checkpoint_cost) - computing(r.phase, c.checkpoint_interval, c.checkpoint_cost) : dt;
  const Duration done = l.left == kNever ? credit(computed) : std::min(l.left, credit(computed));
  if (l.left != kNever) l.left -= done;
  l.computed += Int128(computed) * rate;
  const Duration cycle = cycles ? c.checkpoint_interval + c.checkpoint_cost : 0;
  if (!cycles || to < cycle) {
    r.risk_run += computed, r.risk_write += dt - computed, r.risk_work += done, r.risk_computed += Int128(computed) * rate;
    r.phase = cycles ? to : 0;
    return;
  }
  r.phase = to % cycle;
  const Duration run = std::min(r.phase, c.checkpoint_interval), write = r.phase - run;
  l.work += r.risk_run + computed - run;
  r.checkpoint += r.risk_write + (dt - computed) - write;
  r.risk_run = run, r.risk_write = write, r.risk_work = std::min(done, credit(run)), r.risk_computed = Int128(run) * rate;
}

/// It computes from now on, or on other devices than before.
void Simulator::Engine::forecast(JobId j) {
  Live& l = w.live[j];
  if (options.model) options.model->computes(j, PieceStore::pieces(l.at), disturbed);
  set_speed(j);
  arm_end(j);
}

/// Asks the model; whether the speed is another one than before.
bool Simulator::Engine::set_speed(JobId j) {
  Live& l = w.live[j];
  const Pieces at = PieceStore::pieces(l.at);
  const Speed s = options.model ? options.model->speed(j, at, w.cluster) : Speed{};
  const int64_t speed = w.shape(j).fixed ? s.work : int64_t{s.work} * tasks_of(at);  // work of an elastic job: task-microseconds
  if (speed == l.speed && s.time == l.per) return false;
  settle(j);  // time up to now passed at the old one
  l.speed = speed, l.per = s.time;
  return true;
}

void Simulator::Engine::stops_computing(JobId j) {
  if (options.model && w.live[j].state == State::running) options.model->computes(j, {}, disturbed);
}

/// Arms the timer of its end, or of its time limit if that comes first.
void Simulator::Engine::arm_end(JobId j) {
  Live& l = w.live[j];
  const Job& job = w.job(j);
  const int64_t speed = l.speed;
  l.timer = 0;
  Time due = kNever;
  if (speed > 0 && l.left != kNever) {
    const Int128 need = speed == l.per ? Int128(l.left) : (Int128(l.left) * l.per + speed - 1) / speed;
    const Int128 at_end = w.now + with_checkpoints(need, l.rare == kNone ? 0 : w.rare[l.rare].phase, w.costs(j));
    if (at_end < kNever) due = Time(at_end);
  }
  Rank rank = Rank::finish;
  if (job.time_limit != kNever) {
    const Int128 limit = Int128(w.now) + std::max<Duration>(0, job.time_limit - view.ran(j));
    if (limit < due) due = Time(limit), rank = Rank::limit;
  }
  if (due != kNever) l.timer = arm(due, rank, j);
}

/// Counts its devices as held, or no longer. Returns the change in milli-GPUs.
int64_t Simulator::Engine::count(JobId j, bool on) {
  Live& l = w.live[j];
  if (l.counted == on) return 0;
  l.counted = on;
  return (on ? 1 : -1) * l.at.milli;
}

TimeParts Simulator::Engine::parts(JobId j) const {
  const Live& l = w.live[j];
  TimeParts t;
  t.queue_first = l.queue_first, t.work = l.work;
  if (l.rare != kNone) {
    const Rare& r = w.rare[l.rare];
    t.requeue = r.requeue, t.start_first = r.start_first, t.checkpoint = r.checkpoint, t.drain = r.drain, t.restart = r.restart, t.lost = r.lost;
  }
  return t;
}

/// The job leaves for good, whatever it holds, drains or waits for.
void Simulator::Engine::end(JobId j, State s, Reason reason) {
  Live& l = w.live[j];
  settle(j);
  stops_computing(j);
  if (s == State::done || s == State::unfinished || s == State::failed) keep_risk(j);
  const bool waited = l.state == State::queued || l.state == State::claimed;
  int64_t held = count(j, false);
  const Held at = l.at;
  const Pieces old = PieceStore::pieces(at);
  const Shape& shape = w.shape(j);
  for (const Piece& p : old) w.cluster.give(j, shape, p);
  w.usage[w.job(j).tenant] -= at.milli;
  if (l.state == State::claimed) std::erase(claimed, j);
  if (l.state == State::running || l.state == State::starting || l.state == State::draining) busy--;
  w.placed.erase(j), w.queue.erase(j);
  Duration lost = 0;
  Int128 lost_gpu = 0;
  if (l.rare != kNone) {  // what no checkpoint holds of a job that was killed
    Rare& r = w.rare[l.rare];
    lost = r.risk_run + r.risk_write, lost_gpu = r.risk_computed;
    r.lost += lost;
    r.risk_run = r.risk_write = r.risk_work = 0, r.risk_computed = 0;
  }
  l.state = s, l.timer = 0, l.at.count = 0, l.at.milli = 0;
  while (w.drains(j)) {
    const uint32_t d = drain_head[j];
    held -= drains[d].held.milli;
    if (drains[d].held.count > 1) doomed.push_back(drains[d].held);
    close_drain(d);
  }
  disturb(j, old);
  if (!at.count && s != State::done) l.reason = reason;
  if (!observers.empty()) {
    Record& r = record(What::end, j, at);
    r.reason = reason, r.held += held, r.waiting = waited ? -1 : 0, r.computed = l.computed, r.lost = lost_gpu, r.lost_time = lost;
    r.time = times.put(parts(j));
  }
  // The policy's own doing is no news to it.
  if (s != State::rejected && s != State::dropped) happened(What::end, j, at);
  else if (at.count > 1) doomed.push_back(at);
  left--;
  devices_back = true;
}

/// Notes who shares a GPU with these pieces; reforecast() looks at them, and at those the model named, once the instant is over.
void Simulator::Engine::disturb(JobId j, Pieces p) {
  if (!options.model) return;
  for (const Piece& q : p)
    if (q.share != Share::whole)
      for (JobId k : w.cluster.shared(w.cluster.gpu_of(q))->jobs)
        if (k != j) disturbed.push_back(k);
}

void Simulator::Engine::reforecast() {
  std::sort(disturbed.begin(), disturbed.end());
  disturbed.erase(std::unique(disturbed.begin(), disturbed.end()), disturbed.end());
  for (JobId j : disturbed) {
    Live& l = w.live[j];
    if (l.state != State::running) continue;
    if (!set_speed(j)) continue;
    arm_end(j);
    const int64_t speed = speed_ppm(l);
    w.events.push_back({What::speed, j, w.now, {}, speed});  // worth no pass of its own
    if (!observers.empty()) record(What::speed, j, l.at).speed = speed;
  }
  disturbed.clear();
}

}  // namespace muster
