// A policy for each part of the cluster: queues, partitions, several clusters.
#include <array>

#include "muster/fits.hpp"
#include "table.hpp"

namespace muster {

namespace {

/// Hands each part to an inner policy. Jobs that belong to no part, or are larger than theirs, are rejected as they come.
class Split final : public Policy {
 public:
  explicit Split(const PolicyInput& in) {
    const Config& c = in.parameters;
    static constexpr std::array<std::string_view, 2> kKnown = {"by", "parts"};
    c.only(kKnown);
    const Config* by = c.find("by");
    const bool tenants = by && by->as_text() == "tenant";
    if (by && !tenants && by->as_text() != "queue") throw InputError(by->where + ": want queue or tenant, found \"" + by->value + "\"");
    const Config* parts = c.find("parts");
    if (!parts || parts->kind != Config::Kind::object || parts->fields.empty())
      throw InputError(place(parts ? *parts : c) + "split wants parts: {\"NAME\": {\"jobs\": [...], \"nodes\": \"FIRST-LAST\", \"policy\": ...}}");
    const Names& names = tenants ? in.workload.tenants : in.workload.queues;
    std::vector<uint32_t> part_of(names.size(), kNone);
    for (const auto& [name, part] : parts->fields) {
      static constexpr std::array<std::string_view, 4> kOfPart = {"jobs", "nodes", "policy", "parameters"};
      part.only(kOfPart);
      const auto number = uint32_t(parts_.size());
      if (const Config* jobs = part.find("jobs")) {
        for (const auto& [none, one] : jobs->fields) claim(names, part_of, one, number);
        if (jobs->fields.empty()) claim(names, part_of, *jobs, number);
      } else {  // a part takes the queue of its own name
        claim(names, part_of, Config::text(name, part.where), number);
      }
      parts_.push_back(nodes(in.topology, part));
      const Config* policy = part.find("policy");
      const Config* parameters = part.find("parameters");
      PolicyInput inner{in.topology, in.workload, parameters ? *parameters : Config{}, in.seed};
      inner_.push_back(make_policy(policy ? policy->as_text() : "fifo", inner, policy ? policy->where : part.where));
    }
    for (const Job& j : in.workload.jobs) part_of_.push_back(part_of[tenants ? j.tenant : j.queue]);
  }

  void schedule(const View& now, Plan& plan) override {
    if (!divided_) {
      plan.divide(part_of_, parts_);
      divided_ = true;
    }
    for (const Event& e : now.events()) {
      if (e.what != What::submit) continue;
      const uint32_t p = part_of_[e.job];
      if (p == kNone) plan.reject(e.job, Reason::policy);
      else if (never_fits(now.shape(e.job), now.topology(), parts_[p].begin, parts_[p].end) != Reason::none) plan.reject(e.job, Reason::quota_size);
    }
    for (uint32_t p = 0; p < inner_.size(); p++) {
      Plan inner = plan.part(p);
      inner_[p]->schedule(now.part(p), inner);
    }
  }

 private:
  static std::string place(const Config& c) { return c.where.empty() ? std::string() : c.where + ": "; }

  static void claim(const Names& names, std::vector<uint32_t>& part_of, const Config& name, uint32_t part) {
    for (uint32_t i = 0; i < names.size(); i++) {
      if (names[i] != name.as_text()) continue;
      if (part_of[i] != kNone) throw InputError(place(name) + "\"" + name.value + "\" belongs to another part already");
      part_of[i] = part;
    }  // a name without a job in this trace is no error: the same split serves many traces
  }

  /// "FIRST-LAST", both node names, or one node; without "nodes" the whole cluster.
  static Plan::Part nodes(const Topology& t, const Config& part) {
    const Config* c = part.find("nodes");
    if (!c) return {0, t.nodes()};
    const std::string_view text = c->as_text();
    if (const NodeId n = t.find_node(text); n != kNone) return {n, n + 1};
    for (size_t dash = text.find('-'); dash != std::string_view::npos; dash = text.find('-', dash + 1)) {
      const NodeId first = t.find_node(text.substr(0, dash)), last = t.find_node(text.substr(dash + 1));
      if (first != kNone && last != kNone && first <= last) return {first, last + 1};
    }
    throw InputError(place(*c) + "want a node or FIRST-LAST in topology order, found \"" + c->value + "\"");
  }

  std::vector<Plan::Part> parts_;
  std::vector<std::unique_ptr<Policy>> inner_;
  std::vector<uint32_t> part_of_;
  bool divided_ = false;
};

}  // namespace

std::unique_ptr<Policy> make_split(const PolicyInput& in) { return std::make_unique<Split>(in); }

}  // namespace muster
