#include "parts/kai_queues.hpp"

#include <algorithm>
#include <map>

namespace muster::kai {

namespace {

constexpr std::array<std::string_view, kShared> kNames = {"gpu", "cpu", "memory"};

std::string at(const Config& c) { return c.where.empty() ? std::string() : c.where + ": "; }

/// -1 is no limit; else an amount in the unit people use: GPUs and CPUs with three digits, GiB of memory.
int64_t amount(const Config& c, size_t kind) {
  if (c.value == "-1") return kUnlimited;
  const int64_t millionths = c.as_millionths(0, 1'000'000'000'000'000);
  return kind == kMem ? int64_t(Int128(millionths) * 1024 / 1'000'000) : millionths / 1000;
}

QueueSpec queue(const Config& c) {
  static constexpr std::array<std::string_view, 6> kKnown = {"name", "parent", "priority", "gpu", "cpu", "memory"};
  c.only(kKnown);
  QueueSpec q;
  const Config* name = c.find("name");
  if (!name || name->as_text().empty()) throw InputError(at(c) + "want a name");
  q.name = name->as_text();
  if (const Config* p = c.find("priority")) q.priority = int32_t(p->as_integer(-1'000'000, 1'000'000));
  for (size_t k = 0; k < kShared; k++) {
    q.deserved[k] = q.most[k] = kUnlimited, q.weight[k] = 1000;
    const Config* r = c.find(kNames[k]);
    if (!r) continue;
    static constexpr std::array<std::string_view, 3> kFields = {"quota", "overQuotaWeight", "limit"};
    q.deserved[k] = 0;
    if (r->kind != Config::Kind::object) {
      q.deserved[k] = amount(*r, k);
      continue;
    }
    r->only(kFields);
    if (const Config* v = r->find("quota")) q.deserved[k] = amount(*v, k);
    if (const Config* v = r->find("limit")) q.most[k] = amount(*v, k);
    if (const Config* v = r->find("overQuotaWeight")) q.weight[k] = v->as_millionths(0, 1'000'000'000) / 1000;
  }
  return q;
}

}  // namespace

std::vector<QueueSpec> read_queues(const Config& queues) {
  if (queues.kind != Config::Kind::list || queues.fields.empty())
    throw InputError(at(queues) + "queues: want [{\"name\": ..., \"gpu\": {\"quota\": ..., \"overQuotaWeight\": ..., \"limit\": ...}}, ...]");
  std::map<std::string, size_t> row;
  std::vector<QueueSpec> all;
  for (const auto& [none, c] : queues.fields) {
    all.push_back(queue(c));
    if (!row.emplace(all.back().name, all.size() - 1).second) throw InputError(at(c) + "a second queue " + all.back().name);
  }
  std::vector<size_t> parent(all.size(), kNone);
  for (size_t i = 0; i < all.size(); i++) {
    const Config* p = queues.fields[i].second.find("parent");
    if (!p || p->as_text().empty()) continue;
    const auto found = row.find(std::string(p->as_text()));
    if (found == row.end()) {
      std::vector<std::string_view> known;
      for (const QueueSpec& q : all) known.push_back(q.name);
      const std::string near = nearest_name(p->as_text(), known);
      throw InputError(at(*p) + "no queue is called " + p->value + (near.empty() ? "" : "; did you mean " + near + "?"));
    }
    parent[i] = found->second;
  }
  // Level by level; what is never reached hangs in a loop.
  std::vector<QueueSpec> out;
  std::vector<uint32_t> number(all.size(), kNone);
  while (out.size() < all.size()) {
    const size_t before = out.size();
    for (size_t i = 0; i < all.size(); i++) {
      if (number[i] != kNone || (parent[i] != kNone && (number[parent[i]] == kNone || number[parent[i]] >= before))) continue;
      number[i] = uint32_t(out.size());
      all[i].parent = parent[i] == kNone ? kNone : number[parent[i]];
      if (all[i].parent != kNone) out[all[i].parent].leaf = false;
      out.push_back(all[i]);
    }
    if (out.size() > before) continue;
    for (size_t i = 0; i < all.size(); i++)
      if (number[i] == kNone) throw InputError(at(queues.fields[i].second) + "queue " + all[i].name + " is among its own parents");
  }
  return out;
}

}  // namespace muster::kai
