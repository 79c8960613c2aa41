// The record stream: the only output of a run.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "muster/job.hpp"
#include "muster/share.hpp"
#include "muster/topology.hpp"

namespace muster {

/// A job's life. claimed: has a placement, waits until its devices are free. draining: gave up its placement, still holds devices.
enum class State : uint8_t { future, queued, claimed, starting, running, draining, done, failed, timed_out, cancelled, rejected, dropped, unfinished };
inline bool ended(State s) { return s >= State::done; }
std::string_view to_text(State s);

/// Why a job waits, was rejected or was dropped.
enum class Reason : uint8_t {
  none,
  no_gpus,       ///< fewer GPUs are free than it wants
  fragmented,    ///< enough are free, but no domain it may use has them
  cpu, memory, resource, type, level, driver,
  label, apart, numa,  ///< no node with its labels; anti-affinity; no NUMA domains aligned as it wants
  behind_head,   ///< it would fit; the policy serves the head of the queue first
  reservation,   ///< the head of the queue, or one that would delay a reservation
  quota, search_limit,
  not_yet,       ///< its earliest start is ahead
  cluster_size, node_size, quota_size,  ///< it can never fit; the hardest that holds is told
  policy,        ///< the policy's own choice
};
std::string_view to_text(Reason r);

/// Kinds of records, and of events that a policy hears.
enum class What : uint8_t {
  submit, start, claim, run, resize, preempt, drained, gave_back, lost, end,
  waits,     ///< the reason for which a job waits changed
  fault, repair, cordon, uncordon, capacity,  ///< of devices: broke, came back, to be emptied, usable again, added or removed
  quota, priority,                            ///< scripted changes
  reshape, reshaped,                          ///< a GPU's MIG geometry: repartition begins, is done
  speed,     ///< of a running job, changed by what others do
  note,      ///< what a policy wants measured
  wake,      ///< the policy's alarm rang (an event only, not a record)
};
std::string_view to_text(What w);
using WhatSet = uint32_t;
constexpr WhatSet bit(What w) { return WhatSet{1} << unsigned(w); }

/// T = T_queue + T_run + T_restart, each summed from its own states; all in ticks.
struct TimeParts {
  Duration queue_first = 0, requeue = 0;                        ///< T_queue: before the first start; after it
  Duration start_first = 0, work = 0, checkpoint = 0;           ///< T_run: first start-up, computing that counted, checkpoint writes
  Duration drain = 0, restart = 0, lost = 0;                    ///< T_restart: holding under notice, later start-ups, run time whose work was lost
  Duration queue() const { return queue_first + requeue; }
  Duration run() const { return start_first + work + checkpoint; }
  Duration restarts() const { return drain + restart + lost; }
  Duration total() const { return queue() + run() + restarts(); }
};

/// One field of a note.
struct NoteField {
  std::string_view name;
  int64_t number = 0;
  std::string_view text;  ///< used when not empty
};

/// One thing that happened. Spans and pointers are valid during the call that delivers it.
struct Record {
  Time at = 0;
  What what = What::note;
  State state = State::future;  ///< of the job after it
  Reason reason = Reason::none;
  JobId job = kNone;
  int64_t held = 0;             ///< change of milli-GPUs held by jobs (drains hold theirs until they end)
  int32_t waiting = 0;          ///< change of the number of waiting (queued or claimed) jobs
  Int128 computed = 0;          ///< milli-GPU x microseconds of computing (no start-up, drain or checkpoint) since the job's last record
  Int128 lost = 0;              ///< of all computing so far: what turned out to be lost with this record
  int64_t capacity = 0;         ///< change of installed milli-GPUs (capacity)
  Duration lost_time = 0;       ///< run time re-labelled as lost by this record
  Duration grace = 0;           ///< of a notice
  Pieces pieces{};              ///< the placement (start, claim, run, resize, end) or what was given up or broke (preempt, drained, lost, fault)
  int64_t speed = 0;            ///< millionths, with start, run, resize and speed; an elastic job's is times its tasks
  const TimeParts* time = nullptr;       ///< with end
  std::string_view kind{};               ///< of a note; the target of quota
  std::span<const NoteField> fields{};   ///< of a note
};

/// What a run is a run of: the first record. Pointers outlive the run's observers' calls.
struct Header {
  const Topology* topology = nullptr;
  const Workload* workload = nullptr;  ///< a job's row may be read once its submit record was seen
  std::string policy;                  ///< its name
  std::vector<std::pair<std::string, std::string>> parameters;  ///< all, defaults included, in the policy's order
  uint64_t seed = 0;
  Time until = kNever;
  std::vector<std::pair<std::string, std::string>> inputs;      ///< role ("trace", "topology", ...) and "name sha256:..."
  std::vector<std::pair<std::string, uint64_t>> dropped_rows;   ///< by reason
  uint64_t rows = 0;                                            ///< data rows read
  std::vector<std::string> metrics;                             ///< families asked for beside the usual ones
};

/// Sees every record, in order, in batches; records of one instant may come in two.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void begin(const Header&) {}
  virtual void see(std::span<const Record> records) = 0;
  /// The run is over at `at`; nothing follows.
  virtual void finish(Time /*at*/) {}
};

}  // namespace muster
