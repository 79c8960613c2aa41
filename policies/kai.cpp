// The policy `kai`: a tree of queues with deserved quotas and fair shares, reclaimed, as KAI-Scheduler.
#include <algorithm>
#include <map>
#include <set>

#include "parts/by_shape.hpp"
#include "parts/elastic.hpp"
#include "parts/kai_queues.hpp"
#include "parts/not_yet.hpp"
#include "parts/placer.hpp"
#include "table.hpp"

namespace muster {

namespace {

using kai::Amounts;
using kai::kShared;
using kai::kUnlimited;

constexpr Duration kPeriod = kSecond;  // between KAI's sessions (schedulePeriod)
constexpr std::array<std::string_view, 4> kParameters = {"queues", "nonPreemptibleFrom", "maxConsolidationPreemptees", "place"};

/// Sessions follow each other within an instant until one changes nothing. A session allocates what fits, then lets jobs that still wait move
/// others together (consolidation), take from queues above their share (reclaim), and from lower priorities of their own queue
/// (preempt), in KAI's order. Rules: KAI-Scheduler, commit 72de64fc, pkg/scheduler/actions and plugins/proportion.
class Kai final : public Policy {
 public:
  explicit Kai(const PolicyInput& in) : placer_(make_placer(text(in, "place", "pack"), in)), table_(in.workload.jobs.size()) {
    in.parameters.only(kParameters);
    const Config* queues = in.parameters.find("queues");
    if (!queues) throw InputError("kai: want queues, as in docs/policies/kai.md");
    spec_ = kai::read_queues(*queues);
    if (const Config* c = in.parameters.find("nonPreemptibleFrom")) fixed_from_ = int32_t(c->as_integer(-1'000'000, 1'000'000));
    if (const Config* c = in.parameters.find("maxConsolidationPreemptees")) most_moved_ = size_t(c->as_integer(0, 1'000'000));
    leaf_of_.assign(in.workload.queues.size(), kNone);
    for (uint32_t q = 0; q < spec_.size(); q++)
      for (uint32_t n = 0; n < in.workload.queues.size(); n++)
        if (spec_[q].leaf && in.workload.queues[n] == spec_[q].name) leaf_of_[n] = q;
    children_.resize(spec_.size() + 1);
    for (uint32_t q = 0; q < spec_.size(); q++) children_[spec_[q].parent == kNone ? spec_.size() : spec_[q].parent].push_back(q);
    leaves_.resize(spec_.size());
    tree_.resize(spec_.size());
    request_.resize(spec_.size());
    for (uint32_t q = 0; q < spec_.size(); q++) {
      tree_[q].parent = spec_[q].parent;
      tree_[q].deserved = spec_[q].deserved, tree_[q].most = spec_[q].most;
    }
    held_.resize(in.workload.jobs.size());
    limited_ = {true, false, false};
    for (NodeId n = 0; n < in.topology.nodes(); n++) {
      const NodeKind& kind = in.topology.kind(n);
      limited_[kCpu] |= kind.limits_cpu, limited_[kMem] |= kind.limits_mem;
      for (size_t k = 0; k < kShared; k++) total_[k] += kind.capacity[k];
    }
  }

  void schedule(const View& now, Plan& plan) override {
    for (const Event& e : now.events()) hear(now, plan, e);
    not_yet_.release(now, plan, [&](JobId j) { wait(now, j); });
    if (!resting_.empty() && now.now() >= rested_)
      for (const JobId j : std::exchange(resting_, {})) insert(now, j);
    moved_.clear();
    for (Leaf& l : leaves_) l.failed.clear();
    while (session(now, plan)) {}
    if (!resting_.empty()) plan.wake_at(rested_);
  }

 private:
  struct Leaf {
    ByShape waiting;
    std::set<JobId> growing;                           // hold fewer tasks than they want
    std::set<std::pair<int32_t, JobId>> running;       // by priority; the last of the lowest is the first to go
    std::set<ShapeId> failed, hopeless;                // whose first job found no room; whom no victim helps
  };
  /// Who wants what.
  struct Claim {
    uint32_t leaf = kNone;
    JobId job = kNone;
    bool grows = false;
    Amounts amount{};
  };
  enum class Action : uint8_t { consolidation, reclaim, preempt };

