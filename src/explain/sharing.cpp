#include "explain/sharing.hpp"

#include <algorithm>
#include <array>

#include "text/numbers.hpp"

namespace muster {
namespace {

constexpr size_t kResources = kMaxKinds - 1;  // whole GPUs are not used: an amount may be anything
constexpr int64_t kMostTasks = 20'000;

[[noreturn]] void refuse(const std::string& where, const std::string& what) {
  throw InputError((where.empty() ? "" : where + ": ") + what);
}

bool is_any(std::string_view s, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), s) != names.end();
}

/// Puts users into the order that decides ties.
void order_users(std::vector<Sharing::User>& users, const std::vector<std::string>& names, const std::string& where) {
  size_t next = 0;
  for (const std::string& n : names) {
    const auto it =
        std::find_if(users.begin() + std::ptrdiff_t(std::min(next, users.size())), users.end(), [&](const auto& u) { return u.name == n; });
    if (it == users.end()) refuse(where, "no user is called " + in_quotes(n) + ", or it stands twice");
    std::rotate(users.begin() + std::ptrdiff_t(next), it, it + 1);
    next++;
  }
}

std::vector<std::string> split(std::string_view s) {
  std::vector<std::string> out;
  while (!s.empty()) {
    const size_t comma = std::min(s.find(','), s.size());
    std::string_view one = s.substr(0, comma);
    while (!one.empty() && one.front() == ' ') one.remove_prefix(1);
    while (!one.empty() && one.back() == ' ') one.remove_suffix(1);
    if (!one.empty()) out.emplace_back(one);
    s.remove_prefix(std::min(comma + 1, s.size()));
  }
  return out;
}

int64_t tasks_of(const Config& c) {
  const Fraction f = exact(c);
  if (f.den() != 1 || f.num() > kMostTasks)
    refuse(c.where, "want a whole number of tasks from 0 to " + with_commas(kMostTasks) + ", found " + in_quotes(c.value));
  return int64_t(f.num());
}

}  // namespace

