// What a restart costs in the simulator that came with Muri.
#pragma once
#include <string_view>
#include <vector>

#include "muster/model.hpp"

namespace muster {

/// Seconds that a job of the deep-learning model `model` on `gpus` GPUs needs to get going, as measured for Muri ("Multi-resource
/// interleaving for deep learning training", SIGCOMM 2022; simulator/run_sim.py of Rivendile/Muri). Throws InputError for a model or size
/// that was not measured.
Duration muri_overhead(std::string_view model, uint32_t gpus);

/// Muri's simulator takes the overhead off a job's progress each time it looks at the job, at most all since the last time; the end of a
/// job is foretold without it.
class MuriModel final : public Model {
 public:
  /// `overheads` by job.
  explicit MuriModel(std::vector<Duration> overheads) : overheads_(std::move(overheads)) {}
  Duration setback(JobId j, Pieces, Duration) const override { return overheads_[j]; }

 private:
  std::vector<Duration> overheads_;
};

}  // namespace muster
