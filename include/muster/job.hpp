// What is asked for: shapes, jobs as claimed, jobs as they truly are.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "muster/resources.hpp"

namespace muster {

/// What a node must be labelled with, as in Kubernetes' node selectors.
struct LabelWish {
  enum class Rule : uint8_t { is, is_not, exists } rule = Rule::is;  ///< is_not: also when it has no such label
  std::string key, value;
  friend bool operator==(const LabelWish&, const LabelWish&) = default;
};

/// "key=value", "key!=value" or "key".
std::string to_text(const LabelWish& l);
/// The inverse of to_text; blanks around key and value do not count. Throws InputError (message without a place) when there is no key.
LabelWish parse_label_wish(std::string_view text);

/// Equal tasks of a job.
struct TaskGroup {
  uint32_t min_tasks = 1, max_tasks = 1;  ///< a job makes progress while every group holds its minimum
  uint32_t gpus = 0;                      ///< whole GPUs of one node, per task
  Resources per_task;                     ///< kGpu is gpus * 1000, or a share of one GPU; CPU, memory and named kinds per task
  int64_t gpu_mem_mib = 0;                ///< least memory of a GPU it can use
  std::vector<std::string> gpu_types;     ///< types it can use; empty: any
  std::string driver, cuda;               ///< least driver version; least CUDA version that the driver must offer ("535.104.05", "12.2"); empty: any
  std::vector<LabelWish> labels;          ///< all must hold of its node
  /// Thousandths of one GPU that a task shares with others in time (Share::slice); 0: it has whole GPUs or none.
  uint32_t gpu_milli() const { return gpus ? 0 : uint32_t(per_task[kGpu]); }
  friend bool operator==(const TaskGroup&, const TaskGroup&) = default;
};

/// How the tasks of a job may lie on nodes.
enum class Nodes : uint8_t {
  any,    ///< each task on a node of its own choice, several a node allowed
  one,    ///< all tasks on one node
  each,   ///< one task a node
  whole,  ///< a row that states only GPUs, more than the largest node has: wholly free nodes, the last one filled in part
};

/// How the CPUs, NICs and GPUs of one task must lie to each other inside a node (Kubernetes' Topology Manager).
enum class Numa : uint8_t {
  none,
  best_effort,  ///< aligned if it can be, else as it comes
  restricted,   ///< in as few NUMA domains as an empty node would need for it, else not at all
  single,       ///< in one NUMA domain, else not at all
};

/// "none", "best-effort", "restricted", "single-numa-node".
std::string_view to_text(Numa n);
/// The inverse of to_text; nothing for other words.
std::optional<Numa> parse_numa(std::string_view text);

/// Equal requests. Jobs of one shape fit or fail together.
struct Shape {
  std::vector<TaskGroup> groups;  ///< at least one, at most kMaxGroups
  Nodes nodes = Nodes::any;
  uint32_t total_gpus = 0;        ///< with all groups at their maximum; for Nodes::whole the GPUs of the row
  bool fixed = true;              ///< min_tasks == max_tasks in every group
  Numa numa = Numa::none;
  uint32_t apart = 0;             ///< anti-affinity: jobs of one number above 0 never share a node; an index into Workload::tags
  std::string required_level;     ///< level of the topology: all its tasks inside one domain of it; empty: no wish
  std::string preferred_level;    ///< likewise, if it can be
  /// Milli-GPUs with all groups at their maximum: total_gpus and the shares.
  int64_t total_milli() const {
    int64_t sum = int64_t{total_gpus} * kMilli;
    for (const TaskGroup& g : groups) sum += int64_t{g.gpu_milli()} * g.max_tasks;
    return sum;
  }
  friend bool operator==(const Shape&, const Shape&) = default;
};
inline constexpr size_t kMaxGroups = 32;

/// What a user states. All that a policy may see of a job's future.
struct Job {
  Time submit = 0;
  Duration estimate = kNever;    ///< run time by the user; kNever: none given
  Duration time_limit = kNever;  ///< killed after this much run time
  Time deadline = kNever;
  Time earliest_start = 0;
  TenantId tenant = 0;
  QueueId queue = 0;
  ShapeId shape = 0;
  int32_t priority = 0;          ///< bigger first
};

/// What restarts and checkpoints cost. Zero everywhere is the exact textbook: every instant is safe, restarts are free.
struct LifeCosts {
  Duration checkpoint_interval = 0;  ///< run time between checkpoints; 0: every instant is safe; kNever: a kill loses all
  Duration checkpoint_cost = 0;      ///< to write one, while the job makes no progress
  Duration start_cost = 0;           ///< of the first start
  Duration restart_cost = 0;         ///< of every later start
  Duration gives_back_after = kNever;  ///< how long the application takes to obey ask() or a notice; kNever: never by itself
  friend bool operator==(const LifeCosts&, const LifeCosts&) = default;
};

enum class Fate : uint8_t { done, failed, cancelled };  ///< how the job ends by itself when its work is over

/// What the GPUs of a job say to each other. Nothing stated: it runs at full speed wherever it is (the model `levels` alone slows it all the same).
struct Communication {
  int64_t gradient_bytes = 0;         ///< that every GPU has for all others at the end of an iteration; 0: not stated
  Duration compute = 0;               ///< of one iteration on one GPU; 0: not stated
  uint32_t model = 0;                 ///< what is trained, index into Workload::models; 0: not stated
  int64_t sensitivity = kFullSpeed;   ///< how much of a slowdown by distance it feels, in millionths
  friend bool operator==(const Communication&, const Communication&) = default;
};

/// What is true. Only the engine sees it.
struct JobTruth {
  Duration work = 0;     ///< run time at full speed; for jobs with min < max tasks: times max_tasks is shared by the tasks held. kNever: open ended
  uint32_t costs = 0;    ///< index into Workload::costs and Workload::communication
  Fate fate = Fate::done;
};

/// Strings by dense id, in one block.
class Names {
 public:
  uint32_t add(std::string_view s) {
    text_.append(s);
    ends_.push_back(text_.size());
    return uint32_t(ends_.size() - 1);
  }
  std::string_view operator[](uint32_t i) const {
    const size_t from = i ? ends_[i - 1] : 0;
    return std::string_view(text_).substr(from, ends_[i] - from);
  }
  size_t size() const { return ends_.size(); }
  void reserve(size_t n, size_t bytes) { ends_.reserve(n), text_.reserve(bytes); }
  /// The same strings in the order `order` (a permutation).
  Names permuted(const std::vector<uint32_t>& order) const;

