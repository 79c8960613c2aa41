// The placers, for policies that live outside the tree.
#pragma once
#include <memory>

#include "muster/policy.hpp"

namespace muster {

class Placer;

/// One of the placers of `muster policies list` ("pack", "consolidate", "topology-required", ...), rule and tie as in docs/placers.md. It
/// respects everything that a job asks for: GPUs, CPUs, memory, kinds of node, levels, anti-affinity.
class PlaceFinder {
 public:
  /// Throws InputError when there is no placer of that name. `seed` is for those that draw.
  PlaceFinder(std::string_view placer, const Topology& t, uint64_t seed = 0);
  ~PlaceFinder();
  /// Devices for all tasks of `j` that are free now, or nothing. Good until the next call.
  Pieces find(const View& now, const Plan& plan, JobId j);
  /// Why find() had nothing.
  Reason why(const View& now, const Plan& plan, JobId j);

 private:
  std::unique_ptr<Placer> placer_;
};

}  // namespace muster
