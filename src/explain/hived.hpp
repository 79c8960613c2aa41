// HiveD exercises: a cluster of cells, virtual clusters, gangs that come and go.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "explain/explanation.hpp"
#include "parts/hived.hpp"

namespace muster {

/// One thing that happens in an exercise, and what came of it.
struct HivedStep {
  std::string title;                   ///< "submit b1 (B, 4 GPUs)"
  std::string outcome;                 ///< "binds on n0: GPUs 0 1 2 3"
  std::vector<std::string> because;    ///< sentences
  std::vector<std::vector<std::string>> free;  ///< by chain and level from the top down: the free list
  std::vector<std::pair<std::string, int32_t>> left;  ///< by virtual cluster: cells it has not allocated
  std::string reserved;                ///< leaves under reservation
  std::string bindings;                ///< virtual roots and their cells
  std::vector<Tree> trees;             ///< one a chain
};

/// The exercise solved: the scheduler's own state after each step.
struct HivedSolution {
  std::unique_ptr<Hived> hived;
  std::vector<std::string> levels;  ///< of the columns of `free`
  std::vector<HivedStep> steps;     ///< the first one is the start
};
HivedSolution solve_hived(const Exercise& e);
/// HiveD's own configuration of an exercise: as it stands there, or from its short words "cluster" and "vcs".
Config hived_keys(const Config& exercise);

Document explain_hived(const Exercise& e);
Document explain_buddy(const Exercise& e);

}  // namespace muster
