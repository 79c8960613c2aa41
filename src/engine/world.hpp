// All state of a run that policies may see or edit.
#pragma once
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "engine/huge_pages.hpp"
#include "muster/policy.hpp"
#include "text/numbers.hpp"

namespace muster {

/// A placement as the engine keeps it: one piece inline, more in a block of the store.
struct Held {
  Held() = default;
  Piece one;
  uint32_t count = 0;
  int64_t milli = 0;  // milli-GPUs
};

/// Blocks of pieces at fixed addresses, recycled by power of two. A span stays good until its placement is released.
class PieceStore {
 public:
  Held keep(Pieces p) {
    Held h;
    h.count = uint32_t(p.size());
    if (p.size() == 1) h.one = p[0], h.milli = p[0].milli();
    if (p.size() > 1) {
      auto& pool = free_[unsigned(std::bit_width(p.size() - 1))];
      if (pool.empty()) {
        blocks_.push_back(std::make_unique<Piece[]>(std::bit_ceil(p.size())));
        pool.push_back(blocks_.back().get());
      }
      Piece* block = pool.back();
      pool.pop_back();
      for (size_t i = 0; i < p.size(); i++) block[i] = p[i], h.milli += p[i].milli();
      h.one.what = reinterpret_cast<uintptr_t>(block);
    }
    return h;
  }
  void release(const Held& h) {
    if (h.count > 1) free_[unsigned(std::bit_width(size_t{h.count} - 1))].push_back(reinterpret_cast<Piece*>(h.one.what));
  }
  static Pieces pieces(const Held& h) { return h.count > 1 ? Pieces(reinterpret_cast<const Piece*>(h.one.what), h.count) : Pieces(&h.one, h.count); }

 private:
  std::vector<std::unique_ptr<Piece[]>> blocks_;
  std::array<std::vector<Piece*>, 33> free_;
};

/// What has happened to a job so far.
struct Live {
  Int128 computed = 0;       // milli-GPU x microseconds
  Held at;                   // wanted placement; the plan edits it in place
  Time since = 0;            // last change of state, or last settling of progress
  Duration left = 0;         // work still to do
  int64_t speed = 1;         // work per `per` ticks
  Duration queue_first = 0;  // the two parts of T that every job has; the others are in Rare
  Duration work = 0;
  Time began = 0;            // to compute where it is
  uint32_t timer = 0;        // sequence number of the armed timer; others are stale
  uint32_t first_edit = 0;   // where its first edit of this pass is in the log, if it is there
  uint32_t rare = kNone;     // index into World::rare
  uint32_t per = 1;
  uint16_t starts = 0, preemptions = 0;
  State state = State::future;
  Reason reason = Reason::none;
  bool leaving = false;      // an edit of this pass ends it
  bool counted = false;      // its devices are counted as held
};
static_assert(sizeof(Live) <= 128);  // the table of jobs is what a run looks at most

/// The speed as records tell it.
inline int64_t speed_ppm(const Live& l) { return l.per == 1 ? l.speed * kFullSpeed : int64_t((Int128(l.speed) * kFullSpeed * 2 + l.per) / (Int128(l.per) * 2)); }

/// What only some jobs have: restarts, drains, checkpoints, work at risk.
struct Rare {
  Duration requeue = 0, start_first = 0, checkpoint = 0, drain = 0, restart = 0, lost = 0;
  Duration risk_run = 0, risk_write = 0;  // run time since the last checkpoint: computing, writing one
  Duration risk_work = 0;                 // the work of that time
  Int128 risk_computed = 0;
  Duration phase = 0;                     // where in the cycle of computing and writing it is
  uint32_t drains = 0;                    // of this job, not ended
};

/// One entry of the undo log.
struct Edit {
  enum Kind : uint8_t { place, end, reshape, part } kind = place;
  State state = State::queued;  // before; for `end` also what it becomes
  State becomes = State::queued;
  Reason reason = Reason::none;
  bool queued = false;
  bool again = false;           // stopped and started anew, even where it was
  uint8_t old_geometry = 0, new_geometry = 0;
  JobId job = kNone;  // or GPU, for reshape
  Duration grace = 0;
  Held old, drained;  // what it held; what of that drains
  Undoable* undoable = nullptr;
  uint64_t what = 0, value = 0;
};

/// A set of jobs that knows its members part by part as well, once the run is divided.
class JobSet {
 public:
  explicit JobSet(size_t n) : all_(n) {}
  void divide(const std::vector<uint32_t>& part_of, size_t parts) {
    part_of_ = &part_of;
    parts_.assign(parts, IdSet(part_of.size()));
    for (JobId j = all_.first(); j != kNone; j = all_.next(j + 1))
      if (part_of[j] != kNone) parts_[part_of[j]].insert(j);
  }
  bool contains(JobId j) const { return all_.contains(j); }
  JobId first() const { return all_.first(); }
  JobId next(JobId j) const { return all_.next(j); }
  void insert(JobId j) {
    all_.insert(j);
    if (part_of_ && (*part_of_)[j] != kNone) parts_[(*part_of_)[j]].insert(j);
  }
  void erase(JobId j) {
    all_.erase(j);
    if (part_of_ && (*part_of_)[j] != kNone) parts_[(*part_of_)[j]].erase(j);
  }
  const IdSet& of(uint32_t part) const { return part == kNone ? all_ : parts_[part]; }

