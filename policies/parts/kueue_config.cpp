#include "parts/kueue_config.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace muster::kueue {

namespace {

std::string at(const Config& c) { return c.where.empty() ? std::string() : c.where + ": "; }

/// One of the words, as its place in the list.
size_t word(const Config& c, std::span<const std::string_view> known) {
  const std::string_view w = c.as_text();
  const auto i = std::find(known.begin(), known.end(), w);
  if (i != known.end()) return size_t(i - known.begin());
  std::string all;
  for (const std::string_view k : known) all += (all.empty() ? "" : ", ") + std::string(k);
  throw InputError(at(c) + "want one of " + all + ", found \"" + c.value + "\"");
}

class Reader {
 public:
  Reader(const Config& c, const Topology& t) : c_(c), topology_(t) {}

  Setup read() {
    flavors();
    const Config* queues = list("queues");
    if (!queues || queues->fields.empty()) throw InputError(at(c_) + "queues: want [{\"name\": ..., \"quota\": {\"gpu\": ...}}, ...]");
    const Config* cohorts = list("cohorts");
    if (cohorts)
      for (const auto& [none, cohort] : cohorts->fields) scan(cohort);
    for (const auto& [none, queue] : queues->fields) scan(queue);
    std::sort(s_.columns.begin(), s_.columns.end());
    s_.columns.erase(std::unique(s_.columns.begin(), s_.columns.end()), s_.columns.end());
    std::vector<uint32_t> resource_of;
    for (const auto& [flavor, kind] : s_.columns) {
      resource_of.push_back(kind);
      if (std::find(s_.resources.begin(), s_.resources.end(), kind) == s_.resources.end()) s_.resources.push_back(kind);
    }
    s_.tree = QuotaTree(resource_of);
    if (cohorts) {
      for (const auto& [none, cohort] : cohorts->fields) {
        static constexpr std::array<std::string_view, 4> kKnown = {"name", "parent", "weight", "quota"};
        cohort.only(kKnown);
        if (!specs_.emplace(name_of(cohort), &cohort).second) throw InputError(at(cohort) + "a second cohort " + name_of(cohort));
      }
      for (const auto& [name, spec] : specs_) cohort_node(name, *spec, 0);
    }
    for (const auto& [none, queue] : queues->fields) this->queue(queue);
    return std::move(s_);
  }