  static std::string_view text(const PolicyInput& in, std::string_view name, std::string_view fallback) {
    const Config* c = in.parameters.find(name);
    return c ? c->as_text() : fallback;
  }

  // ---- what is held and wanted

  Amounts amounts(const Resources& r) const {
    Amounts a{};
    for (size_t k = 0; k < kShared; k++) a[k] = limited_[k] ? r[k] : 0;
    return a;
  }
  Amounts wanted(const View& now, JobId j) const {
    const Shape& s = now.shape(j);
    Resources sum;
    for (const TaskGroup& g : s.groups) sum += g.per_task.times(g.max_tasks);
    if (s.nodes == Nodes::whole) sum[kGpu] = int64_t(s.total_gpus) * kMilli;
    return amounts(sum);
  }
  Amounts held(const View& now, JobId j, Pieces at) const {
    const Shape& s = now.shape(j);
    Resources sum;
    for (const Piece& p : at) {
      Resources one = s.groups[p.group].per_task.times(p.tasks);
      one[kGpu] = p.milli();
      sum += one;
    }
    return amounts(sum);
  }
  bool fixed(const View& now, JobId j) const { return now.priority(j) >= fixed_from_; }
  uint32_t leaf(const View& now, JobId j) const { return leaf_of_[now.job(j).queue]; }

  void add(std::vector<Amounts>& to, uint32_t q, const Amounts& a, int sign) {
    for (; q != kNone; q = spec_[q].parent)
      for (size_t k = 0; k < kShared; k++) to[q][k] += sign * a[k];
  }
  /// Job `j` now holds `a`; what it held before is taken off.
  void holds(const View& now, JobId j, const Amounts& a) {
    const bool is_fixed = fixed(now, j);
    for (uint32_t q = leaf(now, j); q != kNone; q = spec_[q].parent)
      for (size_t k = 0; k < kShared; k++) {
        tree_[q].allocated[k] += a[k] - held_[j][k];
        if (is_fixed) tree_[q].fixed[k] += a[k] - held_[j][k];
      }
    held_[j] = a;
  }

  // ---- events

  void hear(const View& now, Plan& plan, const Event& e) {
    switch (e.what) {
      case What::submit:
        if (plan.queue().contains(e.job)) enter(now, plan, e.job);
        break;
      case What::end: forget(now, e.job); break;
      case What::start:
      case What::claim:
      case What::resize:
      case What::lost:
      case What::drained:
      case What::gave_back:
      case What::preempt:
        if (e.job < now.jobs()) settle(now, plan, e.job);
        break;
      case What::priority:
        if (e.job < now.jobs() && known(e.job)) forget(now, e.job), settle(now, plan, e.job);
        break;
      default: break;
    }
  }
  bool known(JobId j) const { return table_.contains(j) || running_.count(j) || resting_.count(j); }
  void enter(const View& now, Plan& plan, JobId j) {
    const uint32_t q = leaf(now, j);
    if (q == kNone) return plan.reject(j, Reason::policy);
    const Amounts a = wanted(now, j);
    for (uint32_t n = q; n != kNone; n = spec_[n].parent)
      for (size_t k = 0; k < kShared; k++)
        if (a[k] > spec_[n].most[k] || (fixed(now, j) && a[k] > spec_[n].deserved[k])) return plan.reject(j, Reason::quota_size);
    if (!not_yet_.keeps(now, plan, j)) wait(now, j);
  }
  void insert(const View& now, JobId j) { leaves_[leaf(now, j)].waiting.insert(table_, j, now.job(j).shape, now.priority(j)); }
  void wait(const View& now, JobId j) {
    insert(now, j);
    add(request_, leaf(now, j), wanted(now, j), 1);
  }
  /// An evicted job is pending again for the scheduler's next period, and not for this one.
  void rest(const View& now, JobId j) {
    leaves_[leaf(now, j)].waiting.erase(table_, j, now.job(j).shape);
    if (resting_.empty()) rested_ = now.now() + kPeriod;
    resting_.insert(j);
  }
  /// Brings what is kept of a job in line with the plan.
  void settle(const View& now, Plan& plan, JobId j) {
    if (leaf(now, j) == kNone) return;
    forget(now, j);
    if (!plan.at(j).empty()) runs(now, plan, j);
    else if (plan.queue().contains(j)) wait(now, j);
  }
  void runs(const View& now, const Plan& plan, JobId j) {
    Leaf& l = leaves_[leaf(now, j)];
    const int32_t priority = now.priority(j);
    holds(now, j, held(now, j, plan.at(j)));
    l.running.emplace(-priority, j);
    running_.emplace(j, priority);
    if (held_[j] != wanted(now, j)) l.growing.insert(j);
    add(request_, leaf(now, j), wanted(now, j), 1);
  }
  void forget(const View& now, JobId j) {
    const uint32_t q = leaf(now, j);
    if (q == kNone || !known(j)) return;
    Leaf& l = leaves_[q];
    if (table_.contains(j)) l.waiting.erase(table_, j, now.job(j).shape);
    resting_.erase(j);
    if (const auto r = running_.find(j); r != running_.end()) {
      l.running.erase({-r->second, j});
      l.growing.erase(j);
      running_.erase(r);
    }
    add(request_, q, wanted(now, j), -1);
    holds(now, j, {});
  }

