// muster explain maxmin: max-min fairness by progressive filling, or one unit at a time.
#include <algorithm>

#include "explain/drf.hpp"

namespace muster {
namespace {

[[noreturn]] void refuse(const std::string& where, const std::string& what) {
  throw InputError((where.empty() ? "" : where + ": ") + what);
}

constexpr const char* kUnits = "units";

/// The exercise as users with tasks: a demand is one task, or when it is indivisible as many as it has units.
Sharing sharing(const Exercise& e, bool indivisible) {
  Config users, capacity;
  const auto add = [&](const std::string& name, const Config& demand, const Config* weight) {
    if (users.find(name)) refuse(demand.where, "user " + name + " stands twice");
    Fraction d = exact(demand);
    if (indivisible && d.den() != 1) refuse(demand.where, "want a whole number of units, since they are indivisible");
    if (capacity.given() && exact(capacity) < d) d = exact(capacity);  // nobody can get more
    Config demands, user;
    demands.set(kUnits, Config::text(indivisible ? "1" : d.text(), demand.where));
    user.set("demand", demands);
    user.set("tasks", Config::text(indivisible ? d.text() : "1", demand.where));
    if (weight && weight->given() && weight->value != "null") user.set("weight", *weight);
    users.set(name, user);
  };
  if (const Config* rows = e.input.find("rows")) {
    const auto field = [](const Config& row, const char* column) -> const Config& {
      const Config* c = row.find(column);
      if (!c) refuse(row.where, "want columns user, demand and perhaps weight");
      return *c;
    };
    for (const auto& [none, row] : rows->fields)
      if (field(row, "user").value == "capacity") capacity = field(row, "demand");
    for (const auto& [none, row] : rows->fields)
      if (field(row, "user").value != "capacity") add(row.find("user")->value, field(row, "demand"), row.find("weight"));
  } else {
    if (const Config* c = e.input.find("capacity")) capacity = *c;
    const Config* demands = e.input.find("demands");
    if (!demands || demands->kind != Config::Kind::object || demands->fields.empty())
      refuse(e.file, "want \"capacity\": 10 and \"demands\": {\"a\": 2, \"b\": 2.6}; or \"links\" and \"flows\"");
    const Config* weights = e.input.find("weights");
    if (weights && weights->kind == Config::Kind::object)
      for (const auto& [name, w] : weights->fields)
        if (!demands->find(name)) refuse(w.where, "no demand is called " + name);
    for (const auto& [name, d] : demands->fields) add(name, d, weights ? weights->find(name) : nullptr);
  }
  if (!capacity.given()) refuse(e.file, "want the capacity that is shared");
  Config amounts, input;
  amounts.set(kUnits, capacity);
  input.set("capacity", amounts);
  input.set("users", users);
  for (const char* key : {"ties", "tie_rule"})
    if (const Config* c = e.input.find(key)) input.set(key, *c);
  Exercise plain = e;
  plain.input = input;
  return Sharing(plain);
}

/// Flows on links: a flow is a user whose tasks ask the same of each of its links.
Sharing flows(const Exercise& e, const Config& links) {
  const Config* all = e.input.find("flows");
  if (!all || all->kind != Config::Kind::object || all->fields.empty()) refuse(e.file, "want \"flows\": {\"f1\": [\"AC\", \"CE\"]}");
  // A task is so small that one of it fits on every link; rates are counted in tasks, hence the common size.
  Fraction unit = 1;
  for (const auto& [name, c] : links.fields)
    if (exact(c) < unit) unit = exact(c);
  Config users;
  for (const auto& [name, path] : all->fields) {
    const Config* through = path.kind == Config::Kind::object ? path.find("links") : &path;
    if (!through || through->fields.empty()) refuse(path.where, "want the links that the flow takes");
    Config demand, user;
    for (const auto& [none, link] : through->fields) demand.set(link.value, Config::text(unit.text(), link.where));
    user.set("demand", demand);
    if (path.kind == Config::Kind::object)
      for (const char* key : {"weight", "tasks"})
        if (const Config* c = path.find(key)) user.set(key, *c);
    users.set(name, user);
  }
  Config input;
  input.set("capacity", links);
  input.set("users", users);
  Exercise plain = e;
  plain.input = input;
  return Sharing(plain);
}

std::string list(std::string_view commas) {
  std::string s;
  for (const char c : commas) s += c == ',' ? std::string(", ") : std::string(1, c);
  return s;
}

/// A level is in units of the exercise.
std::string level(const Sharing& s, const std::string& text) {
  const auto f = Fraction::parse(text);
  return f ? shown(*f / s.resources[0].scale) : text;
}

Document divisible(const Sharing& s, const SharingSolution& r, bool links) {
  Document d;
  d.title = links ? "Max-min fair rates of flows on links" : "Max-min fair shares of " + shown(s.resources[0].installed);
  bool weighted = false;
  for (const auto& u : s.users) weighted |= u.weight && !(*u.weight == Fraction(1));
  d.say(std::string("All rise together") + (weighted ? ", in proportion to their weights," : "") +
            (links ? " until a link is full; its flows stop there, the others go on."
                   : " until somebody has what it wants; the rest is shared by the others, and so on."),
        "rule");
  TableBlock t;
  t.steps = true;
  t.columns = {{"round", true, false}, {links ? "rate" : weighted ? "level by weight" : "level", true, false}};
  if (links) t.columns.push_back({"full", false, true});
  t.columns.push_back({links ? "flows that stop" : "have what they want", false, true});
  if (!links) t.columns.push_back({"stop because nothing is left", false, true});
  for (size_t i = 0; i < r.rounds.size(); i++) {
    const SharingSolution::Round& round = r.rounds[i];
    std::vector<std::string> row{std::to_string(i + 1), level(s, round.level)};
    if (links) {
      std::string full;
      for (const auto& k : s.resources) {
        const std::string all = "," + round.full + ",";
        if (all.find("," + k.in_records + ",") != std::string::npos) full += (full.empty() ? "" : ", ") + k.name;
      }
      row.push_back(full);
    }
    row.push_back(list(links ? round.stopped : round.satisfied));
    if (!links) row.push_back(list(round.stopped));
    t.rows.push_back(std::move(row));
  }
  d.add(std::move(t));
  TableBlock shares;
  shares.columns = {{links ? "flow" : "user", false, false}};
  if (weighted) shares.columns.push_back({"weight", true, false});
  if (!links) shares.columns.push_back({"wants", true, false});
  shares.columns.push_back({links ? "rate" : "gets", true, false});
  std::string result;
  for (size_t u = 0; u < s.users.size(); u++) {
    std::vector<std::string> row{s.users[u].name};
    if (weighted) row.push_back(s.users[u].weight.value_or(Fraction(1)).text());
    if (!links) row.push_back(shown(s.users[u].asks[0]));
    row.push_back(shown(rate_of(s, r, u)));
    result += (u ? ", " : "") + s.users[u].name + " " + row.back();
    shares.rows.push_back(std::move(row));
  }
  d.add(std::move(shares));
  if (!links) result += "; " + shown(r.divisible_left[0]) + " left over";
  d.say(result, "result");
  return d;
}

Document whole_units(const Sharing& s, const SharingSolution& r) {
  Document d;
  d.title = "Max-min fair shares of " + shown(s.resources[0].installed) + " whole units";
  d.say("The next unit goes to who holds least; ties go to who is named first.", "rule");
  TableBlock t;
  t.steps = true;
  t.columns.push_back({"step", true, false});
  for (const auto& u : s.users) t.columns.push_back({u.name, true, false});
  t.columns.push_back({"next", false, false});
  t.columns.push_back({"left", true, false});
  for (size_t i = 0; i < r.steps.size(); i++) {
    const SharingStep& step = r.steps[i];
    if (!step.fits) continue;
    std::vector<std::string> row{std::to_string(i + 1)};
    for (const auto& u : step.users) row.push_back(u.held[0].text());
    row.push_back(s.users[step.chosen].name);
    row.push_back(step.left[0].text());
    t.rows.push_back(std::move(row));
  }
  d.add(std::move(t));
  std::string result, divided;
  for (size_t u = 0; u < s.users.size(); u++) {
    result += (u ? ", " : "") + s.users[u].name + " " + std::to_string(r.launched[u]);
    divided += (u ? ", " : "") + s.users[u].name + " " + shown(rate_of(s, r, u));
  }
  d.say(result, "result");
  d.say(divided, "if divisible");
  return d;
}

}  // namespace

Fraction rate_of(const Sharing& s, const SharingSolution& r, size_t u) {
  for (size_t k = 0; k < s.resources.size(); k++)
    if (!s.users[u].asks[k].zero()) return r.divisible[u].gets[k];
  return 0;
}

MaxMin solve_maxmin(const Exercise& e) {
  MaxMin m;
  const Config* links = e.input.find("links");
  m.links = links != nullptr;
  const Config* whole = e.input.find("indivisible");
  m.indivisible = whole && whole->value == "true";
  m.sharing = links ? flows(e, *links) : sharing(e, m.indivisible);
  Config parameters;
  parameters.set("resources", Config::text("all"));
  m.solution = read_solution(m.sharing, run_sharing(e, "max-min", m.sharing, "max-min", parameters));
  return m;
}

Document explain_maxmin(const Exercise& e) {
  const MaxMin m = solve_maxmin(e);
  return m.indivisible ? whole_units(m.sharing, m.solution) : divisible(m.sharing, m.solution, m.links);
}

}  // namespace muster
