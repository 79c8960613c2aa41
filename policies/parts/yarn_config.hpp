// Queues of a YARN-style policy as its file gives them.
#pragma once
#include <string>
#include <vector>

#include "muster/policy.hpp"
#include "parts/yarn_capacity.hpp"

namespace muster::yarn {

struct QueueSpec {
  std::string path;         ///< "root.prod.a"
  uint32_t parent = kNone;  ///< parents stand before their children; the first one is root
  bool leaf = true;
  int64_t capacity = 0, most = 0;  ///< millionths of the cluster
  bool off = false;                ///< preemption disabled
  int64_t am_millionths = 100'000;
  int64_t user_least = 1'000'000;   ///< minimum-user-limit-percent
  int64_t user_factor = 1'000'000;  ///< user-limit-factor; negative: as far as the queue may go
};

/// {"queues": {"root.prod": {"capacity": 60, "maximum-capacity": 100, "user-limit-factor": 1, "minimum-user-limit-percent": 100,
/// "maximum-am-resource-percent": 0.1, "disable-preemption": false}, ...}}: per cent of the parent, as in capacity-scheduler.xml. Children
/// of one parent add up to 100. Throws InputError with file and place.
std::vector<QueueSpec> read_queues(const Config& c);
/// The parameters of the preemption monitor, in the words of yarn-site.xml. Throws InputError.
Settings read_settings(const Config& c);

}  // namespace muster::yarn
