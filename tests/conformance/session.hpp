// One decision of a policy on a cluster in which some jobs run already.
#pragma once
#include "cases.hpp"

namespace conformance {

/// A job of a case, with what it holds before the decision.
struct SessionJob {
  std::string name, queue;
  int32_t priority = 0;
  muster::Shape shape;
  std::vector<muster::Piece> holds;  ///< empty: it waits
};

/// What each job holds after the decision, in order of the jobs.
using SessionResult = std::vector<std::vector<muster::Piece>>;

/// Jobs that hold something are placed first, all others come a second later; then the policy decides once. Earlier rows of `jobs` are the older.
SessionResult decide(const muster::Topology& t, const std::vector<SessionJob>& jobs, const muster::PolicyInfo& p, const muster::Config& parameters);

}  // namespace conformance