  // ---- shares

  /// Fair shares from the top: of the cluster among the queues without a parent, of a queue among those it holds.
  void divide(uint32_t parent) {
    const auto& below = children_[parent == kNone ? spec_.size() : parent];
    if (below.empty()) return;
    for (size_t k = 0; k < kShared; k++) {
      if (!limited_[k]) continue;
      sharers_.clear();
      for (const uint32_t q : below)
        sharers_.push_back({spec_[q].deserved[k], request_[q][k], spec_[q].most[k], spec_[q].weight[k], spec_[q].priority, 0});
      const kai::Division d = kai::divide(parent == kNone ? total_[k] : tree_[parent].fair[k], sharers_, 0, k == kGpu ? kMilli : 1);
      for (size_t i = 0; i < below.size(); i++) tree_[below[i]].fair[k] = d.fair[i];
    }
    for (const uint32_t q : below) divide(q);
  }

  /// allocated + more over fair, the largest of the resources; a share of nothing is without end.
  Ratio dominant(uint32_t q, const Amounts& more) const {
    Ratio most{0, 1};
    for (size_t k = 0; k < kShared; k++) {
      const int64_t a = tree_[q].allocated[k] + more[k];
      if (a <= 0) continue;
      const Ratio r{tree_[q].fair[k] > 0 ? a : kUnlimited, std::max<int64_t>(tree_[q].fair[k], 1)};
      if (most < r) most = r;
    }
    return most;
  }
  /// Who of two siblings comes first, with what their next jobs want.
  bool before(uint32_t a, const Amounts& more_a, uint32_t b, const Amounts& more_b) const {
    const auto under_fair = [&](uint32_t q) {
      for (size_t k = 0; k < kShared; k++)
        if (tree_[q].allocated[k] < tree_[q].fair[k]) return true;
      return false;
    };
    const auto within_quota = [&](uint32_t q, const Amounts& more) {
      for (size_t k = 0; k < kShared; k++)
        if (tree_[q].allocated[k] + more[k] > tree_[q].deserved[k]) return false;
      return true;
    };
    const auto holds_without_share = [&](uint32_t q) {
      for (size_t k = 0; k < kShared; k++)
        if (tree_[q].fair[k] == 0 && tree_[q].allocated[k] > 0) return true;
      return false;
    };
    if (const bool x = under_fair(a), y = under_fair(b); x != y) return x;
    if (const bool x = within_quota(a, more_a), y = within_quota(b, more_b); x != y) return x;
    if (spec_[a].priority != spec_[b].priority) return spec_[a].priority > spec_[b].priority;
    if (const bool x = holds_without_share(a), y = holds_without_share(b); x != y) return y;
    if (const Ratio x = dominant(a, more_a), y = dominant(b, more_b); x < y || y < x) return x < y;
    if (const Ratio x = dominant(a, {}), y = dominant(b, {}); x < y || y < x) return x < y;
    return a < b;
  }

  // ---- a session

