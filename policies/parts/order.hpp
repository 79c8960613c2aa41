// Who comes first in the queue.
#pragma once
#include "parts/estimate.hpp"

namespace muster {

/// The order slot: a key for each waiting job, smaller first; equal keys: earlier submit, then trace order (the order of job ids).
class Order {
 public:
  virtual ~Order() = default;
  /// The key of `j`, below WinnerTree::kOut. Asked when a job joins the queue, when its priority changes, and when changed() names it.
  virtual int64_t key(const View& now, Estimate& estimate, JobId j) = 0;
  /// Whether keys differ at all. When not, a queue may be a bitmap.
  virtual bool keyed() const { return true; }
  /// Whether the key looks at the priority.
  virtual bool by_priority() const { return false; }
  /// Dynamic orders: adds to `jobs` those waiting jobs whose key is another one now. Called once a pass, before anybody starts; a static
  /// order leaves it alone.
  virtual void changed(const View&, const Plan&, std::vector<JobId>& /*jobs*/) {}
};

std::span<const PartInfo> orders();
std::unique_ptr<Order> make_order(std::string_view name, const PolicyInput& in);

}  // namespace muster
