// Hierarchical dominant resource fairness, as Volcano's.
#include <algorithm>

#include "parts/fraction.hpp"
#include "parts/not_yet.hpp"
#include "parts/placer.hpp"
#include "parts/shares.hpp"
#include "table.hpp"

namespace muster {

namespace {

/// A tree of queues named by their paths ("eng/dev"); the next job is found by walking down from the root: unsaturated children before
/// saturated ones, then the smaller share by weight, then who stands first in the trace. Rule: Volcano, commit ed72c7c8, plugins/drf
/// (hierarchy), after Bhattacharya et al., Hierarchical Scheduling for Diverse Datacenter Workloads, SoCC 2013.
class Hdrf final : public Policy {
 public:
  explicit Hdrf(const PolicyInput& in)
      : sharers_(in.parameters),
        shares_(in, Weights({}, sharers_.names(in.workload))),
        placer_(make_placer(in.parameters.find("place") ? in.parameters.find("place")->as_text() : "pack", in)),
        waiting_(in.workload.jobs.size()),
        charged_(in.workload.jobs.size()) {
    const Names& names = sharers_.names(in.workload);
    nodes_.emplace_back();
    leaf_of_.resize(names.size());
    for (uint32_t u = 0; u < names.size(); u++) {
      uint32_t at = 0;
      std::string_view path = names[u];
      if (path.starts_with("root/")) path.remove_prefix(5);
      for (;;) {
        const size_t slash = std::min(path.find('/'), path.size());
        at = child(at, path.substr(0, slash));
        if (slash == path.size()) break;
        path.remove_prefix(slash + 1);
      }
      if (nodes_[at].user != kNone || !nodes_[at].children.empty())
        throw InputError("queue " + std::string(names[u]) + " has queues below it and jobs of its own; hdrf wants jobs in leaves alone");
      nodes_[at].user = u;
      leaf_of_[u] = at;
    }
    for (const Node& n : nodes_)
      if (n.user != kNone && !n.children.empty())
        throw InputError("queue " + std::string(names[n.user]) +
                         " has queues below it and jobs of its own; hdrf wants jobs in leaves alone");
    weights(in.parameters);
    const Config* tell = in.parameters.find("tell");
    tell_ = tell && tell->as_text() == "steps";
  }

  void schedule(const View& now, Plan& plan) override {
    for (const Event& e : now.events()) {
      if (e.job >= now.jobs() || e.what == What::priority) continue;
      if (e.what == What::end) {
        if (waiting_.contains(e.job)) leave(now, e.job);
        else uncharge(now, e.job);
      } else if (plan.queue().contains(e.job) && !waiting_.contains(e.job)) {
        uncharge(now, e.job);
        if (!not_yet_.keeps(now, plan, e.job)) enter(now, e.job);
      }
    }
    not_yet_.release(now, plan, [&](JobId j) { enter(now, j); });
    for (Node& n : nodes_) n.out = n.user != kNone && n.jobs.empty();
    for (;;) {
      judge(now, 0);
      if (nodes_[0].out) break;
      uint32_t at = 0;
      while (!nodes_[at].children.empty()) at = best(at);
      Node& leaf = nodes_[at];
      const JobId j = leaf.jobs.first();
      const Pieces p = placer_->find(now, plan, j);
      if (tell_) tell(now, plan, at, j, !p.empty());
      if (p.empty()) {
        plan.reason(j, placer_->why(now, plan, j));
        for (JobId k = leaf.jobs.next(j + 1); k != kNone; k = leaf.jobs.next(k + 1)) plan.reason(k, Reason::behind_head);
        leaf.out = true;
        continue;
      }
      charged_.insert(j);
      held_[j] = amounts_of(now.shape(j), p);
      shares_.take(leaf.user, held_[j]);
      plan.start(j, p);
      leave(now, j);
      leaf.out = leaf.jobs.empty();
    }
  }

 private:
  /// A queue's waiting jobs in order of their numbers.
  struct Waiting {
    std::vector<JobId> ids;  // ascending
    bool empty() const { return ids.empty(); }
    JobId first() const { return ids.empty() ? kNone : ids[0]; }
    JobId next(JobId j) const {
      const auto it = std::lower_bound(ids.begin(), ids.end(), j);
      return it == ids.end() ? kNone : *it;
    }
    void insert(JobId j) { ids.insert(std::lower_bound(ids.begin(), ids.end(), j), j); }
    void erase(JobId j) { ids.erase(std::lower_bound(ids.begin(), ids.end(), j)); }
  };
  struct Node {
    std::string name;
    uint32_t parent = kNone, user = kNone;
    std::vector<uint32_t> children;
    Fraction weight = 1;
    Waiting jobs;
    bool out = false;  ///< nobody below can start anything in this pass
    // Drawn up anew before each choice.
    bool saturated = false;
    std::vector<Fraction> sum;  ///< by kind, as shares of what is installed
    Fraction share;
  };

  uint32_t child(uint32_t at, std::string_view name) {
    for (const uint32_t c : nodes_[at].children)
      if (nodes_[c].name == name) return c;
    const auto c = uint32_t(nodes_.size());
    nodes_.emplace_back();
    nodes_[c].name = name, nodes_[c].parent = at;
    nodes_[at].children.push_back(c);
    return c;
  }