  bool session(const View& now, Plan& plan) {
    if (!anybody_wants()) return false;
    divide(kNone);
    bool changed = allocate(now, plan);
    for (const Action action : {Action::consolidation, Action::reclaim, Action::preempt}) changed |= take(now, plan, action);
    return changed;
  }
  bool anybody_wants() const {
    return std::any_of(leaves_.begin(), leaves_.end(), [](const Leaf& l) { return l.waiting.size() || !l.growing.empty(); });
  }

  /// What leaf `q` wants next among shapes that `open` admits.
  template <class F> Claim next_of(const View& now, const Plan& plan, uint32_t q, F open, const std::set<JobId>& tried) const {
    Claim c{q, leaves_[q].waiting.size() ? leaves_[q].waiting.first(open) : kNone, false, {}};
    if (c.job != kNone) {
      c.amount = wanted(now, c.job);
      return c;
    }
    for (const JobId j : leaves_[q].growing)
      if (!tried.count(j)) {
        c.job = j, c.grows = true;
        const Shape& s = now.shape(j);
        const std::vector<unsigned> has = tasks_by_group(s, plan.at(j));
        for (size_t g = 0; g < s.groups.size(); g++)
          if (has[g] < s.groups[g].max_tasks) {
            c.amount = amounts(s.groups[g].per_task);
            break;
          }
        return c;
      }
    return c;
  }
  /// The leaf that comes first from the top, and its job; kNone when nobody is left.
  template <class F> Claim next(const View& now, const Plan& plan, F open, const std::set<JobId>& tried) const {
    std::vector<Claim> best(spec_.size() + 1);
    std::vector<uint32_t> from(spec_.size() + 1);
    for (uint32_t q = uint32_t(spec_.size()); q-- > 0;) {
      if (spec_[q].leaf) best[q] = next_of(now, plan, q, [&](ShapeId s) { return open(q, s); }, tried);
      if (best[q].job == kNone) continue;
      const size_t up = above(q);
      if (best[up].job == kNone || !before(from[up], best[up].amount, q, best[q].amount)) best[up] = best[q], from[up] = q;
    }
    return best.back();
  }
  /// The queue that holds `q`; the number of queues for those without a parent.
  size_t above(uint32_t q) const { return spec_[q].parent == kNone ? spec_.size() : spec_[q].parent; }

  bool room(const Claim& c, bool is_fixed) const {
    for (uint32_t q = c.leaf; q != kNone; q = spec_[q].parent)
      for (size_t k = 0; k < kShared; k++) {
        if (c.amount[k] == 0) continue;
        if (tree_[q].allocated[k] + c.amount[k] > tree_[q].most[k]) return false;
        if (is_fixed && tree_[q].fixed[k] + c.amount[k] > tree_[q].deserved[k]) return false;
      }
    return true;
  }
  bool place(const View& now, Plan& plan, const Claim& c) {
    if (c.grows) {
      const std::vector<Piece> more = grown(now, plan, c.job);
      if (more.empty()) return false;
      plan.resize(c.job, more);
    } else {
      const Pieces at = placer_->find(now, plan, c.job);
      if (at.empty()) return false;
      plan.start(c.job, at);
    }
    return true;
  }
  bool allocate(const View& now, Plan& plan) {
    bool changed = false;
    std::set<JobId> tried;
    const auto open = [&](uint32_t q, ShapeId s) { return !leaves_[q].failed.count(s); };
    for (Claim c; (c = next(now, plan, open, tried)).job != kNone;) {
      const bool allowed = room(c, fixed(now, c.job));
      if (allowed && place(now, plan, c)) {
        settle(now, plan, c.job);
        changed = true;
        continue;
      }
      if (c.grows) {
        tried.insert(c.job);
        continue;
      }
      plan.reason(c.job, allowed ? placer_->why(now, plan, c.job) : Reason::quota);
      leaves_[c.leaf].failed.insert(now.job(c.job).shape);
    }
    return changed;
  }

  // ---- taking from others

