// The policy boundary: what a policy reads (View), what it edits (Plan), what it is (Policy).
#pragma once
#include <memory>

#include "muster/cluster.hpp"
#include "muster/config.hpp"
#include "muster/record.hpp"

namespace muster {

struct World;
class Simulator;

/// Something since the last call that the policy did not do itself.
struct Event {
  What what;
  JobId job;             ///< or the node, for events of devices
  Time at;
  Pieces pieces;         ///< what was given back, or broke, by it
  int64_t value = 0;     ///< of quota and priority events
};

/// What a pass cannot change: time, claims, history.
class View {
 public:
  explicit View(const World& w, uint32_t part = kNone) : w_(w), part_(part) {}
  /// What an inner policy sees: see Plan::divide. Events of the part's jobs and nodes, and alarms.
  View part(uint32_t p) const { return View(w_, p); }
  /// The same with other events: for policies that keep them back for an inner one.
  View with(std::span<const Event> events) const {
    View v(*this);
    v.kept_ = events, v.keeps_ = true;
    return v;
  }
  Time now() const;
  /// Since the last call, in order, each with the pieces it gave back or broke: the way to stay O(change).
  std::span<const Event> events() const;
  const Topology& topology() const;
  size_t jobs() const;
  const Job& job(JobId j) const;
  const Shape& shape(JobId j) const;
  const Shape& shape_of(ShapeId s) const;
  size_t shapes() const;
  size_t tenants() const;
  size_t queues() const;
  std::string_view name(JobId j) const;
  std::string_view tenant_name(TenantId t) const;
  std::string_view queue_name(QueueId q) const;
  State state(JobId j) const;          ///< before the pass
  Pieces held(JobId j) const;          ///< before the pass: what it holds or claims
  unsigned starts(JobId j) const;
  unsigned preemptions(JobId j) const;
  Int128 attained(JobId j) const;      ///< milli-GPU x microseconds of run time received so far
  Duration ran(JobId j) const;         ///< run time received so far
  int64_t speed(JobId j) const;        ///< as it computes now, millionths of full speed; 0 while it does not
  Duration checkpoint_age(JobId j) const;  ///< run time since the last checkpoint
  /// Run time whose work is lost if it is stopped now without notice: since its last checkpoint, and by the model.
  Duration setback(JobId j) const;
  int32_t priority(JobId j) const;     ///< the job's, or what a priority event made of it
  /// Run time by the user's estimate, whole; kNever when there is none.
  Duration estimate(JobId j) const { return job(j).estimate; }
  /// True run time left at full speed. Only for policies whose PolicyInfo says needs_oracle; throws ContractError else.
  Duration oracle_left(JobId j) const;

