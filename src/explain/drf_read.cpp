// From the records of a run to a solution.
#include <algorithm>

#include "explain/drf.hpp"
#include "text/numbers.hpp"

namespace muster {
namespace {

size_t user(const Sharing& s, std::string_view name) {
  for (size_t u = 0; u < s.users.size(); u++)
    if (s.users[u].name == name) return u;
  return 0;
}

/// An amount in the exercise's own unit.
Fraction amount(const Sharing::Resource& r, const Told& t, std::string_view prefix) {
  return Fraction(whole_number(t[std::string(prefix) + r.in_records]).value_or(0), r.scale);
}

Fraction fraction(std::string_view text) { return Fraction::parse(text).value_or(0); }

/// The same of an amount that records state as a fraction.
Fraction exact_amount(const Sharing::Resource& r, const Told& t, std::string_view prefix) {
  return fraction(t[std::string(prefix) + r.in_records]) / r.scale;
}

}  // namespace

SharingSolution read_solution(const Sharing& s, const ExerciseRun& r) {
  SharingSolution out;
  const size_t users = s.users.size();
  out.tasks.resize(users), out.divisible.resize(users), out.launched.resize(users);
  std::vector<SharingStep::Of> now(users);
  for (const Told& t : r.notes) {
    const size_t u = user(s, t["user"]);
    if (t.kind == "share_task") {
      SharingSolution::Task& task = out.tasks[u];
      task.share = t["share"];
      for (size_t k = 0; k < s.resources.size(); k++) {
        task.shares.emplace_back(t["share." + s.resources[k].in_records]);
        if (t["dominant"] == s.resources[k].in_records) task.dominant = k;
      }
    } else if (t.kind == "share_user") {
      now[u] = {std::string(t["share"]), whole_number(t["waiting"]).value_or(0), {}};
      for (const Sharing::Resource& k : s.resources) now[u].held.push_back(amount(k, t, "held."));
    } else if (t.kind == "share_step") {
      SharingStep step;
      step.users = now;
      step.chosen = u;
      step.fits = t["fits"] == "1";
      step.share_after = t["share_after"];
      for (const Sharing::Resource& k : s.resources) step.left.push_back(amount(k, t, "left."));
      if (step.fits) out.launched[u]++, out.order.push_back(u);
      out.steps.push_back(std::move(step));
    } else if (t.kind == "fill_user") {
      SharingSolution::Divisible& d = out.divisible[u];
      d.tasks = fraction(t["tasks"]), d.share = fraction(t["share"]);
      for (const Sharing::Resource& k : s.resources) d.gets.push_back(exact_amount(k, t, "gets."));
    } else if (t.kind == "fill_round") {
      out.rounds.push_back({std::string(t["level"]), std::string(t["satisfied"]), std::string(t["stopped"]), std::string(t["full"])});
    } else if (t.kind == "fill_left") {
      for (const Sharing::Resource& k : s.resources) out.divisible_left.push_back(exact_amount(k, t, "left."));
    }
  }
  return out;
}

}  // namespace muster