  bool take(const View& now, Plan& plan, Action action) {
    bool changed = false;
    std::set<JobId> tried;
    for (Leaf& l : leaves_) l.hopeless.clear();
    const auto open = [&](uint32_t q, ShapeId s) { return !leaves_[q].hopeless.count(s); };
    for (Claim c; (c = next(now, plan, open, tried)).job != kNone;) {
      if (solve(now, plan, c, action)) {
        changed = true;
        for (Leaf& l : leaves_) l.failed.clear();
        continue;
      }
      if (c.grows) tried.insert(c.job);
      else leaves_[c.leaf].hopeless.insert(now.job(c.job).shape);
    }
    return changed;
  }

  bool may_try(const View& now, const Plan& plan, const Claim& c, Action action) const {
    const bool is_fixed = fixed(now, c.job);
    if (!room(c, is_fixed)) return false;
    // Whoever is moved needs room again: all that is wanted must be free somewhere.
    if (action == Action::consolidation) return most_moved_ > 0 && plan.index().free_now_milli() >= c.amount[kGpu];
    if (action == Action::preempt || is_fixed) return true;
    for (size_t k = 0; k < kShared; k++)  // of its own queue: those that hold it are looked at with the victims
      if (c.amount[k] > 0 && tree_[c.leaf].allocated[k] + c.amount[k] > tree_[c.leaf].fair[k]) return false;
    return true;
  }

  /// The next to go for `c`, or kNone: of the queue that comes last, its lowest priority, of equals the youngest.
  JobId victim(const View& now, const Claim& c, Action action, const std::set<JobId>& out) const {
    const auto last_of = [&](uint32_t q) -> JobId {
      const Leaf& l = leaves_[q];
      if (action == Action::reclaim ? q == c.leaf : action == Action::preempt && q != c.leaf) return kNone;
      // Descending by -priority: the lowest priorities are at the end, and of these the youngest.
      for (auto r = l.running.rbegin(); r != l.running.rend(); ++r) {
        const JobId j = r->second;
        if (-r->first >= fixed_from_) break;
        if (action == Action::preempt && -r->first >= now.priority(c.job)) break;
        if (j != c.job && !out.count(j) && !moved_.count(j)) return j;
      }
      return kNone;
    };
    std::vector<JobId> worst(spec_.size() + 1, kNone);
    std::vector<uint32_t> from(spec_.size() + 1);
    for (uint32_t q = uint32_t(spec_.size()); q-- > 0;) {
      if (spec_[q].leaf) worst[q] = last_of(q);
      if (worst[q] == kNone) continue;
      const size_t up = above(q);
      if (worst[up] == kNone || before(from[up], held_[worst[up]], q, held_[worst[q]])) worst[up] = worst[q], from[up] = q;
    }
    return worst.back();
  }

