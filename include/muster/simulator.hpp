// The engine.
#pragma once
#include <memory>
#include <vector>

#include "muster/model.hpp"
#include "muster/policy.hpp"
#include "muster/record.hpp"

namespace muster {

/// A line of an events file, its target resolved.
struct ScriptedEvent {
  enum class Kind : uint8_t { down, up, drain, undrain, add, remove, quota, priority, cancel };
  Time at = 0;
  Kind kind = Kind::down;
  NodeId node_begin = 0, node_end = 0;  ///< down, up, drain, undrain, add, remove: these nodes ...
  GpuId gpu_begin = 0, gpu_end = 0;     ///< ... or, when node_begin == node_end, these GPUs of one node (down, up)
  JobId job = kNone;                    ///< cancel, priority
  QueueId queue = kNone;                ///< quota
  int64_t value = 0;                    ///< quota (GPUs), priority, drain (notice in ticks)
};

struct RunOptions {
  Model* model = nullptr;              ///< null: exact textbook arithmetic
  std::vector<ScriptedEvent> events;   ///< any order; equal times keep theirs
  Time until = kNever;                 ///< cuts the run; who has not ended by then is unfinished
  Duration repartition_time = 4 * kSecond;
  bool check = false;                  ///< verify all invariants after every pass (slow; always on in debug builds)
  bool oracle = false;                 ///< the policy may ask View::oracle_left
  Header header;                       ///< for the observers; topology and workload are filled in
};

/// Runs one workload on one topology under one policy. No global state: several may live in one process.
class Simulator {
 public:
  Simulator(const Topology& t, const Workload& w, Policy& policy, RunOptions options = {});
  ~Simulator();
  Simulator(const Simulator&) = delete;
  Simulator& operator=(const Simulator&) = delete;
  /// Before run(). The observer outlives it.
  void observe(Observer& o);
  /// To the end. Throws ContractError or NoProgress.
  void run();
  uint64_t passes() const;
  uint64_t instants() const;
  /// For tests: the whole visible state as text.
  std::string state_text() const;
  /// Called at every pass before the policy, with the same view and plan; for tests (what-if before each pass).
  void before_pass(Policy* p);
  /// For tests: timers are numbered anew after `n` of them.
  void renumber_timers_at(uint32_t n);

 private:
  struct Engine;
  std::unique_ptr<Engine> engine_;
};

}  // namespace muster