 private:
  std::string text_;
  std::vector<size_t> ends_;
};

/// All jobs of a run, sorted by (submit, trace order): a JobId is an index into each of these.
struct Workload {
  std::vector<Job> jobs;
  std::vector<JobTruth> truths;   ///< same length
  Names names;                    ///< ids as the trace has them; same length
  std::vector<Shape> shapes;
  std::vector<LifeCosts> costs{LifeCosts{}};
  std::vector<Communication> communication;  ///< as long as costs, or empty: no job states any
  Names models;                   ///< by Communication::model; the first has no name
  Names tenants, queues;          ///< by TenantId, QueueId; at least one each (an empty name when the trace has none)
  Names tags;                     ///< by Shape::apart; the first is empty
  std::vector<std::string> resources;  ///< names of the amounts from kind 3 on in `shapes`, until fit_shapes() gives them the topology's kinds
  Time origin = 0;                ///< what was taken off all times: the trace's first submit, in its own clock
  std::string origin_text;        ///< as the trace wrote it, when it was a date

  Communication communication_of(JobId j) const { return communication.empty() ? Communication{} : communication[truths[j].costs]; }
};

/// Turns rows that state only GPUs into what they mean on `t` (one task on one node, or wholly free nodes): DESIGN's gang rule.
/// Shapes with Nodes::one and one group of one task with more GPUs than the largest node become Nodes::whole. Amounts of named resources get
/// the kinds of `t`; those that `t` does not know are not limited and go.
void fit_shapes(Workload& w, const class Topology& t);

}  // namespace muster