  bool solve(const View& now, Plan& plan, const Claim& c, Action action) {
    if (!may_try(now, plan, c, action)) return false;
    struct Out {
      JobId job;
      std::vector<Piece> at;
      Amounts held;
    };
    std::vector<Out> out;
    std::set<JobId> gone;
    const auto counted = [&](const Out& o, int sign) {
      for (uint32_t q = leaf(now, o.job); q != kNone; q = spec_[q].parent)
        for (size_t k = 0; k < kShared; k++) tree_[q].allocated[k] += sign * o.held[k];
    };
    const Plan::Mark begin = plan.mark();
    bool solved = false;
    while (!solved) {
      if (action == Action::consolidation && out.size() == most_moved_) break;
      const JobId v = victim(now, c, action, gone);
      if (v == kNone) break;
      const Pieces at = plan.at(v);
      out.push_back({v, {at.begin(), at.end()}, held_[v]});
      gone.insert(v);
      counted(out.back(), -1);
      if (action == Action::reclaim && !allowed(now, c, out, counted)) {  // it may keep what it holds; another may not
        counted(out.back(), 1);
        out.pop_back();
        continue;
      }
      plan.preempt(v);
      const Plan::Mark mark = plan.mark();
      if (!place(now, plan, c)) continue;
      // Whoever still fits stays where it is, or moves; the oldest first.
      std::vector<Out> lost;
      for (auto o = out.rbegin(); o != out.rend(); ++o)
        if (!put_back(now, plan, o->job, o->at)) lost.push_back(*o);
      std::reverse(lost.begin(), lost.end());
      if (action == Action::consolidation && !lost.empty()) {
        plan.rollback(mark);
        continue;
      }
      if (action == Action::reclaim && !lost.empty() && !allowed(now, c, lost, counted)) {
        plan.rollback(mark);
        continue;
      }
      solved = true;
      for (const Out& o : lost) plan.note("preempted", {{"by", c.job}, {"victim", o.job}, {"rule", 0, kActions[size_t(action)]}});
    }
    for (const Out& o : out) counted(o, 1);
    if (!solved) {
      plan.rollback(begin);
      return false;
    }
    for (const Out& o : out) {
      moved_.insert(o.job);
      settle(now, plan, o.job);
      if (plan.at(o.job).empty()) rest(now, o.job);
    }
    moved_.insert(c.job);
    settle(now, plan, c.job);
    return true;
  }
  /// Whether the claim may take from `victims`; their amounts are taken off the tree while this is asked.
  template <class Outs, class Count> bool allowed(const View& now, const Claim& c, const Outs& victims, Count counted) {
    std::vector<kai::GivesBack> gives;
    for (const auto& v : victims) gives.push_back({leaf(now, v.job), v.held});
    for (const auto& v : victims) counted(v, 1);
    const bool yes = kai::may_reclaim(tree_, c.leaf, c.amount, !fixed(now, c.job), gives);
    for (const auto& v : victims) counted(v, -1);
    return yes;
  }
  bool put_back(const View& now, Plan& plan, JobId j, const std::vector<Piece>& was) {
    const Plan::Mark mark = plan.mark();
    if (free(plan, now, j, was)) {
      plan.start(j, was);
      return true;
    }
    const Pieces at = placer_->find(now, plan, j);
    if (at.empty()) {
      plan.rollback(mark);
      return false;
    }
    plan.start(j, at);
    return true;
  }
  /// Whether all of `at` could be held at once.
  static bool free(const Plan& plan, const View& now, JobId j, const std::vector<Piece>& at) {
    const Cluster& cluster = plan.cluster();
    const Shape& s = now.shape(j);
    std::map<NodeId, Resources> others;
    for (const Piece& p : at) {
      if (p.share == Share::whole ? (p.what & ~cluster.free_now(p.node, p.word)) != 0 : cluster.slice_left(p.node, p.gpu()) < int32_t(p.size())) return false;
      others[p.node] += s.groups[p.group].per_task.times(p.tasks);
    }
    for (const auto& [node, need] : others)
      for (size_t k = 1; k < kMaxKinds; k++)
        if (need[k] > cluster.free_amount(node, k)) return false;
    return true;
  }

  static constexpr std::array<std::string_view, 3> kActions = {"consolidation", "reclaim", "preempt"};

  std::unique_ptr<Placer> placer_;
  ByShape::Table table_;
  NotYet not_yet_;
  std::vector<kai::QueueSpec> spec_;
  std::vector<kai::TreeQueue> tree_;             // by queue: shares and what is held
  std::vector<std::vector<uint32_t>> children_;  // by queue; the last: those without a parent
  std::vector<Leaf> leaves_;                     // by queue
  std::vector<Amounts> request_;                 // by queue: held and wanted
  std::vector<uint32_t> leaf_of_;                // by the trace's queue
  std::vector<Amounts> held_;                    // by job
  std::map<JobId, int32_t> running_;             // and the priority it is kept under
  std::set<JobId> resting_;                      // evicted a moment ago
  Time rested_ = 0;
  std::set<JobId> moved_;                        // in this instant: nobody is pushed about twice
  std::vector<kai::ShareQueue> sharers_;
  std::array<bool, kShared> limited_{};
  Amounts total_{};
  int32_t fixed_from_ = 100;
  size_t most_moved_ = 16;
};

}  // namespace

std::vector<Parameter> kai_parameters() {
  return {{"queues", "", "[{name, parent, priority, gpu, cpu, memory}, ...]", {}},
          {"nonPreemptibleFrom", "100", "jobs of this priority and above are never evicted, and run inside their queue's quota only", {}},
          {"maxConsolidationPreemptees", "16", "most jobs that are moved together for one that waits; 0: none", {}},
          slot_parameter("place", "pack", "which nodes a job gets", placers())};
}

std::unique_ptr<Policy> make_kai(const PolicyInput& in) { return std::make_unique<Kai>(in); }

}  // namespace muster
