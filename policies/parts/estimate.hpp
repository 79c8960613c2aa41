// How long a job is believed to run.
#pragma once
#include <algorithm>
#include <memory>

#include "parts/part.hpp"

namespace muster {

/// What a policy believes of run times: the estimate slot.
class Estimate {
 public:
  virtual ~Estimate() = default;
  /// Run time of `j` from its next start on, in ticks; kNever when nobody stated any. Asked when a job joins the queue.
  virtual Duration of(const View& now, JobId j) = 0;
  /// What `j` has left of it: less the run time it has had, below 0 when it has run longer than believed; kNever when nobody stated any.
  virtual Duration left(const View& now, JobId j) {
    const Duration all = of(now, j);
    return all == kNever ? kNever : all - now.ran(j);
  }
  /// How fast left() shrinks while `j` holds its placement: microseconds in a million. Of a job placed in this very pass: full speed.
  virtual int64_t pace(const View& now, JobId j) const { return now.state(j) == State::starting ? 0 : kFullSpeed; }
  /// Called once a pass before all else: for estimates that learn from what ended.
  virtual void follow(const View&) {}
};

std::span<const PartInfo> estimates();
std::unique_ptr<Estimate> make_estimate(std::string_view name, const PolicyInput& in);

// ---- estimates in files of their own
std::unique_ptr<Estimate> make_history(const PolicyInput& in);
extern const PartParameter kHistoryParameters[1];

}  // namespace muster