 private:
  const World& w_;
  uint32_t part_;
  std::span<const Event> kept_{};
  bool keeps_ = false;
};

/// A part that keeps state (buddy lists, quotas, profiles) and pushes its own undo on the plan's log.
class Undoable {
 public:
  virtual ~Undoable() = default;
  /// Takes back the edit that was logged with `what` and `value`; called in reverse order.
  virtual void undo(uint64_t what, uint64_t value) = 0;
};

/// The state wanted next. Edits act at once on the live cluster and can be taken back; reads see them.
/// Every edit throws ContractError when it breaks a rule (a device twice, more than asked, unknown job, bad device, ...);
/// the engine then refuses the plan whole.
class Plan {
 public:
  explicit Plan(World& w, uint32_t part = kNone) : w_(w), part_(part) {}
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
  // ---- restriction: queues, partitions, several clusters, a policy each
  /// An interval of nodes.
  struct Part {
    NodeId begin, end;
  };
  /// Cuts the run into parts, once, in the first pass: `part_of[j]` is the part of job `j`, or kNone; nodes of parts may overlap.
  void divide(std::span<const uint32_t> part_of, std::span<const Part> parts);
  /// The plan of one part, for an inner policy: its queue, its jobs, its nodes. Edits outside break the contract; alarms and wishes for
  /// events are kept for each part.
  Plan part(uint32_t p) { return Plan(w_, p); }
  // ---- reads
  const IdSet& queue() const;   ///< jobs that want a placement and have none, in submit order
  const IdSet& placed() const;  ///< running, starting or claimed
  Pieces at(JobId j) const;
  unsigned tasks(JobId j) const { return tasks_of(at(j)); }
  int64_t usage(TenantId t) const;  ///< milli-GPUs
  const Cluster& cluster() const;
  /// Nodes of the part by what is free: what placers ask.
  const NodeIndex& index() const;
  // ---- edits
  /// Places all of a waiting job. On devices that drain it becomes a claim; on the same devices while they drain for it, the notice is withdrawn.
  void start(JobId j, Pieces p);
  /// Grows, shrinks or moves a placed job; what it gives up drains for `grace`.
  void resize(JobId j, Pieces p, Duration grace = 0);
  /// Takes its placement away; with `grace` it drains first, and saves its work.
  void preempt(JobId j, Duration grace = 0);
  /// Stops a placed job and starts it again where it is, as if it had been moved.
  void restart(JobId j);
  void reject(JobId j, Reason r);
  /// Drops a waiting job for good (state dropped).
  void drop(JobId j, Reason r);
  /// New MIG instances on an idle GPU, by first slices (bit mask); takes time, may be claimed meanwhile.
  void repartition(GpuId g, uint8_t starts);
  /// Asks the application to come down to `tasks` tasks by itself; it may, later, or never.
  void ask(JobId j, unsigned tasks);
  /// A pass at `t` at the latest. One alarm: the earliest wins; gone once it rang. `t` must be ahead of now.
  void wake_at(Time t);
  /// Events that deserve a pass from now on; others wait in View::events. The first event always gets one; an alarm too.
  void listen(WhatSet s);
  /// A typed record. Not undone by rollback unless made after the mark.
  void note(std::string_view kind, std::span<const NoteField> fields);
  void note(std::string_view kind, std::initializer_list<NoteField> fields) { note(kind, {fields.begin(), fields.size()}); }
  /// Why a job waits. Becomes a record only when it changes.
  void reason(JobId j, Reason r);
  /// Pushes a part's own undo on the log.
  void log(Undoable& part, uint64_t what, uint64_t value);
  // ---- what-if
  struct Mark {
    size_t edits, asks, reasons, notes;
    Time wake;
    WhatSet listens;
  };
  Mark mark() const;
  void rollback(const Mark& m);

 private:
  friend class Simulator;
  void known(JobId j, const char* verb) const;
  void inside(JobId j, Pieces p) const;
  World& w_;
  uint32_t part_;
};

/// Decides who runs where. Called once for each instant with an event that it listens to, after everything of that instant has happened.
class Policy {
 public:
  virtual ~Policy() = default;
  /// Edits `plan` until it is the state wanted next. Keeps no reference past the call. The edits it leaves take effect exactly, so a
  /// policy may keep its own indexes and update them from `now.events()` and from its own edits.
  virtual void schedule(const View& now, Plan& plan) = 0;
};

/// What a policy is made from.
struct PolicyInput {
  const Topology& topology;
  const Workload& workload;  ///< for names of tenants and queues; a policy must not keep truths
  Config parameters;         ///< an object: given values only
  uint64_t seed = 0;
};

/// A row of the table of policies.
struct PolicyInfo {
  std::string name, summary;
  std::vector<Parameter> parameters;
  bool needs_oracle = false;
  std::unique_ptr<Policy> (*make)(const PolicyInput&) = nullptr;  ///< throws InputError for parameters it does not take
  Config preset;  ///< given to make() below the user's own parameters: how a named policy is a row over `list`
};

/// The in-tree table, in order of name.
std::span<const PolicyInfo> builtin_policies();

}  // namespace muster
