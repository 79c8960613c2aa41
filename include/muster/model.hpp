// How fast, and at what cost.
#pragma once
#include <algorithm>
#include <vector>

#include "muster/job.hpp"
#include "muster/share.hpp"

namespace muster {

class Cluster;

/// How fast a job computes: `work` ticks of work in `time` ticks. A ratio, so that a job slowed 1.5 times takes 1.5 times as long to the tick.
struct Speed {
  uint32_t work = 1, time = 1;
  /// Millionths of full speed; 0 is a standstill.
  static Speed millionths(int64_t ppm) { return {uint32_t(ppm), uint32_t(kFullSpeed)}; }
  /// So many millionths of the time at full speed; 1,000,000 is none lost. Above 4,294 times it is cut.
  static Speed slowed(int64_t ppm) { return {uint32_t(kFullSpeed), uint32_t(std::min<int64_t>(ppm, ~uint32_t{0}))}; }
  friend bool operator==(Speed, Speed) = default;
};

/// What running somewhere costs. The defaults are the null model: exact textbook arithmetic. One object serves one run.
class Model {
 public:
  virtual ~Model() = default;
  /// Speed of a job that computes on `at`, which is at least its minimum. Asked when it begins to, and at the end of
  /// every instant for jobs that computes() named or that share a GPU with a change.
  virtual Speed speed(JobId, Pieces /*at*/, const Cluster&) const { return {}; }
  /// Run time whose work is lost when a job that has computed on `at` for `ran` is stopped or moved without notice, beside what no
  /// checkpoint holds. At most `ran` counts.
  virtual Duration setback(JobId, Pieces /*at*/, Duration /*ran*/) const { return 0; }
  /// Told before speed() is asked: from now on the job computes on `at`; empty: no longer. A model in which jobs slow each other keeps
  /// account here of who uses what, at a cost that follows the change, and appends to `others` every job whose speed may be another one
  /// now. The order of `others` is free, repeats too.
  virtual void computes(JobId, Pieces /*at*/, std::vector<JobId>& /*others*/) {}
  /// Start-up beyond the job's own start and restart cost.
  virtual Duration start_up(JobId, Pieces /*at*/, bool /*first*/) const { return 0; }
};

}  // namespace muster
