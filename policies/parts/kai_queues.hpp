// KAI's tree of queues as a policy file gives it.
#pragma once
#include <string>
#include <vector>

#include "muster/policy.hpp"
#include "parts/kai_share.hpp"

namespace muster::kai {

/// A queue: a leaf, in which jobs wait, or one that holds others (a department).
struct QueueSpec {
  std::string name;
  uint32_t parent = kNone;
  int32_t priority = 100;
  Amounts deserved{}, most{};  ///< milli-GPUs, milli-CPUs, MiB; kUnlimited: no limit
  Amounts weight{};            ///< over-quota, in thousandths
  bool leaf = true;
};

/// [{name, parent, priority, gpu, cpu, memory}, ...] in the words of KAI's queues: a resource is a quota, or {quota, overQuotaWeight, limit},
/// in GPUs, CPUs and GiB; -1 is no limit, and what is left out has none. Parents come before their children in what is returned; of
/// siblings the first in the file is the oldest. Throws InputError with file, place and nearest name.
std::vector<QueueSpec> read_queues(const Config& queues);

}  // namespace muster::kai