Fraction exact(const Config& c) {
  if (const Config* frac = c.kind == Config::Kind::object ? c.find("frac") : nullptr) return exact(*frac);
  const auto f = c.kind == Config::Kind::number || c.kind == Config::Kind::text ? Fraction::parse(c.value) : std::nullopt;
  if (!f || f->num() > 1'000'000'000'000 || f->den() > 1'000'000'000)
    refuse(c.where, "want a number from 0 to 10^12, as in 4, 2.5 or 5/3, found " + in_quotes(c.value));
  return *f;
}

std::string shown(const Fraction& f) {
  const Fraction ten_thousandths = f * 10'000;
  if (f.den() == 1 || ten_thousandths.den() != 1) return f.text();
  std::string digits = ten_thousandths.text();
  if (digits.size() < 5) digits.insert(0, 5 - digits.size(), '0');
  digits.insert(digits.size() - 4, ".");
  while (digits.back() == '0') digits.pop_back();
  return digits;
}

size_t Sharing::resource(std::string_view name) const {
  for (size_t r = 0; r < resources.size(); r++)
    if (resources[r].name == name) return r;
  return resources.size();
}

Sharing::Sharing(const Exercise& e) {
  const Config& in = e.input;
  const auto add_resource = [&](const std::string& name, const Config& amount) {
    if (resources.size() == kResources) refuse(amount.where, "at most " + std::to_string(kResources) + " resources");
    resources.push_back({name, exact(amount), 1, 0, {}});
    if (resources.back().installed.zero()) refuse(amount.where, "want an amount above 0");
  };
  const auto asks = [&](const Config& c) {  // of one resource by a user
    return exact(c);
  };
  if (const Config* rows = in.find("rows")) {
    const auto name_of = [](const Config& row) -> const Config& {
      for (const char* column : {"user", "name", "id"})
        if (const Config* c = row.find(column)) return *c;
      refuse(row.where, "want a name in column user");
    };
    const auto is_capacity = [&](const Config& row) { return is_any(name_of(row).value, {"capacity", "cluster", "total"}); };
    const auto is_amount = [](std::string_view column) { return !is_any(column, {"user", "name", "id", "weight", "tasks", "max_tasks"}); };
    for (const auto& [none, row] : rows->fields)
      if (is_capacity(row))
        for (const auto& [column, v] : row.fields)
          if (is_amount(column)) {
            if (resource(column) != resources.size()) refuse(row.where, "capacity stands twice");
            add_resource(column, v);
          }
    if (resources.empty()) refuse(e.file, "want a row called capacity with what the cluster has of each resource");
    for (const auto& [none, row] : rows->fields) {
      if (is_capacity(row)) continue;
      User u;
      u.name = name_of(row).value;
      u.asks.resize(resources.size());
      for (const auto& [column, v] : row.fields) {
        if (column == "weight") u.weight = exact(v);
        else if (column == "tasks" || column == "max_tasks") u.most = tasks_of(v);
        else if (is_amount(column)) {
          const size_t r = resource(column);
          if (r == resources.size()) refuse(v.where, "the row capacity has nothing of it");
          u.asks[r] = asks(v);
        }
      }
      users.push_back(std::move(u));
    }
  } else {
    const Config* capacity = in.find("capacity");
    const Config* all = in.find("users");
    if (!capacity || capacity->kind != Config::Kind::object || capacity->fields.empty())
      refuse(e.file, "want \"capacity\": {\"cpu\": 9, \"mem\": 18}");
    if (!all || all->kind != Config::Kind::object) refuse(e.file, "want \"users\": {\"A\": {\"demand\": {\"cpu\": 1, \"mem\": 4}}, ...}");
    for (const auto& [name, amount] : capacity->fields) add_resource(name, amount);
    for (const auto& [name, c] : all->fields) {
      User u;
      u.name = name;
      u.asks.resize(resources.size());
      const Config* demand = c.find("demand");
      const bool bare = !demand;  // {"A": {"cpu": 1, "mem": 4}}
      if (!bare) c.only(std::array<std::string_view, 5>{"demand", "weight", "tasks", "max_tasks", "max"});
      for (const auto& [what, v] : (bare ? c : *demand).fields) {
        if (bare && what == "weight") u.weight = exact(v);
        else if (bare && is_any(what, {"tasks", "max_tasks", "max"})) u.most = tasks_of(v);
        else {
          const size_t r = resource(what);
          if (r == resources.size()) {
            std::vector<std::string_view> known;
            for (const Resource& k : resources) known.push_back(k.name);
            const std::string near = nearest_name(what, known);
            refuse(v.where, "the cluster has no " + in_quotes(what) + (near.empty() ? "" : "; did you mean " + near + "?"));
          }
          u.asks[r] = asks(v);
        }
      }
      if (!bare) {
        if (const Config* w = c.find("weight"); w && w->kind != Config::Kind::none) u.weight = exact(*w);
        for (const char* key : {"tasks", "max_tasks", "max"})
          if (const Config* m = c.find(key); m && m->kind != Config::Kind::none) u.most = tasks_of(*m);
      }
      users.push_back(std::move(u));
    }
  }
  if (users.empty()) refuse(e.file, "want at least one user");
  for (size_t i = 0; i < users.size(); i++)
    for (size_t j = 0; j < i; j++)
      if (users[i].name == users[j].name) refuse(e.file, "user " + in_quotes(users[i].name) + " stands twice");
  if (const Config* ties = in.find("ties")) {
    std::vector<std::string> names;
    for (const auto& [none, n] : ties->fields) names.emplace_back(n.as_text());
    if (ties->fields.empty()) names = split(ties->value);
    order_users(users, names, ties->where);
  } else if (const Config* rule = in.find("tie_rule")) {
    // "equal dominant shares: order B,A": a list of names after the word; any other rule is the listed order.
    if (const size_t at = rule->value.rfind("order "); at != std::string::npos && rule->value.find("listed order") == std::string::npos) {
      const std::vector<std::string> names = split(std::string_view(rule->value).substr(at + 6));
      const bool all_known = std::all_of(names.begin(), names.end(), [&](const std::string& n) {
        return std::any_of(users.begin(), users.end(), [&](const User& u) { return u.name == n; });
      });
      if (all_known) order_users(users, names, rule->where);
    }
  }
  settle();
}

/// Gives every resource a unit and a kind. What is CPU or memory by its name takes their kinds, so that records read well.
void Sharing::settle() {
  size_t next = kMem + 1;
  bool taken[kMaxKinds] = {};
  const auto take = [&](Resource& r, size_t kind, std::string name) { r.kind = kind, r.in_records = std::move(name), taken[kind] = true; };
  for (Resource& r : resources) {
    if (!taken[kCpu] && is_any(r.name, {"cpu", "cpus", "CPU", "cores"})) take(r, kCpu, "cpu");
    else if (!taken[kMem] && (r.name.starts_with("mem") || r.name.starts_with("ram") || is_any(r.name, {"RAM", "Memory"})))
      take(r, kMem, "mem");
  }
  for (Resource& r : resources) {
    if (r.kind) continue;
    if (next < kMaxKinds) take(r, next++, is_any(r.name, {"gpu", "cpu", "mem"}) ? r.name + "s" : r.name);
    else if (!taken[kCpu]) take(r, kCpu, "cpu");
    else take(r, kMem, "mem");
  }
  for (size_t r = 0; r < resources.size(); r++) {
    Fraction common = 1;
    const auto see = [&](const Fraction& f) { common = common * (f * common).den(); };
    see(resources[r].installed);
    for (const User& u : users) see(u.asks[r]);
    if ((resources[r].installed * common).num() > (int64_t{1} << 40))
      throw InputError("amounts of " + resources[r].name + " have no common unit that is large enough");
    resources[r].scale = int64_t(common.num());
  }
}

Topology Sharing::topology() const {
  TopologySpec spec;
  spec.name = "exercise";
  spec.levels = {"node"};
  NodeKind kind;
  kind.name = "all";
  for (const Resource& r : resources) {
    kind.capacity[r.kind] = int64_t((r.installed * r.scale).num());
    if (r.kind == kCpu) kind.limits_cpu = true;
    if (r.kind == kMem) kind.limits_mem = true;
    if (r.kind > kMem)
      spec.kinds_of_resource.resize(std::max(spec.kinds_of_resource.size(), r.kind - kMem)),
          spec.kinds_of_resource[r.kind - kMem - 1] = r.in_records;
  }
  spec.kinds.push_back(kind);
  TopologySpec::Vertex node;
  node.name = "all";
  node.kind = 0;
  spec.top.push_back(node);
  return Topology::build(std::move(spec));
}

Workload Sharing::workload() const {
  Workload w;
  w.queues.add("");
  int64_t total = 0;
  for (uint32_t u = 0; u < users.size(); u++) {
    w.tenants.add(users[u].name);
    Shape s;
    TaskGroup g;
    int64_t fit = kMostTasks;
    bool asks = false;
    for (size_t r = 0; r < resources.size(); r++) {
      const Fraction amount = users[u].asks[r] * resources[r].scale;
      g.per_task[resources[r].kind] = int64_t(amount.num());
      if (amount.zero()) continue;
      asks = true;
      fit = std::min(fit, (resources[r].installed / users[u].asks[r]).floor());
    }
    s.groups = {g};
    s.nodes = Nodes::one;
    w.shapes.push_back(s);
    if (!asks && !users[u].most) throw InputError("user " + users[u].name + " asks nothing: say how many tasks it has");
    // One more than fits, so that it still wants more when the cluster is full.
    const int64_t tasks = std::min(users[u].most.value_or(kMostTasks), asks ? fit + 1 : kMostTasks);
    if ((total += tasks) > kMostTasks)
      throw InputError("more than " + with_commas(kMostTasks) + " tasks fit; larger ones, or fewer, can be written down");
    for (int64_t i = 0; i < tasks; i++) {
      Job j;
      j.tenant = u, j.shape = u;
      JobTruth truth;
      truth.work = kNever;
      w.jobs.push_back(j);
      w.truths.push_back(truth);
      w.names.add(users[u].name + "-" + std::to_string(i + 1));
    }
  }
  return w;
}

std::string Sharing::weights() const {
  std::string s;
  for (const User& u : users)
    if (u.weight) s += (s.empty() ? "" : ",") + u.name + "=" + u.weight->text();
  return s;
}

ExerciseRun run_sharing(const Exercise& e, std::string_view name, const Sharing& s, std::string_view policy, Config parameters) {
  const Topology t = s.topology();
  Workload w = s.workload();
  parameters.set("tell", Config::text("steps"));
  if (const std::string weights = s.weights(); !weights.empty()) parameters.set("weights", Config::text(weights));
  return run_exercise(e, name, t, w, policy, parameters, kSecond);
}

}  // namespace muster
