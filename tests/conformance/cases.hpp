// A case of a conformance file, how it is judged, and what is counted.
#pragma once
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "metrics/job_rows.hpp"
#include "muster/report.hpp"
#include "muster/simulator.hpp"

namespace conformance {

using Json = nlohmann::ordered_json;

/// Counts rows and prints the failing ones.
class Tally {
 public:
  /// One row was run: `difference` is empty when it agrees. A hint is a row that nobody has verified.
  void judged(const std::string& row, const std::string& difference, bool hint = false);
  /// An input on which the real system breaks, counted on a line of its own too.
  void defect(bool withstood) { defects_++, withstood_ += withstood; }
  /// A row of a kind that is not built yet.
  void skipped(const std::string& kind, size_t rows = 1) { skipped_[kind] += rows; }
  /// Prints the closing lines. Whether nothing failed and something ran.
  bool close() const;

 private:
  size_t passed_ = 0, failed_ = 0, agree_ = 0, differ_ = 0, defects_ = 0, withstood_ = 0;
  std::map<std::string, size_t> skipped_;
};

/// A job as the exercises write them; seconds.
struct Claim {
  std::string name;
  double submit = 0, run = 0;
  uint32_t gpus = 1;
  std::optional<double> estimate;  ///< also the limit at which it is killed
  int32_t priority = 0;
};

/// A job had the devices from one time to another.
struct Slice {
  muster::JobId job;
  muster::Time from, to;
};

/// What a run gave.
struct Outcome {
  muster::Workload workload;
  std::vector<Slice> slices;  ///< in order of their ends; those of one job that follow each other are one
  muster::JobRows rows;
  muster::Report report;
  const muster::JobRow& of(const std::string& name) const;
};

/// The row of the table of policies that `muster run` uses, or null when it is not built yet.
const muster::PolicyInfo* policy(std::string_view name);
/// Runs under that policy with these parameters and else the defaults of its row, all invariants checked.
Outcome run(const muster::Topology& t, muster::Workload w, const muster::PolicyInfo& p, const muster::Config& parameters = {});
muster::Workload workload(const std::vector<Claim>& jobs);
muster::Time ticks(double seconds);
double seconds(muster::Time t);
/// A number, or {"frac": "5/3", "approx": ...}.
double number(const Json& j);
/// "" when both agree, else what differs.
std::string compare(const std::string& what, double expected, double found);

// One file a kind. Each judges every row of its case.
void single_server(const Json& c, Tally& tally);
void parallel_schedule(const Json& c, Tally& tally);
void max_min(const Json& c, Tally& tally);
void dominant_resource(const Json& c, Tally& tally);
void fair_share(const Json& c, Tally& tally);
// Queues: false when the kind is of another family.
bool theory_case(const std::string& kind, const Json& c, Tally& tally);
bool kueue_case(const std::string& kind, const Json& c, Tally& tally);
bool yarn_case(const std::string& kind, const Json& c, Tally& tally);
bool share_case(const std::string& kind, const Json& c, Tally& tally);
bool kai_case(const std::string& kind, const Json& c, Tally& tally);
/// A trace whose mean completion time stands in the README.md beside it. False when it is not there.
void buddy(const Json& c, Tally& tally);
void cells(const Json& c, Tally& tally);
void hived(const Json& c, Tally& tally);
void hived_run(const Json& c, Tally& tally);
void hived_defect(const Json& c, Tally& tally);
bool known_mean(const std::filesystem::path& csv, Tally& tally);

}  // namespace conformance