  /// {"eng": 2, "eng/dev": 1}, or "eng=2,eng/dev=1".
  void weights(const Config& parameters) {
    const Config* c = parameters.find("weights");
    if (!c) return;
    Names paths;
    std::vector<uint32_t> node;
    for (uint32_t n = 1; n < nodes_.size(); n++) {
      std::string path = nodes_[n].name;
      for (uint32_t p = nodes_[n].parent; p != 0; p = nodes_[p].parent) path = nodes_[p].name + "/" + path;
      paths.add(path);
      node.push_back(n);
    }
    const Weights w(parameters, paths);
    for (size_t i = 0; i < node.size(); i++) {
      if (w.value[i] == 0) throw InputError("hdrf: weights are above 0");
      nodes_[node[i]].weight = Fraction(w.value[i], w.scale);
    }
  }

  void enter(const View& now, JobId j) {
    if (held_.empty()) held_.resize(now.jobs());
    waiting_.insert(j);
    nodes_[leaf_of_[sharers_.of(now.job(j))]].jobs.insert(j);
  }
  void leave(const View& now, JobId j) {
    waiting_.erase(j);
    nodes_[leaf_of_[sharers_.of(now.job(j))]].jobs.erase(j);
  }
  void uncharge(const View& now, JobId j) {
    if (!charged_.contains(j)) return;
    charged_.erase(j);
    shares_.give(sharers_.of(now.job(j)), held_[j]);
  }

  /// Saturation, sums and shares from the leaves up.
  void judge(const View& now, uint32_t at) {
    Node& n = nodes_[at];
    const auto& kinds = shares_.kinds();
    n.sum.assign(kinds.size(), 0);
    if (n.children.empty()) {
      // Granted all it asked for, or something it asks for is used up.
      n.saturated = n.jobs.empty();
      if (!n.jobs.empty()) {
        const Resources asks = amounts_of(now.shape(n.jobs.first()));
        for (const Shares::Kind& k : kinds) n.saturated |= asks[k.kind] > left(k);
      }
      for (size_t k = 0; k < kinds.size(); k++) n.sum[k] = Fraction(shares_.held(n.user)[kinds[k].kind], kinds[k].installed);
    } else {
      n.saturated = true, n.out = true;
      Fraction least = 0;  // of unsaturated children that hold something
      for (const uint32_t c : n.children) {
        judge(now, c);
        const Node& child = nodes_[c];
        n.saturated &= child.saturated, n.out &= child.out;
        if (!child.saturated && !child.share.zero() && (least.zero() || child.share < least)) least = child.share;
      }
      for (const uint32_t c : n.children) {
        const Node& child = nodes_[c];
        const bool scale = !child.saturated && !child.share.zero();
        const Fraction by = scale ? (least / child.share).rounded() : Fraction(1);
        for (size_t k = 0; k < kinds.size(); k++)
          if (!child.sum[k].zero()) n.sum[k] = (n.sum[k] + (scale ? (child.sum[k] * by).rounded() : child.sum[k])).rounded();
      }
    }
    n.share = 0;
    for (const Fraction& s : n.sum)
      if (n.share < s) n.share = s;
  }

  int64_t left(const Shares::Kind& k) const {
    int64_t free = k.installed;
    for (uint32_t u = 0; u < shares_.users(); u++) free -= shares_.held(u)[k.kind];
    return free;
  }

  uint32_t best(uint32_t at) const {
    uint32_t best = kNone;
    for (const uint32_t c : nodes_[at].children) {
      const Node& n = nodes_[c];
      if (n.out) continue;
      if (best == kNone) {
        best = c;
        continue;
      }
      const Node& b = nodes_[best];
      if (n.saturated != b.saturated ? !n.saturated : (n.share / n.weight).rounded() < (b.share / b.weight).rounded()) best = c;
    }
    return best;
  }

  void tell(const View& now, Plan& plan, uint32_t at, JobId j, bool fits) {
    step_++;
    for (uint32_t n = 1; n < nodes_.size(); n++)
      plan.note(
          "hdrf_node",
          {{"step", step_, {}}, {"node", 0, nodes_[n].name}, {"share", 0, nodes_[n].share.text()}, {"saturated", nodes_[n].saturated, {}}});
    plan.note("hdrf_step", {{"step", step_, {}}, {"node", 0, nodes_[at].name}, {"job", 0, now.name(j)}, {"fits", fits, {}}});
  }

  Sharers sharers_;
  Shares shares_;
  std::unique_ptr<Placer> placer_;
  NotYet not_yet_;
  IdSet waiting_, charged_;
  std::vector<Node> nodes_;
  std::vector<uint32_t> leaf_of_;  // by queue
  std::vector<Resources> held_;    // by job
  bool tell_ = false;
  int64_t step_ = 0;
};

}  // namespace

std::vector<Parameter> hdrf_parameters() {
  Parameter by = sharers_parameter();
  by.fallback = "queue";
  return {resources_parameter(),
          {"weights", "", "PATH=WEIGHT,... of queues and of their parents; 1 where none is given", {}},
          by,
          slot_parameter("place", "pack", "which nodes a job gets", placers()),
          {"tell", "nothing", "steps: notes in the records, the shares of all queues at each step", {"nothing", "steps"}}};
}

std::unique_ptr<Policy> make_hdrf(const PolicyInput& in) {
  check_parameters(in.parameters, hdrf_parameters());
  PolicyInput mine = in;
  if (!mine.parameters.find("by")) mine.parameters.set("by", Config::text("queue"));
  return std::make_unique<Hdrf>(mine);
}

}  // namespace muster