 private:
  IdSet all_;
  std::vector<IdSet> parts_;
  const std::vector<uint32_t>* part_of_ = nullptr;
};

class Model;

struct World {
  World(const Topology& t, const Workload& w)
      : topology(t), workload(w), live(w.jobs.size()), cluster(t), queue(w.jobs.size()), placed(w.jobs.size()), usage(w.tenants.size()) {}
  const Topology& topology;
  const Workload& workload;
  std::vector<Live, HugePages<Live>> live;
  std::vector<Rare> rare;
  Cluster cluster;
  JobSet queue, placed;        // jobs that want a placement and have none; jobs that have one
  std::vector<int64_t> usage;  // milli-GPUs by tenant
  PieceStore store;
  std::vector<Event> events;
  std::vector<Edit> edits;     // of the pass, or of what-ifs in it
  std::vector<int32_t> priorities;  // empty until a priority event
  Time now = 0;
  bool oracle = false;
  const Model* model = nullptr;

  struct Ask {
    JobId job;
    uint32_t tasks;
  };
  struct Why {
    JobId job;
    Reason reason;
  };
  struct Note {
    std::string kind;
    std::vector<std::pair<std::string, std::pair<int64_t, std::string>>> fields;
  };
  std::vector<Ask> asks;
  std::vector<Why> whys;
  std::vector<Note> notes;
  Time wake = kNever;
  WhatSet listens = ~WhatSet{0};
  struct PartState {
    NodeId begin, end;
    Time wake = kNever;
    WhatSet listens = ~WhatSet{0};
    std::vector<Event> events;
  };
  std::vector<uint32_t> part_of;  // by job, once the run is divided
  std::vector<PartState> parts;

  /// Each part gets the events of its jobs and nodes.
  void hand_out_events();
  const Job& job(JobId j) const { return workload.jobs[j]; }
  const Shape& shape(JobId j) const { return workload.shapes[workload.jobs[j].shape]; }
  const LifeCosts& costs(JobId j) const { return workload.costs[workload.truths[j].costs]; }
  Rare& rare_of(JobId j) {
    if (live[j].rare == kNone) live[j].rare = uint32_t(rare.size()), rare.emplace_back();
    return rare[live[j].rare];
  }
  /// Run time up to now, not yet at risk for want of a checkpoint, whose work the model takes if the job is stopped.
  Duration setback(JobId j, Pieces at) const;
  uint32_t drains(JobId j) const { return live[j].rare == kNone ? 0 : rare[live[j].rare].drains; }
  /// Holds at least its minimum in every group (a whole-node gang: all its GPUs).
  bool has_minimum(JobId j) const;
  /// The placement before the pass.
  const Held& before(JobId j) const {
    const Live& l = live[j];
    return l.first_edit < edits.size() && edits[l.first_edit].job == j && edits[l.first_edit].kind == Edit::place ? edits[l.first_edit].old : l.at;
  }
  std::string name(JobId j) const { return one_line(workload.names[j]); }  // for messages
};

/// Run time spent computing in the first `x` ticks of a cycle of computing and writing checkpoints.
inline Duration computing(Duration x, Duration interval, Duration cost) {
  const Duration cycle = interval + cost;
  return x / cycle * interval + std::min(x % cycle, interval);
}

/// What of `a` is not in `b`: the devices that a change gives up.
std::vector<Piece> minus(Pieces a, Pieces b);
/// True when `b` holds all of `a`.
bool covers(Pieces b, Pieces a);

}  // namespace muster
