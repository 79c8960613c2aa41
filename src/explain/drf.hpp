// Dominant resource fairness, worked out; what the page and the tests both read.
#pragma once
#include "explain/sharing.hpp"

namespace muster {

/// One decision of a run that tells its steps.
struct SharingStep {
  struct Of {
    std::string share;           ///< before the step, weighted: what is compared
    int64_t waiting = 0;         ///< tasks
    std::vector<Fraction> held;  ///< of each resource
  };
  std::vector<Of> users;
  size_t chosen = 0;
  bool fits = true;
  std::string share_after;     ///< of the chosen user
  std::vector<Fraction> left;  ///< of each resource, after the step
};

/// What the notes of a run say.
struct SharingSolution {
  struct Task {
    std::vector<std::string> shares;  ///< of each resource
    size_t dominant = 0;
    std::string share;
  };
  struct Divisible {  ///< if tasks could be divided
    Fraction tasks, share;
    std::vector<Fraction> gets;
  };
  struct Round {
    std::string level, satisfied, stopped, full;
  };
  std::vector<Task> tasks;  ///< by user
  std::vector<SharingStep> steps;
  std::vector<Divisible> divisible;  ///< by user
  std::vector<Fraction> divisible_left;
  std::vector<Round> rounds;
  std::vector<int64_t> launched;  ///< tasks, by user
  std::vector<size_t> order;      ///< users, as their tasks were launched
};

SharingSolution read_solution(const Sharing& s, const ExerciseRun& r);

/// An exercise on DRF and the run that solves it.
struct Drf {
  Sharing sharing;
  SharingSolution solution;
  size_t paper_ends = 0;  ///< the step at which the paper's loop stops: the first task that does not fit
};
Drf solve_drf(const Exercise& e);

/// Jobs in the order of their shares: of what each asks, or of what it holds ("allocated"); those below their minimum ("ready" below
/// "min_available") go first.
struct JobShares {
  Sharing sharing;
  SharingSolution solution;
  std::vector<size_t> order;
};
JobShares solve_job_shares(const Exercise& e);

/// A tree of queues: {"n1": {"demand": {...}}, "n3": {"children": {...}}}; leaves are the users.
struct Hierarchy {
  Sharing sharing;
  std::vector<int64_t> tasks;       ///< by leaf
  std::vector<std::string> shares;  ///< by leaf, at the last step
};
Hierarchy solve_hdrf(const Exercise& e);

/// The same on max-min fairness.
struct MaxMin {
  Sharing sharing;
  SharingSolution solution;
  bool links = false, indivisible = false;
};
MaxMin solve_maxmin(const Exercise& e);
/// What user `u` gets if it can be divided.
Fraction rate_of(const Sharing& s, const SharingSolution& r, size_t u);

Document explain_drf(const Exercise& e);
Document explain_maxmin(const Exercise& e);
Document explain_schedule(const Exercise& e);
Document explain_backfill(const Exercise& e);

}  // namespace muster
