// The loop: what happens when, and the difference between the state and the plan.
#pragma once
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "engine/timers.hpp"
#include "engine/world.hpp"
#include "muster/simulator.hpp"

namespace muster {

/// Rows that live until the records of an instant are delivered; their addresses stay.
template <class T>
class Arena {
 public:
  T* put(const T& x) {
    if (used_ == blocks_.size() * kBlock) blocks_.push_back(std::make_unique<T[]>(kBlock));
    T* at = &blocks_[used_ / kBlock][used_ % kBlock];
    used_++;
    *at = x;
    return at;
  }
  void clear() { used_ = 0; }

 private:
  static constexpr size_t kBlock = 1024;
  std::vector<std::unique_ptr<T[]>> blocks_;
  size_t used_ = 0;
};

struct Simulator::Engine {
  Engine(const Topology& t, const Workload& w, Policy& policy, RunOptions options);
  void run();

  // ---- the loop (loop.cpp)
  void submit(JobId j);
  void fire(const Timer& t);
  void scripted(uint32_t id);
  void pass();
  void stop_at_until();
  void tell_priority(JobId j);
  [[noreturn]] void no_progress() const;
  void deliver(bool all);
  uint32_t arm(Time at, Rank rank, uint32_t subject);
  uint32_t* armed(const Timer& t);
  void drop_stale();
  void happened(What what, JobId j, const Held& held = {}, int64_t value = 0);
  Record& record(What what, JobId j, const Held& at = {});

  // ---- the difference (apply.cpp)
  void apply();
  void change(Edit& e);
  void begin(JobId j, bool waited = true);
  void claim_or_begin(JobId j, bool waited = true);
  void begin_claimed();
  bool waits(JobId j) const;
  void to_queue(JobId j, bool lose);
  void keep_risk(JobId j);
  void lose_risk(JobId j);
  void set_back(JobId j, const Held& at);
  void open_drain(JobId j, const Held& held, Duration grace, GpuId gpu = kNone);
  void drained(uint32_t d);
  void close_drain(uint32_t d);
  void withdraw_notice(JobId j);
  void change_outside_a_pass(JobId j, Pieces keep, Duration grace);

  // ---- a job's life (life.cpp)
  void settle(JobId j);
  void forecast(JobId j);
  bool set_speed(JobId j);
  void arm_end(JobId j);
  void stops_computing(JobId j);
  void end(JobId j, State s, Reason r = Reason::none);
  void disturb(JobId j, Pieces p);
  void reforecast();
  int64_t count(JobId j, bool on);
  TimeParts parts(JobId j) const;

  // ---- the machine (machine.cpp)
  void break_gpus(NodeId n, GpuId from, GpuId to, bool node);
  void lose(JobId j);
  std::vector<JobId> holders(NodeId n, GpuId from, GpuId to, bool node) const;
  void give_back(JobId j, unsigned tasks);
  Held all_of(NodeId n);
  void drain_node(NodeId n, Duration notice);
  void set_installed(NodeId n, bool on);
  void absent();

  // ---- invariants (check.cpp)
  void check() const;
  std::string state_text() const;

  struct Drain {
    JobId job = kNone;  // or none, for a GPU that is cut anew
    GpuId gpu = kNone;
    uint32_t timer = 0, next = kNone;  // next drain of the same job
    bool open = false;
    Held held;
  };
  World w;
  Policy& policy;
  Policy* before = nullptr;
  RunOptions options;
  Plan plan;
  View view;
  TimerQueue timers;
  std::vector<Observer*> observers;
  std::vector<Record> records;
  Arena<Piece> pieces;
  Arena<TimeParts> times;
  std::deque<World::Note> told;  // notes of this instant, whose text the records show
  std::deque<std::vector<NoteField>> note_fields;
  std::vector<JobId> claimed;  // in the order of their claims
  std::vector<Drain> drains;
  std::vector<uint32_t> free_drains, first_edits;
  std::vector<uint8_t> fits;  // by shape: 0 not asked yet, else 1 + Reason
  std::vector<JobId> disturbed;  // share a GPU with what changed: their speed may have too
  std::vector<Held> doomed;      // placements to release when the instant is over
  std::vector<Held> heard;       // pieces of events that the policy has not seen yet
  Arena<Piece> heard_pieces;
  std::vector<World::Ask> asked;
  std::vector<uint32_t> drain_head;  // by job, lazily: first open drain
  int64_t owed_held = 0;             // change of held devices that the next record tells
  uint32_t wake_timer = 0;
  Time wake = kNever;
  bool deserves_pass = false, first_event = true, devices_back = false, changed = false;
  size_t left = 0, scripted_left = 0, next_submit = 0;
  size_t busy = 0;        // running (making progress), starting or draining jobs
  uint64_t passes = 0, instants = 0, idle_passes = 0;
};

}  // namespace muster
