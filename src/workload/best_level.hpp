// How close to each other the GPUs of a request could be on an empty cluster.
#pragma once
#include <vector>

#include "muster/job.hpp"
#include "muster/topology.hpp"

namespace muster {

/// Judges requests against one domain of each sort that the topology has, so that many equal racks cost no more than one.
class BestLevel {
 public:
  explicit BestLevel(const Topology& t);
  /// The lowest level of which some domain, empty, holds the request; as meet() counts levels: levels().size() for one GPU or none, kCluster.
  size_t of(const Shape& s) const;
  /// A domain of that level that holds it: an index into Topology::domains(level). kNone for one GPU and for the whole cluster.
  uint32_t domain_of(const Shape& s, size_t level) const;

 private:
  const Topology& topology_;
  std::vector<std::vector<uint32_t>> sorts_;  // by level: one domain of each sort
};

}  // namespace muster
