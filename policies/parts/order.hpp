// Who comes first in the queue.
#pragma once
#include "parts/estimate.hpp"

namespace muster {

/// The key of a job that holds a placement, as a straight line from now on.
struct Line {
  int64_t key;        ///< now
  int64_t slope = 0;  ///< its change in a million microseconds
};

/// The order slot: a key for each job, smaller first; equal keys: earlier submit, then trace order (the order of job ids).
class Order {
 public:
  virtual ~Order() = default;
  /// The key of waiting `j`, below kLast at most. Asked when a job joins the queue, when its priority changes, and when changed() names it.
  virtual int64_t key(const View& now, Estimate& estimate, JobId j) = 0;
  /// The key of `j` from now on, while it holds a placement. Asked by policies that preempt, when it gets one and when changed() names it;
  /// if its line slopes also when it begins to compute.
  virtual Line placed(const View& now, Estimate& estimate, JobId j) { return {key(now, estimate, j)}; }
  /// Whether keys differ at all. When not, a queue may be a bitmap.
  virtual bool keyed() const { return true; }
  /// Whether the key looks at the priority.
  virtual bool by_priority() const { return false; }
  /// Whether the line of a job that computes slopes, and how fast it computes is to be asked once it has begun.
  virtual bool slopes() const { return false; }
  /// Dynamic orders: adds to `jobs` those whose key is another one now, or another line. Called once a pass, before anybody starts; a
  /// static order leaves it alone.
  virtual void changed(const View&, const Plan&, std::vector<JobId>& /*jobs*/) {}
  /// When changed() wants to be called next; kNever: whenever there is a pass.
  virtual Time next(const View&) { return kNever; }

 protected:
  static constexpr int64_t kLast = kNever - 1;  ///< after all others
};

std::span<const PartInfo> orders();
std::unique_ptr<Order> make_order(std::string_view name, const PolicyInput& in);

// ---- orders in files of their own
std::unique_ptr<Order> make_srtf(const PolicyInput& in);
std::unique_ptr<Order> make_srsf(const PolicyInput& in);
std::unique_ptr<Order> make_edf(const PolicyInput& in);
std::unique_ptr<Order> make_priority(const PolicyInput& in);
std::unique_ptr<Order> make_multifactor(const PolicyInput& in);
std::unique_ptr<Order> make_las(const PolicyInput& in);
std::unique_ptr<Order> make_tiresias(const PolicyInput& in);
std::unique_ptr<Order> make_gittins(const PolicyInput& in);
std::unique_ptr<Order> make_rr(const PolicyInput& in);
std::unique_ptr<Order> make_ftf(const PolicyInput& in);
extern const PartParameter kPriorityParameters[1], kMultifactorParameters[8], kLasParameters[1], kTiresiasParameters[3], kGittinsParameters[1],
    kRrParameters[2], kFtfParameters[1];

}  // namespace muster
