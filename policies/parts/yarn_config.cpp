#include "parts/yarn_config.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace muster::yarn {

namespace {

constexpr int64_t kMillion = 1'000'000;

std::string at(const Config& c) { return c.where.empty() ? std::string() : c.where + ": "; }
int64_t percent(const Config& c) { return c.as_millionths(0, 100 * kMillion) / 100; }

}  // namespace

std::vector<QueueSpec> read_queues(const Config& c) {
  const Config* queues = c.find("queues");
  if (!queues || queues->kind != Config::Kind::object || queues->fields.empty())
    throw InputError(at(queues ? *queues : c) + "queues: want {\"root.NAME\": {\"capacity\": per cent of the parent, ...}, ...}");
  // Sorted paths have every parent before its children; parents that are not listed are what their children need.
  std::map<std::string, const Config*> by_path;
  for (const auto& [path, q] : queues->fields) {
    if (path != "root" && !path.starts_with("root.")) throw InputError(at(q) + "want a path that begins with root, found \"" + path + "\"");
    by_path[path] = &q;
  }
  by_path.try_emplace("root", nullptr);
  std::map<std::string, uint32_t> number;
  std::vector<QueueSpec> out;
  std::vector<int64_t> sum;
  for (const auto& [path, q] : by_path) {
    QueueSpec s;
    s.path = path;
    s.capacity = s.most = kMillion;
    if (path != "root") {
      const std::string above = path.substr(0, path.rfind('.'));
      const auto p = number.find(above);
      if (p == number.end()) throw InputError(at(*q) + "queue " + path + " has no parent: list " + above + " too");
      s.parent = p->second;
      out[s.parent].leaf = false;
    }
    if (q) {
      static constexpr std::array<std::string_view, 6> kKnown = {
          "capacity",          "maximum-capacity", "minimum-user-limit-percent", "user-limit-factor", "maximum-am-resource-percent",
          "disable-preemption"};
      q->only(kKnown);
      if (path != "root") {
        const Config* capacity = q->find("capacity");
        if (!capacity) throw InputError(at(*q) + "queue " + path + ": want a capacity in per cent of its parent");
        const QueueSpec& p = out[s.parent];
        const int64_t share = percent(*capacity);
        sum[s.parent] += share;
        s.capacity = int64_t(Int128(p.capacity) * share / kMillion);
        const Config* most = q->find("maximum-capacity");
        s.most = int64_t(Int128(p.most) * (most ? percent(*most) : kMillion) / kMillion);
        if (s.most < s.capacity) throw InputError(at(*most) + "queue " + path + ": maximum-capacity is below capacity");
        s.off = p.off;
      }
      if (const Config* x = q->find("minimum-user-limit-percent")) s.user_least = percent(*x);
      if (const Config* x = q->find("user-limit-factor")) s.user_factor = x->as_millionths(-kMillion, 1'000'000 * kMillion);
      if (const Config* x = q->find("maximum-am-resource-percent")) s.am_millionths = x->as_millionths(0, kMillion);
      if (const Config* x = q->find("disable-preemption")) s.off = x->as_boolean();
    }
    number[path] = uint32_t(out.size());
    out.push_back(s);
    sum.push_back(0);
  }
  for (uint32_t q = 0; q < out.size(); q++)
    if (!out[q].leaf && sum[q] != kMillion)
      throw InputError(at(*queues) + "the capacities below " + out[q].path + " add up to " + std::to_string(sum[q] / 10'000) +
                       " per cent, not 100");
  return out;
}

Settings read_settings(const Config& c) {
  Settings s;
  const auto fraction = [&](std::string_view name, int64_t& value, int64_t most = kMillion) {
    if (const Config* x = c.find(name)) value = x->as_millionths(0, most);
  };
  if (const Config* x = c.find("monitoring_interval")) s.interval = std::max<Duration>(1, x->as_duration());
  if (const Config* x = c.find("max_wait_before_kill")) s.wait_before_kill = x->as_duration();
  fraction("total_preemption_per_round", s.per_round);
  fraction("max_ignored_over_capacity", s.ignored, 1000 * kMillion);
  fraction("natural_termination_factor", s.natural);
  if (const Config* x = c.find("preemption_to_balance")) s.balance = x->as_boolean();
  if (const Config* x = c.find("intra_queue_preemption")) s.intra = x->as_boolean();
  fraction("minimum_threshold", s.intra_threshold);
  fraction("max_allowable_limit", s.intra_most);
  if (const Config* x = c.find("preemption_order_policy")) {
    const std::string_view word = x->as_text();
    if (word != "userlimit_first" && word != "priority_first")
      throw InputError(at(*x) + "want userlimit_first or priority_first, found \"" + x->value + "\"");
    s.priority_first = word == "priority_first";
  }
  return s;
}

}  // namespace muster::yarn
