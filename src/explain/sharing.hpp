// Exercises about sharing: a cluster of amounts, users with tasks.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "explain/exercise_run.hpp"
#include "parts/fraction.hpp"

namespace muster {

/// Who shares what. Amounts are whole numbers of a unit of each resource: those of the exercise times `scale`.
struct Sharing {
  struct Resource {
    std::string name;
    Fraction installed;
    int64_t scale = 1;       ///< 10 where the exercise has tenths
    size_t kind = 0;         ///< of Resources
    std::string in_records;  ///< what records call it: cpu, mem, gpus, or its name
  };
  struct User {
    std::string name;
    std::vector<Fraction> asks;      ///< of each resource, by one task
    std::optional<Fraction> weight;  ///< 1 when it is not given
    std::optional<int64_t> most;     ///< tasks; none: as many as fit
  };
  std::vector<Resource> resources;
  std::vector<User> users;  ///< in the order that decides ties

  /// "capacity" and "users" of the input, or rows of CSV: user (or name), a column each resource, perhaps weight and tasks; the row called
  /// `capacity` is the cluster. Ties go to who is listed first, unless "ties" (or a "tie_rule" that ends in "order B,A") lists them.
  explicit Sharing(const Exercise& e);
  Sharing() = default;

  Topology topology() const;  ///< one node that holds all of it
  /// Every task a job that stays, submitted at 0 in the users' order.
  Workload workload() const;
  /// "ann=2,bob=1/3", or empty.
  std::string weights() const;
  /// The resource called `name` in the exercise, or as many as there are.
  size_t resource(std::string_view name) const;

 private:
  void settle();
};

/// The run behind an exercise about sharing: `policy` decides once, and tells its steps.
ExerciseRun run_sharing(const Exercise& e, std::string_view name, const Sharing& s, std::string_view policy, Config parameters);

/// An amount for people: 2.6 where four digits after the point are exact, else 13/3.
std::string shown(const Fraction& f);

/// An exact number of the input: 4, 2.6, "5/3" or {"frac": "5/3"}. Throws InputError.
Fraction exact(const Config& c);

}  // namespace muster