 private:
  const Config* list(std::string_view name) const {
    const Config* c = c_.find(name);
    if (c && c->kind != Config::Kind::list) throw InputError(at(*c) + "want a list of objects");
    return c;
  }
  static std::string name_of(const Config& c) {
    const Config* name = c.find("name");
    if (!name) throw InputError(at(c) + "want a name");
    return std::string(name->as_text());
  }
  void flavors() {
    const Config* f = c_.find("flavors");
    if (f && f->kind != Config::Kind::object) throw InputError(at(*f) + "want {NAME: GPU type, ...}");
    if (f)
      for (const auto& [name, type] : f->fields) s_.flavors.push_back({name, std::string(type.as_text())});
    named_ = !s_.flavors.empty();
    if (!named_) s_.flavors.push_back({"default", ""});
  }
  uint32_t kind(const std::string& name, const Config& where) const {
    const auto& names = topology_.resource_names();
    const auto i = std::find(names.begin(), names.end(), name);
    if (i != names.end()) return uint32_t(i - names.begin());
    std::vector<std::string_view> known(names.begin(), names.end());
    const std::string nearest = nearest_name(name, known);
    throw InputError(at(where) + "no resource is called " + name + (nearest.empty() ? "" : "; did you mean " + nearest + "?"));
  }
  /// Calls f(flavor, kind, value) for each quota of a node.
  template <class F> void each_quota(const Config& node, F f) const {
    const Config* quota = node.find("quota");
    if (!quota) return;
    if (quota->kind != Config::Kind::object) throw InputError(at(*quota) + "want {RESOURCE: number or {\"nominalQuota\": ...}}");
    if (!named_) {
      for (const auto& [name, value] : quota->fields) f(0, kind(name, value), value);
      return;
    }
    for (const auto& [flavor, resources] : quota->fields) {
      uint32_t number = 0;
      while (number < s_.flavors.size() && s_.flavors[number].name != flavor) number++;
      if (number == s_.flavors.size()) {
        std::vector<std::string_view> known;
        for (const Flavor& x : s_.flavors) known.push_back(x.name);
        const std::string nearest = nearest_name(flavor, known);
        throw InputError(at(resources) + "no flavor is called " + flavor + (nearest.empty() ? "" : "; did you mean " + nearest + "?"));
      }
      if (resources.kind != Config::Kind::object) throw InputError(at(resources) + "want {RESOURCE: number or {\"nominalQuota\": ...}}");
      for (const auto& [name, value] : resources.fields) f(number, kind(name, value), value);
    }
  }
  void scan(const Config& node) {
    each_quota(node, [&](uint32_t flavor, uint32_t kind, const Config&) { s_.columns.emplace_back(flavor, kind); });
  }
  /// GPUs and CPUs are counted in thousandths, everything else in its own unit.
  static int64_t amount(const Config& c, uint32_t kind) {
    constexpr int64_t kMost = int64_t{1} << 40;
    return kind <= kCpu ? c.as_millionths(0, kMost * 1'000'000) / 1000 : c.as_integer(0, kMost);
  }
  std::vector<QuotaTree::Quota> quotas(const Config& node) const {
    std::vector<QuotaTree::Quota> out(s_.columns.size());
    each_quota(node, [&](uint32_t flavor, uint32_t kind, const Config& value) {
      QuotaTree::Quota& q = out[s_.column(flavor, kind)];
      if (value.kind != Config::Kind::object) {
        q.nominal = amount(value, kind);
        return;
      }
      static constexpr std::array<std::string_view, 3> kKnown = {"nominalQuota", "borrowingLimit", "lendingLimit"};
      value.only(kKnown);
      if (const Config* c = value.find("nominalQuota")) q.nominal = amount(*c, kind);
      if (const Config* c = value.find("borrowingLimit")) q.borrowing = amount(*c, kind);
      if (const Config* c = value.find("lendingLimit")) q.lending = amount(*c, kind);
    });
    return out;
  }
  uint32_t add(uint32_t parent, const Config& node) {
    const Config* weight = node.find("weight");
    const int64_t w = weight ? weight->as_millionths(0, int64_t{1'000'000} * 1'000'000) / 1000 : 1000;
    const uint32_t n = s_.tree.add(parent, quotas(node), w);
    s_.rules.emplace_back();
    return n;
  }
  uint32_t cohort_node(const std::string& name, const Config& spec, size_t depth) {
    if (const auto i = cohorts_.find(name); i != cohorts_.end()) return i->second;
    if (depth > specs_.size()) throw InputError(at(spec) + "cohort " + name + " is its own ancestor");
    uint32_t parent = kNone;
    if (const Config* above = spec.find("parent")) {
      const auto i = specs_.find(std::string(above->as_text()));
      if (i == specs_.end()) throw InputError(at(*above) + unknown_cohort(*above));
      parent = cohort_node(i->first, *i->second, depth + 1);
    }
    return cohorts_[name] = add(parent, spec);
  }
  std::string unknown_cohort(const Config& c) const {
    std::vector<std::string_view> known;
    for (const auto& [name, spec] : specs_) known.push_back(name);
    const std::string nearest = nearest_name(c.value, known);
    return "no cohort is called " + c.value + (nearest.empty() ? "" : "; did you mean " + nearest + "?");
  }
  void queue(const Config& c) {
    static constexpr std::array<std::string_view, 6> kKnown = {"name", "cohort", "weight", "queueingStrategy", "quota", "preemption"};
    c.only(kKnown);
    QueueSpec q;
    q.name = name_of(c);
    for (const QueueSpec& other : s_.queues)
      if (other.name == q.name) throw InputError(at(c) + "a second queue " + q.name);
    uint32_t parent = kNone;
    if (const Config* cohort = c.find("cohort")) {
      const std::string name(cohort->as_text());
      const auto i = cohorts_.find(name);
      if (i != cohorts_.end()) {
        parent = i->second;
      } else if (specs_.empty()) {  // without a list of cohorts a name is enough
        parent = cohorts_[name] = s_.tree.add(kNone, std::vector<QuotaTree::Quota>(s_.columns.size()));
        s_.rules.emplace_back();
      } else {
        throw InputError(at(*cohort) + unknown_cohort(*cohort));
      }
    }
    q.node = add(parent, c);
    if (const Config* strategy = c.find("queueingStrategy")) {
      static constexpr std::array<std::string_view, 2> kStrategies = {"BestEffortFIFO", "StrictFIFO"};
      q.strict = word(*strategy, kStrategies) == 1;
    }
    each_quota(c, [&](uint32_t flavor, uint32_t, const Config&) {
      if (std::find(q.flavors.begin(), q.flavors.end(), flavor) == q.flavors.end()) q.flavors.push_back(flavor);
    });
    if (q.flavors.empty())
      for (uint32_t f = 0; f < s_.flavors.size(); f++) q.flavors.push_back(f);
    if (const Config* p = c.find("preemption")) s_.rules[q.node] = preemption(*p);
    s_.queues.push_back(std::move(q));
  }
  static Rules preemption(const Config& p) {
    static constexpr std::array<std::string_view, 3> kKnown = {"withinClusterQueue", "reclaimWithinCohort", "borrowWithinCohort"};
    p.only(kKnown);
    static constexpr std::array<std::string_view, 3> kWithin = {"Never", "LowerPriority", "LowerOrNewerEqualPriority"};
    static constexpr std::array<std::string_view, 3> kReclaim = {"Never", "LowerPriority", "Any"};
    static constexpr std::array<std::string_view, 2> kBorrow = {"Never", "LowerPriority"};
    Rules r;
    if (const Config* w = p.find("withinClusterQueue"))
      r.within = std::array{Whom::never, Whom::lower, Whom::lower_or_newer_equal}[word(*w, kWithin)];
    if (const Config* w = p.find("reclaimWithinCohort")) r.reclaim = std::array{Whom::never, Whom::lower, Whom::any}[word(*w, kReclaim)];
    if (const Config* b = p.find("borrowWithinCohort")) {
      static constexpr std::array<std::string_view, 2> kOfBorrow = {"policy", "maxPriorityThreshold"};
      b->only(kOfBorrow);
      if (const Config* w = b->find("policy")) r.borrow = word(*w, kBorrow) == 1;
      if (const Config* most = b->find("maxPriorityThreshold"))
        r.borrow_most = int32_t(most->as_integer(std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()));
    }
    return r;
  }

  const Config& c_;
  const Topology& topology_;
  Setup s_;
  bool named_ = false;
  std::map<std::string, const Config*> specs_;
  std::map<std::string, uint32_t> cohorts_;
};

}  // namespace

uint32_t Setup::column(uint32_t flavor, uint32_t kind) const {
  const auto i = std::lower_bound(columns.begin(), columns.end(), std::pair{flavor, kind});
  return i != columns.end() && *i == std::pair{flavor, kind} ? uint32_t(i - columns.begin()) : kNone;
}

Setup read_setup(const Config& c, const Topology& t) { return Reader(c, t).read(); }

}  // namespace muster::kueue
