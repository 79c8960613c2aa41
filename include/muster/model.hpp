// How fast, and at what cost.
#pragma once
#include "muster/job.hpp"
#include "muster/share.hpp"

namespace muster {

class Cluster;

/// What running somewhere costs. The defaults are the null model: exact textbook arithmetic.
class Model {
 public:
  virtual ~Model() = default;
  /// Millionths of full speed of a job that holds `at`, at least its minimum.
  virtual int64_t speed(JobId, Pieces /*at*/, const Cluster&) const { return kFullSpeed; }
  /// Run time whose work is lost when a job that has computed on `at` for `ran` is stopped or moved without notice, beside what no
  /// checkpoint holds. At most `ran` counts.
  virtual Duration setback(JobId, Pieces /*at*/, Duration /*ran*/) const { return 0; }
  /// Start-up beyond the job's own start and restart cost.
  virtual Duration start_up(JobId, Pieces /*at*/, bool /*first*/) const { return 0; }
};

}  // namespace muster
