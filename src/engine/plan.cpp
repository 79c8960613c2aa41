#include <algorithm>

#include "engine/world.hpp"
#include "muster/model.hpp"
#include "muster/config.hpp"

namespace muster {

namespace {
/// Pieces of `all` that are the same as `p`: two tasks may hold equal shares of one GPU.
ptrdiff_t equal_to(const Piece& p, Pieces all) { return std::count(all.begin(), all.end(), p); }
}  // namespace

std::vector<Piece> minus(Pieces a, Pieces b) {
  std::vector<Piece> out;
  for (size_t i = 0; i < a.size(); i++) {
    Piece p = a[i];
    if (p.share != Share::whole) {
      if (equal_to(p, a.first(i + 1)) > equal_to(p, b)) out.push_back(p);
      continue;
    }
    for (const Piece& q : b) {
      if (q.node != p.node || q.share != p.share || q.word != p.word || q.group != p.group) continue;
      p.what &= ~q.what, p.tasks = uint16_t(p.tasks - std::min(p.tasks, q.tasks));
    }
    if (p.what || p.tasks) out.push_back(p);
  }
  return out;
}

bool covers(Pieces b, Pieces a) { return minus(a, b).empty(); }

void World::hand_out_events() {
  for (PartState& p : parts) p.events.clear();
  for (const Event& e : events) {
    switch (e.what) {
      case What::fault:
      case What::repair:
      case What::cordon:
      case What::uncordon:
      case What::capacity:
        for (PartState& p : parts)
          if (e.job >= p.begin && e.job < p.end) p.events.push_back(e);
        break;
      case What::reshaped:
        for (PartState& p : parts)
          if (const NodeId n = topology.node_of(e.job); n >= p.begin && n < p.end) p.events.push_back(e);
        break;
      case What::wake:
      case What::quota:
        for (PartState& p : parts) p.events.push_back(e);
        break;
      default:
        if (part_of[e.job] != kNone) parts[part_of[e.job]].events.push_back(e);
    }
  }
}

bool World::has_minimum(JobId j) const {
  const Shape& s = shape(j);
  const Pieces at = PieceStore::pieces(live[j].at);
  if (s.nodes == Nodes::whole) return live[j].at.milli >= s.total_milli();
  if (s.groups.size() == 1) return tasks_of(at) >= s.groups[0].min_tasks;
  uint32_t tasks[kMaxGroups] = {};
  for (const Piece& p : at) tasks[p.group] += p.tasks;
  for (size_t g = 0; g < s.groups.size(); g++)
    if (tasks[g] < s.groups[g].min_tasks) return false;
  return true;
}

// ---- View

Time View::now() const { return w_.now; }
std::span<const Event> View::events() const {
  if (keeps_) return kept_;
  return part_ == kNone ? w_.events : w_.parts[part_].events;
}
const Topology& View::topology() const { return w_.topology; }
size_t View::jobs() const { return w_.live.size(); }
const Job& View::job(JobId j) const { return w_.job(j); }
const Shape& View::shape(JobId j) const { return w_.shape(j); }
const Shape& View::shape_of(ShapeId s) const { return w_.workload.shapes[s]; }
size_t View::shapes() const { return w_.workload.shapes.size(); }
size_t View::tenants() const { return w_.workload.tenants.size(); }
size_t View::queues() const { return w_.workload.queues.size(); }
std::string_view View::name(JobId j) const { return w_.workload.names[j]; }
std::string_view View::tenant_name(TenantId t) const { return w_.workload.tenants[t]; }
std::string_view View::queue_name(QueueId q) const { return w_.workload.queues[q]; }
State View::state(JobId j) const { return w_.live[j].state; }
Pieces View::held(JobId j) const { return PieceStore::pieces(w_.before(j)); }
unsigned View::starts(JobId j) const { return w_.live[j].starts; }
unsigned View::preemptions(JobId j) const { return w_.live[j].preemptions; }

/// Run time since its last change of state in which the job computed, and wrote no checkpoint.
static Duration computed_since(const World& w, JobId j) {
  const Live& l = w.live[j];
  if (l.state != State::running) return 0;
  const Duration dt = w.now - l.since, interval = w.costs(j).checkpoint_interval, cost = w.costs(j).checkpoint_cost;
  if (interval == 0 || interval == kNever || cost == 0) return dt;
  const Duration phase = l.rare == kNone ? 0 : w.rare[l.rare].phase;
  return computing(phase + dt, interval, cost) - computing(phase, interval, cost);
}

Int128 View::attained(JobId j) const { return w_.live[j].computed + Int128(computed_since(w_, j)) * w_.before(j).milli; }
Duration View::ran(JobId j) const {
  const Live& l = w_.live[j];
  const Rare none, &r = l.rare == kNone ? none : w_.rare[l.rare];
  return l.work + r.checkpoint + r.lost + r.risk_run + r.risk_write + (l.state == State::running ? w_.now - l.since : 0);
}
Duration World::setback(JobId j, Pieces at) const {
  const Live& l = live[j];
  if (!model || l.state != State::running) return 0;
  const Duration ran = now - l.began;
  return std::clamp<Duration>(model->setback(j, at, ran), 0, ran);
}

int64_t View::speed(JobId j) const {
  if (w_.live[j].state != State::running) return 0;
  int64_t tasks = 1;
  if (!w_.shape(j).fixed) {
    tasks = 0;
    for (const TaskGroup& g : w_.shape(j).groups) tasks += g.max_tasks;
  }
  return speed_ppm(w_.live[j]) / tasks;
}

Duration View::setback(JobId j) const {
  const Live& l = w_.live[j];
  if (l.state != State::running) return 0;
  const Duration unsafe = w_.costs(j).checkpoint_interval ? checkpoint_age(j) : 0;
  return std::min(ran(j), std::max(unsafe, w_.setback(j, held(j))));
}

Duration View::checkpoint_age(JobId j) const {
  const Live& l = w_.live[j];
  const LifeCosts& c = w_.costs(j);
  if (c.checkpoint_interval == 0 || l.rare == kNone) return 0;
  const Rare& r = w_.rare[l.rare];
  const Duration since = l.state == State::running ? w_.now - l.since : 0;
  if (c.checkpoint_interval == kNever) return r.risk_run + since;
  return (r.phase + since) % (c.checkpoint_interval + c.checkpoint_cost);
}
int32_t View::priority(JobId j) const { return w_.priorities.empty() ? w_.job(j).priority : w_.priorities[j]; }
Duration View::oracle_left(JobId j) const {
  if (!w_.oracle) throw ContractError("it asks for true run times without declaring needs_oracle");
  const Live& l = w_.live[j];
  if (l.left == kNever) return kNever;
  const Int128 done = Int128(computed_since(w_, j)) * l.speed / l.per;
  const Duration left = done >= l.left ? 0 : l.left - Duration(done);
  if (w_.shape(j).fixed) return left;
  int64_t tasks = 0;  // the work of an elastic job is counted in task-microseconds
  for (const TaskGroup& g : w_.shape(j).groups) tasks += g.max_tasks;
  return left / tasks + (left % tasks != 0);
}

// ---- Plan

const IdSet& Plan::queue() const { return w_.queue.of(part_); }
const IdSet& Plan::placed() const { return w_.placed.of(part_); }
const NodeIndex& Plan::index() const { return w_.cluster.index(part_); }
Pieces Plan::at(JobId j) const { return PieceStore::pieces(w_.live[j].at); }
int64_t Plan::usage(TenantId t) const { return w_.usage[t]; }
const Cluster& Plan::cluster() const { return w_.cluster; }

namespace {

std::string place_name(const World& w, NodeId n, uint32_t gpu) {
  if (n >= w.topology.nodes()) return "node number " + std::to_string(n);
  return w.topology.node_name(n) + (gpu == kNone ? "" : "/gpu" + std::to_string(gpu));
}

[[noreturn]] void refuse(const World& w, JobId j, const Conflict& c) {
  std::string text = "job " + w.name(j) + " placed on " + place_name(w, c.node, c.gpu);
  if (c.other != kNone) text += ", which job " + w.name(c.other) + " holds";
  else text += ": " + std::string(c.why);
  throw ContractError(text);
}

/// The rules that need only the shape: pieces in tree order, tasks and devices as asked (C3), node rule, kind of node.
void check_placement(const World& w, JobId j, Pieces pieces) {
  const Shape& s = w.shape(j);
  const auto bad = [&](const std::string& why) { throw ContractError("job " + w.name(j) + ": " + why); };
  uint32_t tasks[kMaxGroups] = {};
  uint64_t gpus = 0;
  for (size_t i = 0; i < pieces.size();) {
    const Piece& p = pieces[i];
    if (p.group >= s.groups.size()) bad("a piece of task group " + std::to_string(p.group) + ", it has " + std::to_string(s.groups.size()));
    if (p.node >= w.topology.nodes()) refuse(w, j, {p.node, kNone, kNone, "no such node"});
    if (i && pieces[i - 1].node > p.node) bad("pieces are not in tree order");
    const TaskGroup& g = s.groups[p.group];
    unsigned here = p.tasks, devices = p.gpus();
    const bool part = p.share != Share::whole;
    size_t next = i + 1;  // the rest of a node with more than 64 GPUs
    if (!part)
      for (; next < pieces.size() && pieces[next].node == p.node && pieces[next].group == p.group && pieces[next].share == Share::whole; next++) {
        if (pieces[next].word <= pieces[next - 1].word) bad("pieces are not in tree order");
        here += pieces[next].tasks, devices += pieces[next].gpus();
      }
    if (here == 0) bad("a piece without a task on " + place_name(w, p.node, kNone));
    if (s.nodes == Nodes::whole) {
      gpus += devices;
    } else if (!part && devices != here * g.gpus) {
      bad(std::to_string(here) + " tasks on " + place_name(w, p.node, kNone) + " want " + std::to_string(here * g.gpus) + " GPUs, placed on " + std::to_string(devices));
    } else if (const uint32_t milli = g.gpu_milli(); milli && (p.share != Share::slice || p.size() != milli || here != 1)) {
      bad("a task wants " + std::to_string(milli) + " thousandths of a GPU, placed on " + to_text(w.topology, pieces.subspan(i, 1)));
    }
    if ((!part || g.gpu_milli()) && s.nodes != Nodes::whole && !w.cluster.suits(p.node, g)) bad("node " + place_name(w, p.node, kNone) + " is not of a kind it can use");
    if (s.nodes == Nodes::one && p.node != pieces[0].node) bad("its tasks want one node, placed on " + place_name(w, pieces[0].node, kNone) + " and " + place_name(w, p.node, kNone));
    if (s.nodes == Nodes::each && (here > 1 || (i && pieces[i - 1].node == p.node))) bad("its tasks want a node each, two are on " + place_name(w, p.node, kNone));
    tasks[p.group] += here;
    i = next;
  }
  if (s.nodes == Nodes::whole) {
    if (gpus > s.total_gpus) bad("placed on " + std::to_string(gpus) + " GPUs, asks for " + std::to_string(s.total_gpus));
    return;
  }
  for (size_t g = 0; g < s.groups.size(); g++)
    if (tasks[g] > s.groups[g].max_tasks) bad(std::to_string(tasks[g]) + " tasks placed, " + std::to_string(s.groups[g].max_tasks) + " asked for");
}

/// Held the devices of piece `i` of `p` already, so that a cordon of its node does not matter.
bool stays(Pieces held, Pieces p, size_t i) {
  const Piece& x = p[i];
  if (x.share != Share::whole) return equal_to(x, p.first(i + 1)) <= equal_to(x, held);
  return std::any_of(held.begin(), held.end(), [&](const Piece& q) {
    return q.node == x.node && q.word == x.word && q.share == x.share && !(x.what & ~q.what) && x.tasks <= q.tasks;
  });
}

/// Edits the world so that job `j` holds `p`; what it gave up drains when `grace` is not 0.
void put(World& w, JobId j, Pieces p, Duration grace) {
  Live& l = w.live[j];
  const Shape& s = w.shape(j);
  check_placement(w, j, p);
  const Held fresh = w.store.keep(p);  // first of all: `p` may point into this job's own placement
  // Only what it held before the pass can drain: a placement it has in the plan alone is given up without trace.
  const bool first = l.first_edit >= w.edits.size() || w.edits[l.first_edit].job != j || w.edits[l.first_edit].kind != Edit::place;
  if (first) l.first_edit = uint32_t(w.edits.size());
  Edit& e = w.edits.emplace_back();
  e.job = j, e.state = l.state, e.queued = w.queue.contains(j), e.grace = grace, e.old = l.at;
  const Pieces old = PieceStore::pieces(e.old), next = PieceStore::pieces(fresh);
  for (const Piece& q : old) w.cluster.give(j, s, q);
  if (grace > 0 && first && (l.state == State::running || l.state == State::starting)) {
    e.drained = w.store.keep(minus(old, next));
    for (const Piece& q : PieceStore::pieces(e.drained)) w.cluster.drain(s, q, true);
  }
  size_t taken = 0;
  try {
    const Pieces before = PieceStore::pieces(w.before(j));
    for (; taken < next.size(); taken++) w.cluster.take(j, s, next[taken], stays(before, next, taken));
  } catch (const Conflict& c) {
    for (size_t i = 0; i < taken; i++) w.cluster.give(j, s, next[i]);
    for (const Piece& q : PieceStore::pieces(e.drained)) w.cluster.drain(s, q, false);
    for (const Piece& q : old) w.cluster.take(j, s, q, true);
    w.store.release(fresh), w.store.release(e.drained);
    w.edits.pop_back();
    refuse(w, j, c);
  }
  l.at = fresh;
  w.usage[w.job(j).tenant] += fresh.milli - e.old.milli;
  if (next.empty()) {
    w.placed.erase(j);
    if (l.state != State::draining && !w.edits[l.first_edit].drained.count) w.queue.insert(j);
  } else {
    w.queue.erase(j);
    w.placed.insert(j);
  }
}

}  // namespace

/// The job can be edited at all, by this part.
void Plan::known(JobId j, const char* verb) const {
  const World& w = w_;
  if (j >= w.live.size()) throw ContractError(std::string(verb) + " of unknown job number " + std::to_string(j));
  if (w.live[j].state == State::future) throw ContractError(std::string(verb) + " of job " + w.name(j) + ", which has not been submitted");
  if (w.live[j].leaving) throw ContractError(std::string(verb) + " of job " + w.name(j) + ", which this plan ends");
  if (ended(w.live[j].state)) throw ContractError(std::string(verb) + " of job " + w.name(j) + ", which has ended (" + std::string(to_text(w.live[j].state)) + ")");
  if (part_ != kNone && w.part_of[j] != part_) throw ContractError(std::string(verb) + " of job " + w.name(j) + ", which belongs to another part");
}

/// A part's placements stay on its nodes.
void Plan::inside(JobId j, Pieces p) const {
  if (part_ == kNone) return;
  for (const Piece& q : p)
    if (q.node < w_.parts[part_].begin || q.node >= w_.parts[part_].end)
      throw ContractError("job " + w_.name(j) + " placed on " + place_name(w_, q.node, kNone) + ", which belongs to another part");
}

void Plan::divide(std::span<const uint32_t> part_of, std::span<const Part> parts) {
  if (part_of.size() != w_.live.size() || !w_.parts.empty()) throw ContractError("a run is divided once, with a part for every job");
  for (const Part& p : parts)
    if (p.begin > p.end || p.end > w_.topology.nodes()) throw ContractError("a part of nodes that are not there");
  for (const uint32_t p : part_of)
    if (p != kNone && p >= parts.size()) throw ContractError("a job of part " + std::to_string(p) + ", there are " + std::to_string(parts.size()));
  w_.part_of.assign(part_of.begin(), part_of.end());
  for (const Part& p : parts) {
    auto& part = w_.parts.emplace_back();
    part.begin = p.begin, part.end = p.end;
    w_.cluster.add_part(p.begin, p.end);
  }
  w_.queue.divide(w_.part_of, parts.size());
  w_.placed.divide(w_.part_of, parts.size());
  w_.hand_out_events();
}

void Plan::start(JobId j, Pieces p) {
  known(j, "start");
  if (p.empty()) throw ContractError("start of job " + w_.name(j) + " without a placement");
  if (w_.live[j].at.count) throw ContractError("start of job " + w_.name(j) + ", which has a placement already");
  inside(j, p);
  put(w_, j, p, 0);
}

void Plan::resize(JobId j, Pieces p, Duration grace) {
  known(j, "resize");
  if (!w_.live[j].at.count) throw ContractError("resize of job " + w_.name(j) + ", which has no placement");
  if (p.empty()) throw ContractError("resize of job " + w_.name(j) + " to nothing; preempt it instead");
  if (grace < 0) throw ContractError("resize of job " + w_.name(j) + " with a notice below 0");
  inside(j, p);
  put(w_, j, p, grace);
}

void Plan::preempt(JobId j, Duration grace) {
  known(j, "preempt");
  if (!w_.live[j].at.count) throw ContractError("preempt of job " + w_.name(j) + ", which has no placement");
  if (grace < 0) throw ContractError("preempt of job " + w_.name(j) + " with a notice below 0");
  put(w_, j, {}, grace);
}

void Plan::restart(JobId j) {
  known(j, "restart");
  if (!w_.live[j].at.count) throw ContractError("restart of job " + w_.name(j) + ", which has no placement");
  put(w_, j, PieceStore::pieces(w_.live[j].at), 0);
  w_.edits.back().again = true;
}

static void end_in_plan(World& w, JobId j, State becomes, Reason r) {
  // A job that drains does not wait, even when this plan has placed it anew or told it to go.
  const Live& l = w.live[j];
  const bool notice = l.first_edit < w.edits.size() && w.edits[l.first_edit].job == j && w.edits[l.first_edit].kind == Edit::place && w.edits[l.first_edit].drained.count;
  if (l.state == State::draining || notice) throw ContractError(std::string(becomes == State::dropped ? "drop" : "reject") + " of job " + w.name(j) + ", which does not wait");
  if (l.at.count) put(w, j, {}, 0);
  Edit& e = w.edits.emplace_back();
  e.kind = Edit::end, e.job = j, e.state = w.live[j].state, e.becomes = becomes, e.reason = r, e.queued = true;
  w.live[j].leaving = true;
  w.queue.erase(j);
}
void Plan::reject(JobId j, Reason r) {
  known(j, "reject");
  end_in_plan(w_, j, State::rejected, r);
}
void Plan::drop(JobId j, Reason r) {
  known(j, "drop");
  end_in_plan(w_, j, State::dropped, r);
}

void Plan::repartition(GpuId g, uint8_t starts) {
  if (g >= w_.topology.gpus()) throw ContractError("repartition of unknown GPU number " + std::to_string(g));
  const SharedGpu* s = w_.cluster.shared(g);
  const uint8_t old = s ? s->geometry : 0;
  try {
    w_.cluster.set_geometry(g, starts);
  } catch (const Conflict& c) {
    throw ContractError("repartition of " + w_.topology.gpu_name(g) + ": " + (c.other == kNone ? std::string(c.why) : "job " + w_.name(c.other) + " holds it"));
  }
  Edit& e = w_.edits.emplace_back();
  e.kind = Edit::reshape, e.job = g, e.old_geometry = old, e.new_geometry = starts;
}

void Plan::ask(JobId j, unsigned tasks) {
  known(j, "ask");
  w_.asks.push_back({j, tasks});
}
void Plan::wake_at(Time t) {
  if (t <= w_.now) throw ContractError("wake_at " + format_duration(t) + ", which is not ahead");
  if (part_ == kNone) w_.wake = std::min(w_.wake, t);
  else w_.parts[part_].wake = std::min(w_.parts[part_].wake, t);
}
void Plan::listen(WhatSet s) {
  if (part_ == kNone) {
    w_.listens = s | bit(What::wake);
    return;
  }
  w_.parts[part_].listens = s;
  w_.listens = bit(What::wake);
  for (const auto& p : w_.parts) w_.listens |= p.listens;
}
void Plan::reason(JobId j, Reason r) {
  known(j, "reason");
  if (w_.live[j].reason != r) w_.whys.push_back({j, r});
}
void Plan::note(std::string_view kind, std::span<const NoteField> fields) {
  World::Note n;
  n.kind = kind;
  for (const NoteField& f : fields) n.fields.push_back({std::string(f.name), {f.number, std::string(f.text)}});
  w_.notes.push_back(std::move(n));
}
void Plan::log(Undoable& part, uint64_t what, uint64_t value) {
  Edit& e = w_.edits.emplace_back();
  e.kind = Edit::part, e.undoable = &part, e.what = what, e.value = value;
}

Plan::Mark Plan::mark() const {
  const Time wake = part_ == kNone ? w_.wake : w_.parts[part_].wake;
  const WhatSet listens = part_ == kNone ? w_.listens : w_.parts[part_].listens;
  return {w_.edits.size(), w_.asks.size(), w_.whys.size(), w_.notes.size(), wake, listens};
}

void Plan::rollback(const Mark& m) {
  for (; w_.edits.size() > m.edits; w_.edits.pop_back()) {
    Edit& e = w_.edits.back();
    if (e.kind == Edit::part) {
      e.undoable->undo(e.what, e.value);
    } else if (e.kind == Edit::reshape) {
      w_.cluster.set_geometry(e.job, e.old_geometry);
    } else {
      if (e.kind == Edit::place) {
        Live& l = w_.live[e.job];
        const Shape& s = w_.shape(e.job);
        for (const Piece& q : PieceStore::pieces(l.at)) w_.cluster.give(e.job, s, q);
        for (const Piece& q : PieceStore::pieces(e.drained)) w_.cluster.drain(s, q, false);
        for (const Piece& q : PieceStore::pieces(e.old)) w_.cluster.take(e.job, s, q, true);
        w_.usage[w_.job(e.job).tenant] += e.old.milli - l.at.milli;
        w_.store.release(l.at), w_.store.release(e.drained);
        l.at = e.old;
        e.old.count ? w_.placed.insert(e.job) : w_.placed.erase(e.job);
      } else {
        w_.live[e.job].leaving = false;
      }
      e.queued ? w_.queue.insert(e.job) : w_.queue.erase(e.job);
    }
  }
  w_.asks.resize(m.asks);
  w_.whys.resize(m.reasons);
  w_.notes.resize(m.notes);
  (part_ == kNone ? w_.wake : w_.parts[part_].wake) = m.wake;
  if (part_ == kNone) w_.listens = m.listens;
  else listen(m.listens);
}

}  // namespace muster
