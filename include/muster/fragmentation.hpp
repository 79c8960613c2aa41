// How much of what is free is of no use to the tasks that come.
#pragma once
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "muster/job.hpp"
#include "muster/topology.hpp"

namespace muster {

/// Equal tasks, and how many of them there are: what a cluster is judged by. The measure is that of FGD (Weng et al., "Beware of
/// Fragmentation: Scheduling GPU-Sharing Workloads with Fragmentation Gradient Descent", USENIX ATC 2023), as its artifact computes it.
struct TaskClass {
  int64_t cpu = 0;                     ///< milli-CPUs
  uint32_t gpus = 0;                   ///< how many GPUs a task is on; a share is of one
  int32_t milli = 0;                   ///< thousandths of each; 0 without a GPU
  std::vector<std::string> gpu_types;  ///< types it can use; empty: any
  int64_t count = 0;
  friend bool operator==(const TaskClass&, const TaskClass&) = default;
};

/// The classes of a workload's tasks, by CPUs, GPUs and GPU type alone: the most common ones, until they are at least `percent` of all
/// tasks. Most common first; equal ones with more CPUs first, then more of a GPU, more GPUs, later type.
std::vector<TaskClass> task_classes(const Workload& w, unsigned percent = 95);
/// The class of one task of a group.
TaskClass task_class(const TaskGroup& g);

/// What a node has left. 1 GPU is 1000.
struct NodeLeft {
  int64_t cpu = 0;                 ///< milli-CPUs
  std::string_view gpu_type;
  uint32_t whole = 0;              ///< GPUs that are wholly free
  std::span<const int32_t> parts;  ///< what is left of each GPU in part use, below 1000
  int64_t milli() const {
    int64_t sum = int64_t{whole} * kMilli;
    for (const int32_t p : parts) sum += p;
    return sum;
  }
};

/// What becomes of a task on a node; q1 to q4, xl and xr of the paper.
enum class Fragment : uint8_t { lacks_both, lacks_gpu, satisfied, lacks_cpu, cpu_task, cpu_task_lacks_cpu, no_access };
inline constexpr size_t kFragments = 7;
std::string_view to_text(Fragment f);

/// Which case the node is in for a task of the class.
Fragment fragment_of(const NodeLeft& n, const TaskClass& m);
/// F_n(m): milli-GPUs of the node that a task of the class cannot use: all of them when it cannot run there, or wants no GPU at all; else
/// those on GPUs that have less left than it wants of one.
int64_t fragmented(const NodeLeft& n, const TaskClass& m);

/// F_n(M) over classes M, fast. Sums are exact: milli-GPUs times tasks; divided by tasks() they are milli-GPUs.
class Fragmentation {
 public:
  /// Classes of the same thousandths are looked at together.
  explicit Fragmentation(std::vector<TaskClass> classes);
  const std::vector<TaskClass>& classes() const { return classes_; }
  int64_t tasks() const { return tasks_; }
  /// Which classes nodes of a GPU type can run: a number to ask sum() with.
  uint32_t type(std::string_view gpu_type);
  /// Sum over m of count_m x F_n(m). `type`: of the node, from type().
  int64_t sum(const NodeLeft& n, uint32_t type) const;
  /// The node's milli-GPUs times tasks(), by case: where a task runs, what is on GPUs that hold none of it counts as lacks_gpu.
  std::array<int64_t, kFragments> by_case(const NodeLeft& n) const;

 private:
  std::vector<TaskClass> classes_;  // as given
  struct Line {
    int64_t cpu, count;
    uint32_t gpus, id;  // place in classes_
  };
  struct Size {  // classes that want equal thousandths
    int32_t milli;
    uint32_t begin, end;
  };
  std::vector<Line> lines_;
  std::vector<Size> sizes_;
  int64_t tasks_ = 0, cpu_tasks_ = 0;
  std::vector<std::pair<std::string, std::vector<uint8_t>>> types_;  // GPU type, and by line whether it will do
};

}  // namespace muster
