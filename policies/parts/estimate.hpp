// How long a job is believed to run.
#pragma once
#include <memory>

#include "parts/part.hpp"

namespace muster {

/// What a policy believes of run times: the estimate slot.
class Estimate {
 public:
  virtual ~Estimate() = default;
  /// Run time of `j` from its next start on, in ticks; kNever when nobody stated any. Asked when a job joins the queue.
  virtual Duration of(const View& now, JobId j) = 0;
  /// Called once a pass before all else: for estimates that learn from what ended.
  virtual void follow(const View&) {}
};

std::span<const PartInfo> estimates();
std::unique_ptr<Estimate> make_estimate(std::string_view name, const PolicyInput& in);

}  // namespace muster
