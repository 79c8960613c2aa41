// muster explain drf: dominant resource fairness in the steps of the textbook.
#include "explain/drf.hpp"

#include <algorithm>

namespace muster {
namespace {

std::string amounts(const Sharing& s, const std::vector<Fraction>& of, bool zeros = false) {
  std::string out;
  for (size_t k = 0; k < of.size(); k++)
    if (zeros || !of[k].zero()) out += (out.empty() ? "" : ", ") + shown(of[k]) + " " + s.resources[k].name;
  return out.empty() ? "nothing" : out;
}

bool weighted(const Sharing& s) {
  return std::any_of(s.users.begin(), s.users.end(), [](const Sharing::User& u) { return u.weight && !(*u.weight == Fraction(1)); });
}

/// Why the chosen user was chosen, from what the step's note says.
std::string because(const Sharing& s, const SharingStep& step, const std::vector<bool>& out) {
  const SharingStep::Of& c = step.users[step.chosen];
  bool equal = false;
  const SharingStep::Of* next = nullptr;
  for (size_t u = 0; u < step.users.size(); u++) {
    const SharingStep::Of& o = step.users[u];
    if (u == step.chosen || out[u] || o.waiting == 0) continue;
    if (o.share == c.share) equal = true;
    else if (const auto a = Fraction::parse(o.share), b = Fraction::parse(next ? next->share : ""); !next || (a && b && *a < *b)) next = &o;
  }
  if (equal) return "tie: " + s.users[step.chosen].name + " first";
  if (!next) return "only one left";
  return c.share + " < " + next->share;
}

/// "4/18 = 2/9"
std::string part_text(const Sharing& s, const SharingSolution& r, size_t u, size_t k) {
  const std::string part = shown(s.users[u].asks[k]) + "/" + shown(s.resources[k].installed);
  return s.users[u].asks[k].zero() || part == r.tasks[u].shares[k] ? part : part + " = " + r.tasks[u].shares[k];
}

TableBlock task_table(const Sharing& s, const SharingSolution& r) {
  TableBlock t;
  t.columns.push_back({"user", false, false});
  for (const auto& k : s.resources) t.columns.push_back({"a task's\n" + k.name, true, false});
  t.columns.push_back({"dominant", false, false});
  t.columns.push_back({"share", true, false});
  if (weighted(s)) t.columns.push_back({"weight", true, false});
  for (size_t u = 0; u < s.users.size(); u++) {
    if (r.tasks[u].shares.empty()) continue;
    std::vector<std::string> row{s.users[u].name};
    for (size_t k = 0; k < s.resources.size(); k++) row.push_back(part_text(s, r, u, k));
    row.push_back(s.resources[r.tasks[u].dominant].name);
    row.push_back(r.tasks[u].share);
    if (weighted(s)) row.push_back(s.users[u].weight.value_or(Fraction(1)).text());
    t.rows.push_back(std::move(row));
  }
  return t;
}

TableBlock step_table(const Sharing& s, const SharingSolution& r) {
  TableBlock t;
  t.steps = true;
  t.columns.push_back({"step", true, false});
  size_t width = 0;
  for (const auto& k : s.resources) width += 2 * k.installed.text().size() + 3;
  const bool all = width * s.users.size() <= 40;  // what each holds, where a line has room for it; else shares alone
  for (const auto& u : s.users) {
    for (size_t k = 0; all && k < s.resources.size(); k++) t.columns.push_back({u.name + "\n" + s.resources[k].name, true, false});
    t.columns.push_back({u.name + "\nshare", true, false});
  }
  t.columns.push_back({"next", false, false});
  t.columns.push_back({"because", false, true});
  for (size_t k = 0; k < s.resources.size(); k++) t.columns.push_back({"left\n" + s.resources[k].name, true, false});
  std::vector<bool> out(s.users.size());
  bool ended = false;
  for (size_t i = 0; i < r.steps.size(); i++) {
    const SharingStep& step = r.steps[i];
    std::vector<std::string> row{std::to_string(i + 1)};
    for (const SharingStep::Of& u : step.users) {
      for (size_t k = 0; all && k < s.resources.size(); k++) row.push_back(shown(u.held[k]) + "/" + shown(s.resources[k].installed));
      row.push_back(u.share);
    }
    row.push_back(s.users[step.chosen].name);
    std::string why = because(s, step, out);
    if (!step.fits) {
      why += ended ? "; no room" : "; no room: the paper stops here";
      ended = true;
      // Who asks the same does not fit either, and is not asked.
      for (size_t u = 0; u < out.size(); u++)
        if (s.users[u].asks == s.users[step.chosen].asks) out[u] = true;
    }
    row.push_back(std::move(why));
    for (const Fraction& f : step.left) row.push_back(shown(f));
    t.rows.push_back(std::move(row));
  }
  return t;
}

std::string outcome(const Sharing& s, const SharingSolution& r, size_t steps) {
  std::vector<int64_t> tasks(s.users.size());
  std::vector<std::string> share(s.users.size(), "0");
  std::vector<Fraction> left;
  for (size_t i = 0; i < steps; i++) {
    const SharingStep& step = r.steps[i];
    left = step.left;
    if (step.fits) tasks[step.chosen]++, share[step.chosen] = step.share_after;
  }
  std::string text, shares;
  for (size_t u = 0; u < s.users.size(); u++) {
    text += (u ? ", " : "") + s.users[u].name + " " + std::to_string(tasks[u]) + (tasks[u] == 1 ? " task" : " tasks");
    shares += (u == 0 ? "" : u + 1 == s.users.size() ? " and " : ", ") + share[u];
  }
  text += std::string("; ") + (weighted(s) ? "dominant shares by weight " : "dominant shares ") + shares;
  std::string full;
  for (size_t k = 0; k < left.size(); k++)
    if (left[k].zero()) full += (full.empty() ? "" : " and ") + s.resources[k].name;
  if (!full.empty()) text += "; " + full + " used up";
  return text;
}

Document forward(const Drf& solved) {
  const Sharing& s = solved.sharing;
  const SharingSolution& r = solved.solution;
  Document d;
  std::vector<Fraction> all;
  for (const auto& k : s.resources) all.push_back(k.installed);
  d.title = "Dominant resource fairness on " + amounts(s, all);
  d.say("What one task asks, as a share of the cluster. The largest of its shares is the dominant one.", "steps 1, 2");
  d.add(task_table(s, r));
  for (size_t u = 0; u < s.users.size(); u++)
    if (r.tasks[u].shares.empty()) d.say(s.users[u].name + " takes no part: it has no task, or one asks more than the cluster has.");
  d.say(std::string("The next task goes to the user whose dominant share") + (weighted(s) ? ", divided by the weight," : "") +
            " is smallest; ties go to who is named first.",
        "steps 3 to 5");
  d.add(step_table(s, r));
  const size_t ends = solved.paper_ends;
  const std::string last = outcome(s, r, r.steps.size()), first = ends ? outcome(s, r, ends) : last;
  if (first == last) {
    d.say(last, "result");
  } else {
    d.say(first, "result when the first task that does not fit ends it");
    d.say(last, "result when its user is left out and the others go on");
  }
  Bars bars;
  bars.end = 1'000'000;
  bars.end_text = "1";
  for (size_t u = 0; u < s.users.size(); u++) {
    std::string share = "0";
    for (const SharingStep& step : r.steps)
      if (step.fits && step.chosen == u) share = step.share_after;
    const auto f = Fraction::parse(share);
    bars.rows.push_back({s.users[u].name, {{0, f ? (*f * bars.end).floor() : 0, ""}}, share});
  }
  d.add(std::move(bars));

  std::string divisible;
  for (size_t u = 0; u < s.users.size(); u++)
    divisible += (u ? ", " : "") + s.users[u].name + " " + shown(r.divisible[u].tasks) + " at share " + r.divisible[u].share.text();
  d.say(divisible + ".", "if tasks could be divided");
  return d;
}

/// From the order of the first tasks to what was compared: the same exercise under each resource alone, and under the dominant one.
Document reverse(const Exercise& e, const Sharing& s, const Config& order) {
  std::vector<std::string> seen;
  for (const auto& [none, n] : order.fields) seen.emplace_back(n.value);
  if (order.fields.empty())
    for (size_t at = 0; at <= order.value.size();) {
      const size_t comma = std::min(order.value.find_first_of(", ", at), order.value.size());
      if (comma > at) seen.push_back(order.value.substr(at, comma - at));
      at = comma + 1;
    }
  for (const std::string& n : seen)
    if (std::none_of(s.users.begin(), s.users.end(), [&](const Sharing::User& u) { return u.name == n; }))
      throw InputError(order.where + ": no user is called \"" + n + "\"");
  if (seen.empty()) throw InputError(order.where + ": want the users in the order of their first tasks");

  Document d;
  std::string list;
  for (const std::string& n : seen) list += (list.empty() ? "" : " ") + n;
  d.title = "Which share was compared? First tasks: " + list;
  TableBlock t;
  t.columns = {{"if shares are of", false, false}, {"the first tasks are", false, true}, {"and that is", false, true}};
  std::vector<std::string> fits;
  SharingSolution dominant;
  for (size_t k = 0; k <= s.resources.size(); k++) {
    const bool all = k == s.resources.size();
    Config parameters;
    if (!all) parameters.set("resources", Config::text(s.resources[k].in_records));
    const std::string name = all ? "the dominant one of each" : s.resources[k].name + " alone";
    const ExerciseRun run = run_sharing(e, all ? "drf" : "drf-" + s.resources[k].in_records, s, "drf", parameters);
    const SharingSolution r = read_solution(s, run);
    if (all) dominant = r;
    std::string first;
    size_t same = 0;
    for (size_t i = 0; i < seen.size() && i < r.order.size(); i++) {
      first += (i ? " " : "") + s.users[r.order[i]].name;
      if (same == i && s.users[r.order[i]].name == seen[i]) same++;
    }
    const bool holds = same == seen.size();
    if (holds) fits.push_back(name);
    t.rows.push_back({name, first, holds ? "what was seen" : "not what was seen: task " + std::to_string(same + 1) + " differs"});
  }
  d.add(std::move(t));
  d.add(task_table(s, dominant));
  std::string who;
  for (size_t u = 0; u < s.users.size(); u++)
    if (!dominant.tasks[u].shares.empty())
      who += (who.empty() ? "" : ", ") + s.users[u].name + ": " + s.resources[dominant.tasks[u].dominant].name;
  const bool drf = !fits.empty() && fits.back() == "the dominant one of each";
  std::string others;
  for (const std::string& f : fits)
    if (f != "the dominant one of each") others += (others.empty() ? "" : " and ") + f;
  if (drf && others.empty()) d.say("only dominant shares give this order. Dominant resources: " + who + ".", "result");
  else if (drf)
    d.say("dominant shares give this order (" + who + "), but so does " + others + ": more tasks are needed to tell them apart.", "result");
  else if (!others.empty()) d.say(others + " gives this order, dominant shares do not.", "result");
  else d.say("none of these gives this order: it was not one resource, nor the dominant one, or ties were broken another way.", "result");
  return d;
}

}  // namespace

Drf solve_drf(const Exercise& e) {
  Drf d;
  d.sharing = Sharing(e);
  const Config* rule = e.input.find("rule");
  if (rule && rule->value != "stop" && rule->value != "skip")
    throw InputError((rule->where.empty() ? "" : rule->where + ": ") + "rule is stop or skip, found \"" + rule->value + "\"");
  Config parameters;
  if (rule) parameters.set("blocked", Config::text(rule->value));
  d.solution = read_solution(d.sharing, run_sharing(e, "drf", d.sharing, "drf", parameters));
  const auto& steps = d.solution.steps;
  const auto stops = std::find_if(steps.begin(), steps.end(), [](const SharingStep& s) { return !s.fits; });
  if (stops != steps.end()) d.paper_ends = size_t(stops - steps.begin()) + 1;
  return d;
}

namespace {

/// Jobs instead of users: each is one task, and its share with that task decides, the smaller request first.
Document of_jobs(const Exercise& e) {
  const JobShares j = solve_job_shares(e);
  Document d;
  d.title = "Jobs by the dominant share of what they ask";
  d.add(task_table(j.sharing, j.solution));
  std::string order;
  for (const size_t u : j.order) order += (order.empty() ? "" : ", ") + j.sharing.users[u].name;
  d.say(order, "order");
  return d;
}

Document of_tree(const Exercise& e) {
  const Hierarchy h = solve_hdrf(e);
  Document d;
  d.title = "Hierarchical dominant resource fairness";
  TableBlock t;
  t.columns = {{"queue", false, false}, {"asks", false, true}, {"tasks", true, false}, {"share", true, false}};
  for (size_t u = 0; u < h.sharing.users.size(); u++) {
    const auto& user = h.sharing.users[u];
    t.rows.push_back({user.name, amounts(h.sharing, user.asks), std::to_string(h.tasks[u]), h.shares[u]});
  }
  d.add(std::move(t));
  return d;
}

}  // namespace

Document explain_drf(const Exercise& e) {
  if (e.input.find("tree")) return of_tree(e);
  if (e.input.find("jobs")) return of_jobs(e);
  if (const Config* order = e.input.find("order")) return reverse(e, Sharing(e), *order);
  return forward(solve_drf(e));
}

}  // namespace muster
