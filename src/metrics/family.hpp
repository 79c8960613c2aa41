// A family of metrics: a fold over records that ends in some named numbers.
#pragma once
#include <memory>
#include <span>

#include "muster/record.hpp"
#include "muster/report.hpp"

namespace muster {

/// One family. Sees every record once, keeps O(1) a record, and knows no other family. docs/metrics.md says what each number is.
class Family : public Observer {
 public:
  /// After finish(): appends its numbers, always the same names in the same order. Called once.
  virtual void report(Report& r) = 0;
};

/// A row of the table of families: adding one is one file and one row.
struct FamilyInfo {
  std::string_view name;
  std::unique_ptr<Family> (*make)();
  bool usual = true;           ///< reported without being asked for
  std::string_view what = {};  ///< for those who may ask
};

/// All families, in the order of the report.
std::span<const FamilyInfo> metric_families();
/// "fragmentation,loss" or "all": names of families beside the usual ones. Throws InputError.
std::vector<std::string> parse_families(std::string_view list);

std::unique_ptr<Family> make_counts();
std::unique_ptr<Family> make_time();
std::unique_ptr<Family> make_slowdown();
std::unique_ptr<Family> make_makespan();
std::unique_ptr<Family> make_utilization();
std::unique_ptr<Family> make_idle();
std::unique_ptr<Family> make_load();
std::unique_ptr<Family> make_locality();
std::unique_ptr<Family> make_fairness();
std::unique_ptr<Family> make_spread();
std::unique_ptr<Family> make_rho();
std::unique_ptr<Family> make_equal_split();
std::unique_ptr<Family> make_sla();
std::unique_ptr<Family> make_waits();
std::unique_ptr<Family> make_wait_classes();
std::unique_ptr<Family> make_bounds();
std::unique_ptr<Family> make_stationarity();
std::unique_ptr<Family> make_anomaly();
std::unique_ptr<Family> make_cells();
std::unique_ptr<Family> make_fragmentation();
std::unique_ptr<Family> make_loss();

}  // namespace muster
