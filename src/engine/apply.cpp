// The difference between the state and the plan, applied: give back, then take.
#include <algorithm>

#include "engine/engine.hpp"

namespace muster {

/// The undo log is the difference: its first entry for a job holds the placement before the pass.
void Simulator::Engine::apply() {
  auto& edits = w.edits;
  if (edits.size() == 1 && edits[0].kind == Edit::place && !edits[0].old.count && !edits[0].drained.count) {  // most passes
    changed = true;
    change(edits[0]);
    edits.clear();
    return;
  }
  first_edits.clear();
  for (uint32_t i = 0; i < edits.size(); i++) {
    Edit& e = edits[i];
    if (e.kind == Edit::part) continue;
    if (e.kind != Edit::place) {
      first_edits.push_back(i);
      continue;
    }
    Live& l = w.live[e.job];
    if (l.first_edit == i) {
      first_edits.push_back(i);
      continue;
    }
    // A later edit of a job: what drains is what it held before the pass and does not hold now.
    Edit& first = edits[l.first_edit];
    const Shape& s = w.shape(e.job);
    for (const Piece& p : PieceStore::pieces(first.drained)) w.cluster.drain(s, p, false);
    w.store.release(first.drained);
    first.drained = {};
    if (e.old.count > 1) doomed.push_back(e.old);
    first.grace = std::max(first.grace, e.grace);
    first.again |= e.again;
    if (first.grace > 0 && (first.state == State::running || first.state == State::starting)) {
      first.drained = w.store.keep(minus(PieceStore::pieces(first.old), PieceStore::pieces(l.at)));
      for (const Piece& p : PieceStore::pieces(first.drained)) w.cluster.drain(s, p, true);
      if (!l.at.count && first.drained.count) w.queue.erase(e.job);
      if (!l.at.count && !first.drained.count && !l.leaving) w.queue.insert(e.job);
    }
  }
  // Cut anew, give back, move and grow, start, leave: no more is held in between than before or after.
  for (int round = 0; round < 5; round++)
    for (const uint32_t i : first_edits) {
      Edit& e = edits[i];
      int when = 1;
      if (e.kind == Edit::reshape) when = 0;
      else if (e.kind == Edit::end) when = 4;
      else if (!e.old.count) when = 3;
      else if (w.live[e.job].at.count && w.live[e.job].at.milli >= e.old.milli) when = 2;
      if (when == round) change(e);
    }
  edits.clear();
}

void Simulator::Engine::change(Edit& e) {
  const JobId j = e.job;
  if (e.kind == Edit::reshape) {
    if (e.old_geometry == e.new_geometry) return;
    changed = true;
    const NodeId n = w.topology.node_of(j);
    const Piece all = Piece::part(Share::mig, n, j - w.topology.first_gpu(n), 0, 8, 0);
    w.cluster.drain({}, all, true);
    const Held held = w.store.keep({&all, 1});
    open_drain(kNone, held, options.repartition_time, j);
    if (!observers.empty()) record(What::reshape, kNone, held);
    return;
  }
  Live& l = w.live[j];
  if (e.kind == Edit::end) {
    l.leaving = false;
    changed = true;
    w.queue.insert(j);
    end(j, e.becomes, e.reason);
    return;
  }
  const Pieces old = PieceStore::pieces(e.old), now = PieceStore::pieces(l.at);
  const State was = l.state;
  if (e.old.count > 1) doomed.push_back(e.old);
  if (!e.again && std::equal(old.begin(), old.end(), now.begin(), now.end())) return;
  changed = true;
  const Held next = l.at;
  l.at = e.old;  // time and progress up to now belong to what it held
  settle(j);
  stops_computing(j);
  int64_t held = count(j, false);
  l.at = next;
  if (was == State::claimed) std::erase(claimed, j);
  disturb(j, old);
  const bool ran = was == State::running || was == State::starting;
  const int64_t drained = e.drained.milli;

  if (now.empty()) {
    if (ran) busy--, l.preemptions++, set_back(j, e.old);
    if (e.drained.count) keep_risk(j);  // notice: it has time to save
    Duration lost_before = 0;
    Int128 lost_gpu = 0;
    if (l.rare != kNone) lost_before = w.rare[l.rare].risk_run + w.rare[l.rare].risk_write, lost_gpu = w.rare[l.rare].risk_computed;
    l.timer = 0;
    if (e.drained.count) {
      l.state = State::draining;
      busy++;
      w.queue.erase(j);
      open_drain(j, e.drained, e.grace);
    } else if (ran) {
      to_queue(j, true);
    } else if (was == State::claimed) {
      l.state = w.drains(j) ? State::draining : State::queued;
      if (l.state == State::draining) busy++, w.queue.erase(j);
    }
    if (!observers.empty()) {
      Record& r = record(What::preempt, j, e.old);
      r.held += held + (e.drained.count ? drained : 0), r.waiting = int(l.state == State::queued) - int(was == State::claimed || was == State::queued);
      r.grace = e.drained.count ? e.grace : 0;
      if (ran && !e.drained.count) r.lost_time = lost_before, r.lost = lost_gpu;
    }
    devices_back = true;
    return;
  }

  if (was == State::draining) {
    busy--;  // begins or claims below
    l.state = State::queued;
    bool all = false;
    for (uint32_t d = drain_head.empty() ? kNone : drain_head[j]; d != kNone; d = drains[d].next)
      if (covers(now, PieceStore::pieces(drains[d].held))) all = true;
    if (all) {  // wanted again on what drains: the notice is withdrawn
      withdraw_notice(j);
      if (!w.drains(j) && !waits(j) && w.has_minimum(j)) {
        l.state = State::running, l.began = w.now;
        busy++;
        forecast(j);
        owed_held += count(j, true);
        if (!observers.empty()) record(What::run, j, l.at).speed = speed_ppm(l);
        return;
      }
    }
    return claim_or_begin(j, false);
  }
  if (!ran) {
    owed_held += held;  // of a gang in part, which held its devices
    return claim_or_begin(j);
  }

  // moved, grown or shrunk
  const bool keeps = covers(now, old) || covers(old, now);
  if (e.drained.count) open_drain(j, e.drained, e.grace);
  if (keeps && !e.again && was == State::running && !w.shape(j).fixed && w.has_minimum(j)) {
    bool wait = false;
    for (const Piece& p : now) wait |= w.cluster.waits(w.shape(j), p);
    if (!wait) {  // an elastic job grows and shrinks hot
      held += count(j, true);
      forecast(j);
      if (!observers.empty()) {
        Record& r = record(What::resize, j, l.at);
        r.held += held + drained, r.grace = e.drained.count ? e.grace : 0, r.speed = speed_ppm(l);
      }
      devices_back = true;
      return;
    }
  }
  busy--;
  set_back(j, e.old);
  Duration lost = 0;
  Int128 lost_gpu = 0;
  if (e.drained.count) keep_risk(j);
  if (l.rare != kNone) lost = w.rare[l.rare].risk_run + w.rare[l.rare].risk_write, lost_gpu = w.rare[l.rare].risk_computed;
  lose_risk(j);
  l.state = State::queued;  // for the moment: it begins or claims at once
  l.timer = 0;
  if (!observers.empty()) {
    Record& r = record(What::resize, j, l.at);
    r.held += held + drained, r.waiting = 1, r.grace = e.drained.count ? e.grace : 0, r.lost_time = lost, r.lost = lost_gpu;
  }
  devices_back = true;
  claim_or_begin(j);
}

void Simulator::Engine::begin(JobId j, bool waited) {
  Live& l = w.live[j];
  const Pieces at = PieceStore::pieces(l.at);
  const LifeCosts& c = w.costs(j);
  const bool first = l.starts == 0;
  Duration cost = first ? c.start_cost : c.restart_cost;
  if (options.model) cost += options.model->start_up(j, at, first);
  if (l.starts != UINT16_MAX) l.starts++;
  l.reason = Reason::none;
  busy++;
  const int64_t held = count(j, true);
  if (l.rare != kNone) w.rare[l.rare].phase = 0;
  if (cost) {
    l.state = State::starting;
    l.timer = arm(w.now + cost, Rank::ready, j);
  } else {
    l.state = State::running, l.began = w.now;
    forecast(j);
  }
  disturb(j, at);
  if (observers.empty()) return;
  Record& r = record(What::start, j, l.at);
  r.held += held, r.waiting = -int(waited), r.speed = cost ? 0 : speed_ppm(l);
}

/// Devices of its placement that still drain for somebody, or a drain of its own: then it must wait.
bool Simulator::Engine::waits(JobId j) const {
  if (w.drains(j)) return true;
  for (const Piece& p : PieceStore::pieces(w.live[j].at))
    if (w.cluster.waits(w.shape(j), p)) return true;
  return false;
}

/// `waited`: it was among the waiting jobs before; one that drained was not.
void Simulator::Engine::claim_or_begin(JobId j, bool waited) {
  const bool wait = waits(j);
  if (!wait && w.has_minimum(j)) return begin(j, waited);
  Live& l = w.live[j];
  l.state = State::claimed;
  l.timer = 0;
  claimed.push_back(j);
  const int64_t held = wait ? 0 : count(j, true);  // a partial gang holds its devices; what drains is still its last holder's
  if (observers.empty()) return;
  Record& r = record(What::claim, j, l.at);
  r.held += held, r.waiting = int(!waited);
}

void Simulator::Engine::begin_claimed() {
  devices_back = false;
  if (claimed.empty()) return;
  const std::vector<JobId> before(claimed);
  for (const JobId j : before) {
    if (w.live[j].state != State::claimed || waits(j)) continue;
    if (!w.has_minimum(j)) {
      if (const int64_t held = count(j, true); held && !observers.empty()) record(What::claim, j, w.live[j].at).held += held;
      continue;
    }
    settle(j);
    std::erase(claimed, j);
    begin(j);
    happened(What::start, j, w.live[j].at);
  }
}

/// What the model takes of a job that is stopped is at risk from here on: a notice saves it.
void Simulator::Engine::set_back(JobId j, const Held& at) {
  const Duration back = w.setback(j, PieceStore::pieces(at));
  if (back == 0) return;
  Live& l = w.live[j];
  Rare& r = w.rare_of(j);
  const Duration run = std::min(back - std::min(back, r.risk_run), l.work);
  const Duration work = Duration(Int128(run) * l.speed / l.per);
  l.work -= run;
  r.risk_run += run, r.risk_work += work, r.risk_computed += Int128(run) * at.milli;
}

/// The work at risk is safe: a notice gave time to save it, or the job is over.
void Simulator::Engine::keep_risk(JobId j) {
  Live& l = w.live[j];
  if (l.rare == kNone) return;
  Rare& r = w.rare[l.rare];
  l.work += r.risk_run, r.checkpoint += r.risk_write;
  r.risk_run = r.risk_write = r.risk_work = 0, r.risk_computed = 0, r.phase = 0;
}

/// The work since the last checkpoint is gone: its run time is re-labelled, its work is still to do.
void Simulator::Engine::lose_risk(JobId j) {
  Live& l = w.live[j];
  if (l.rare == kNone) return;
  Rare& r = w.rare[l.rare];
  r.lost += r.risk_run + r.risk_write;
  if (l.left != kNever) l.left += r.risk_work;
  r.risk_run = r.risk_write = r.risk_work = 0, r.risk_computed = 0, r.phase = 0;
}

/// A running, starting or draining job goes back to the queue; without notice it loses what no checkpoint holds.
void Simulator::Engine::to_queue(JobId j, bool lose) {
  lose ? lose_risk(j) : keep_risk(j);
  Live& l = w.live[j];
  l.timer = 0;
  l.state = State::queued;
  w.queue.insert(j);
}

void Simulator::Engine::open_drain(JobId j, const Held& held, Duration grace, GpuId gpu) {
  uint32_t d = uint32_t(drains.size());
  if (free_drains.empty()) drains.emplace_back();
  else d = free_drains.back(), free_drains.pop_back();
  const Duration until = j == kNone ? grace : std::min(grace, w.costs(j).gives_back_after);
  drains[d] = {j, gpu, 0, kNone, true, held};
  drains[d].timer = arm(until < kNever - w.now ? w.now + until : kNever, Rank::drained, d);
  if (j == kNone) return;
  if (drain_head.empty()) drain_head.assign(w.live.size(), kNone);
  drains[d].next = drain_head[j];
  drain_head[j] = d;
  w.rare_of(j).drains++;
}

/// Takes a drain out of the lists and frees its devices; the caller accounts for it and for its pieces.
void Simulator::Engine::close_drain(uint32_t d) {
  Drain& x = drains[d];
  static const Shape nothing{};
  const Shape& s = x.job == kNone ? nothing : w.shape(x.job);
  for (const Piece& p : PieceStore::pieces(x.held)) w.cluster.drain(s, p, false);
  x.open = false, x.timer = 0;
  free_drains.push_back(d);
  devices_back = true;
  if (x.job == kNone) return;
  uint32_t* at = &drain_head[x.job];
  while (*at != d) at = &drains[*at].next;
  *at = x.next;
  w.rare[w.live[x.job].rare].drains--;
}

/// Drains whose devices the job wants again end without being given back.
void Simulator::Engine::withdraw_notice(JobId j) {
  const Pieces now = PieceStore::pieces(w.live[j].at);
  for (uint32_t d = drain_head[j], next; d != kNone; d = next) {
    next = drains[d].next;
    if (!covers(now, PieceStore::pieces(drains[d].held))) continue;
    owed_held -= drains[d].held.milli;
    if (drains[d].held.count > 1) doomed.push_back(drains[d].held);
    close_drain(d);
  }
}

/// An edit by the engine itself (a notice for maintenance, an application that gives back), applied at once.
void Simulator::Engine::change_outside_a_pass(JobId j, Pieces keep, Duration grace) {
  keep.empty() ? plan.preempt(j, grace) : plan.resize(j, keep, grace);
  apply();
}

}  // namespace muster
