// maxmin and drf: who gets what, exactly, and in which order.
#include <algorithm>

#include "cases.hpp"
#include "explain/drf.hpp"
#include "parts/kai_share.hpp"

namespace conformance {

using namespace muster;

namespace {

Exercise exercise(const Json& c) { return read_exercise(c.dump(), c.at("id").get<std::string>()); }

/// "" when equal, else what differs. Both are exact.
std::string same(const std::string& what, const Json& expected, const Fraction& found) {
  const auto want = expected.is_number() ? Fraction::parse(expected.dump()) : Fraction::parse(expected.at("frac").get<std::string>());
  if (want && *want == found) return {};
  return what + ": expected " + (want ? want->text() : expected.dump()) + ", found " + found.text();
}

void add(std::string& all, const std::string& one) {
  if (!one.empty()) all += (all.empty() ? "" : "; ") + one;
}

size_t user(const Sharing& s, const std::string& name) {
  for (size_t u = 0; u < s.users.size(); u++)
    if (s.users[u].name == name) return u;
  throw InputError("no user " + name);
}

std::string order(const Sharing& s, const Json& expected, const std::vector<size_t>& found) {
  std::string want, have;
  for (const Json& name : expected) want += " " + name.get<std::string>();
  for (const size_t u : found) have += " " + s.users[u].name;
  return want == have ? std::string() : "order: expected" + want + ", found" + have;
}

/// Tasks, shares and amounts used of one reading.
std::string outcome(const Drf& d, const Json& expected, size_t steps) {
  const Sharing& s = d.sharing;
  std::vector<int64_t> tasks(s.users.size());
  std::vector<size_t> launched;
  for (size_t i = 0; i < steps; i++) {
    const SharingStep& step = d.solution.steps[i];
    if (step.fits) tasks[step.chosen]++, launched.push_back(step.chosen);
  }
  std::string difference;
  const auto share = [&](size_t u) {
    Fraction most = 0;
    for (size_t k = 0; k < s.resources.size(); k++) {
      const Fraction part = s.users[u].asks[k] * tasks[u] / s.resources[k].installed;
      if (most < part) most = part;
    }
    return most;
  };
  for (const auto& [name, n] : expected.at("tasks").items()) add(difference, same(name + " tasks", n, tasks[user(s, name)]));
  if (expected.contains("dominant_share"))
    for (const auto& [name, v] : expected["dominant_share"].items()) add(difference, same(name + " share", v, share(user(s, name))));
  if (expected.contains("used"))
    for (const auto& [name, v] : expected["used"].items()) {
      Fraction used = 0;
      for (size_t u = 0; u < s.users.size(); u++) used += s.users[u].asks[s.resource(name)] * tasks[u];
      add(difference, same(name + " used", v, used));
    }
  if (expected.contains("order")) add(difference, order(s, expected["order"], launched));
  return difference;
}

std::string continuous(const Drf& d, const Json& expected) {
  const Sharing& s = d.sharing;
  std::string difference;
  for (const auto& [name, v] : expected.at("tasks").items())
    add(difference, same(name + " tasks", v, d.solution.divisible[user(s, name)].tasks));
  if (expected.contains("dominant_share"))
    for (const auto& [name, v] : expected["dominant_share"].items())
      add(difference, same(name + " share", v, d.solution.divisible[user(s, name)].share));
  if (expected.contains("used"))
    for (const auto& [name, v] : expected["used"].items()) {
      const size_t k = s.resource(name);
      add(difference, same(name + " used", v, s.resources[k].installed - d.solution.divisible_left[k]));
    }
  return difference;
}

/// The shares that the steps of the exercise list, after each launch.
std::string steps(const Drf& d, const Json& expected) {
  std::string difference;
  size_t i = 0;
  for (const Json& step : expected) {
    while (i < d.solution.steps.size() && !d.solution.steps[i].fits) i++;
    if (i == d.solution.steps.size()) return "fewer steps than expected";
    const SharingStep& ours = d.solution.steps[i];
    if (step.at("launch") != d.sharing.users[ours.chosen].name) add(difference, "step " + std::to_string(i + 1) + " launches another");
    // Shares are compared weighted, listed unweighted.
    for (const auto& [name, v] : step.at("dominant_share_after").items()) {
      const size_t u = user(d.sharing, name);
      const Fraction share = Fraction::parse(u == ours.chosen ? ours.share_after : ours.users[u].share).value_or(0);
      const Fraction weight = d.sharing.users[u].weight.value_or(1);
      add(difference, same("step " + std::to_string(i + 1) + " " + name, v, weight.zero() ? share : share * weight));
    }
    i++;
  }
  return difference;
}

}  // namespace

void max_min(const Json& c, Tally& tally) {
  const std::string id = c.at("id").get<std::string>();
  const MaxMin m = solve_maxmin(exercise(c));
  const Sharing& s = m.sharing;
  const Json& expected = c.at("expected");
  std::string difference;
  const auto gets = [&](size_t u) { return m.indivisible ? Fraction(m.solution.launched[u]) : rate_of(s, m.solution, u); };
  const Json& values = expected.contains("allocation") ? expected["allocation"] : expected;
  Fraction total = 0;
  for (size_t u = 0; u < s.users.size(); u++) total += gets(u);
  for (const auto& [name, v] : values.items())
    if (name == "total") add(difference, same(name, v, total));
    else add(difference, same(name, v, gets(user(s, name))));
  if (expected.contains("left_over")) add(difference, same("left over", expected["left_over"], s.resources[0].installed - total));
  if (expected.contains("continuous_for_comparison"))
    for (const auto& [name, v] : expected["continuous_for_comparison"].items())
      add(difference, same(name + " continuous", v, rate_of(s, m.solution, user(s, name))));
  if (m.indivisible && c.contains("steps")) add(difference, order(s, c["steps"], m.solution.order));
  tally.judged(id, difference);
}

void dominant_resource(const Json& c, Tally& tally) {
  const std::string id = c.at("id").get<std::string>();
  const Json& input = c.at("input");
  const Json& expected = c.at("expected");
  if (input.contains("jobs")) {
    const JobShares j = solve_job_shares(exercise(c));
    std::string difference;
    const auto task = [&](const std::string& name) { return j.solution.tasks[user(j.sharing, name)]; };
    if (expected.contains("shares"))
      for (const auto& [name, v] : expected["shares"].items())
        add(difference, same(name, v, Fraction::parse(task(name).share).value_or(0)));
    if (expected.contains("dominant"))
      for (const auto& [name, v] : expected["dominant"].items())
        if (v != j.sharing.resources[task(name).dominant].name) add(difference, name + " has another dominant resource");
    if (expected.contains("order")) add(difference, order(j.sharing, expected["order"], j.order));
    return tally.judged(id, difference);
  }
  if (input.contains("tree")) {
    const Hierarchy h = solve_hdrf(exercise(c));
    std::string difference;
    for (const auto& [name, n] : expected.at("tasks").items()) add(difference, same(name, n, h.tasks[user(h.sharing, name)]));
    return tally.judged(id, difference);
  }
  if (!input.contains("users")) return tally.skipped("drf of another form");
  const Drf d = solve_drf(exercise(c));
  const size_t all = d.solution.steps.size();
  if (expected.contains("continuous")) tally.judged(id + " continuous", continuous(d, expected["continuous"]));
  if (expected.contains("discrete_stop_at_first_no_fit"))
    tally.judged(id + " stop", outcome(d, expected["discrete_stop_at_first_no_fit"], d.paper_ends ? d.paper_ends : all));
  if (expected.contains("discrete_skip_and_go_on")) tally.judged(id + " skip", outcome(d, expected["discrete_skip_and_go_on"], all));
  if (c.contains("steps")) tally.judged(id + " steps", steps(d, c["steps"]));
}

void fair_share(const Json& c, Tally& tally) {
  const std::string id = c.at("id").get<std::string>();
  const Json& input = c.at("input");
  const auto exactly = [](const Json& v) {
    return v.is_object() ? *Fraction::parse(v.at("frac").get<std::string>()) : *Fraction::parse(v.dump());
  };
  constexpr int64_t kUnit = 720'720'000;  // of a GPU: thirds, sevenths and the like stay whole
  const auto units = [&](const Json& v) { return (exactly(v) * kUnit).floor(); };
  const int64_t total = units(input.at("capacity_gpus"));
  std::vector<std::string> names;
  std::vector<kai::ShareQueue> queues;
  if (input.contains("queues")) {
    for (const auto& [name, q] : input["queues"].items()) {
      kai::ShareQueue& queue = queues.emplace_back();
      names.push_back(name);
      queue.deserved = units(q.at("quota")), queue.request = units(q.at("req"));
      queue.weight = (exactly(q.at("w")) * 1'000).floor();
      queue.priority = q.at("prio").get<int32_t>();
    }
  } else {
    for (const auto& [name, w] : input.at("weights").items()) {
      kai::ShareQueue& queue = queues.emplace_back();
      names.push_back(name);
      queue.request = kai::kUnlimited;
      queue.weight = (exactly(w) * 1'000).floor();
      if (input.contains("normalised_past_use"))
        queue.usage_millionths = (exactly(input["normalised_past_use"].at(name)) * 1'000'000).floor();
    }
  }
  const int64_t k = input.contains("k") ? (exactly(input["k"]) * 1'000'000).floor() : 0;
  const kai::Division d = kai::divide(total, queues, k, 1);
  std::string difference;
  for (const auto& [name, v] : c.at("expected").at("fair_share").items()) {
    const size_t q = size_t(std::find(names.begin(), names.end(), name) - names.begin());
    add(difference, compare(name, number(v), double(d.fair[q]) / double(kUnit)));
  }
  if (c.contains("steps") && !c["steps"].empty() && c["steps"].back().is_object() && c["steps"].back().contains("remaining"))
    add(difference, compare("remaining", number(c["steps"].back()["remaining"]), double(d.remaining) / double(kUnit)));
  tally.judged(id, difference);
}

/// Rows of the theory of sharing, in the words of the exercises.
bool theory_case(const std::string& kind, const Json& c, Tally& tally) {
  const auto fraction = [](const Json& v) { return v.is_string() ? Json{{"frac", v}} : v; };
  Json exercise = {{"id", c.value("id", kind)}, {"input", Json::object()}, {"expected", Json::object()}};
  Json &in = exercise["input"], &want = exercise["expected"];
  if (kind == "max_min_progressive_filling" || kind == "max_min_weighted") {
    in["capacity"] = c.at("input").at("capacity");
    const Json& demands = c["input"].at("demands");
    for (size_t i = 0; i < demands.size(); i++) {
      const std::string user = "u" + std::to_string(i + 1);
      in["demands"][user] = demands[i];
      if (c["input"].contains("weights")) in["weights"][user] = c["input"]["weights"][i];
      want["allocation"][user] = fraction(c.at("expect").at("allocation")[i]);
    }
    return max_min(exercise, tally), true;
  }
  if (kind != "drf.discrete" && kind != "gpu_teaching_example" && kind != "weighted_drf") return false;
  in["capacity"] = c.at("input").at("total");
  for (const auto& [user, demand] : c["input"].at("users").items()) {
    in["users"][user]["demand"] = demand;
    if (c["input"].contains("weights")) in["users"][user]["weight"] = c["input"]["weights"].at(user);
  }
  Json& of = want[kind == "weighted_drf" ? "continuous" : "discrete_stop_at_first_no_fit"];
  for (const auto& [user, tasks] : c.at("expect").at("tasks").items()) of["tasks"][user] = fraction(tasks);
  if (c["expect"].contains("dominantShare"))
    for (const auto& [user, share] : c["expect"]["dominantShare"].items()) of["dominant_share"][user] = fraction(share);
  return dominant_resource(exercise, tally), true;
}

}  // namespace conformance
