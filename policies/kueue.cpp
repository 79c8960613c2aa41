// The policy `kueue`: cluster queues that own quota, borrow it in cohorts and take it back.
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "parts/kueue_config.hpp"
#include "parts/not_yet.hpp"
#include "parts/placer.hpp"
#include "parts/by_shape.hpp"
#include "table.hpp"

namespace muster {

namespace {

using kueue::Amount;
using kueue::Victim;

constexpr std::array<std::string_view, 8> kParameters = {"flavors",       "cohorts",        "queues", "fairSharing", "preemptionStrategies",
                                                         "whenCanBorrow", "whenCanPreempt", "place"};

/// A cycle takes one head of each queue, decides for each whether it fits, needs victims or cannot be admitted, puts them in order and
/// works through them; cycles follow until one changes nothing. Rules: Kueue, commit ff69552e (0.20-devel), pkg/scheduler.
class Kueue final : public Policy {
 public:
  explicit Kueue(const PolicyInput& in)
      : setup_(kueue::read_setup(in.parameters, in.topology)),
        placer_(make_placer(text(in, "place", "pack"), in)),
        table_(in.workload.jobs.size()) {
    in.parameters.only(kParameters);
    if (const Config* c = in.parameters.find("fairSharing")) fair_ = c->as_boolean();
    strategies(in.parameters);
    try_next_on_borrow_ = text(in, "whenCanBorrow", "Borrow") == "TryNextFlavor";
    try_next_on_preempt_ = text(in, "whenCanPreempt", "TryNextFlavor") == "TryNextFlavor";
    queue_of_.assign(in.workload.queues.size(), kNone);
    for (uint32_t q = 0; q < setup_.queues.size(); q++)
      for (uint32_t n = 0; n < in.workload.queues.size(); n++)
        if (in.workload.queues[n] == setup_.queues[q].name) queue_of_[n] = q;
    queues_.resize(setup_.queues.size());
    admitted_.resize(setup_.tree.nodes());
    slot_.assign(in.workload.jobs.size(), kNone);
  }

  void schedule(const View& now, Plan& plan) override {
    for (const Event& e : now.events()) {
      switch (e.what) {
        case What::submit:
          if (plan.queue().contains(e.job)) enter(now, plan, e.job);
          break;
        case What::end:
          leave_queue(now, e.job);
          release(e.job);
          break;
        case What::lost:
        case What::drained:
        case What::preempt:
          if (e.job >= now.jobs()) break;
          if (plan.at(e.job).empty()) release(e.job);
          if (plan.queue().contains(e.job) && !table_.contains(e.job)) enter(now, plan, e.job);
          break;
        case What::priority:
          if (table_.contains(e.job)) leave_queue(now, e.job), enter(now, plan, e.job);
          break;
        default: break;
      }
      grew_ |= e.what != What::submit && e.what != What::wake && e.what != What::speed;
    }
    not_yet_.release(now, plan, [&](JobId j) { insert(now, j); });
    if (grew_)
      for (QueueState& q : queues_) q.failed.clear();
    grew_ = false;
    evicted_now_.clear();
    while (cycle(now, plan)) {}
  }

 private:
  struct QueueState {
    ByShape waiting;
    std::set<ShapeId> failed;  // whose first job could not be admitted since room last came
  };
  enum class Mode : uint8_t { none, preempt, reclaim, fit };  // worse to better
  /// What was found out about a head.
  struct Entry {
    uint32_t queue;
    JobId job;
    Mode mode = Mode::none;
    uint32_t flavor = 0;
    uint32_t borrow = 0;  // height of the lowest ancestor that would not borrow
    std::vector<Victim> victims;
    Reason why = Reason::quota;
  };

  static std::string_view text(const PolicyInput& in, std::string_view name, std::string_view fallback) {
    const Config* c = in.parameters.find(name);
    return c ? c->as_text() : fallback;
  }
  void strategies(const Config& parameters) {
    const Config* c = parameters.find("preemptionStrategies");
    if (!c) return;
    strategies_ = {false, false};
    const auto one = [&](const Config& s) {
      if (s.as_text() == "LessThanOrEqualToFinalShare") strategies_.final_share = true;
      else if (s.as_text() == "LessThanInitialShare") strategies_.initial_share = true;
      else
        throw InputError((s.where.empty() ? "" : s.where + ": ") + "want LessThanOrEqualToFinalShare or LessThanInitialShare, found \"" +
                         s.value + "\"");
    };
    for (const auto& [none, s] : c->fields) one(s);
    if (c->fields.empty()) one(*c);
  }

  void enter(const View& now, Plan& plan, JobId j) {
    const uint32_t q = queue_of_[now.job(j).queue];
    if (q == kNone) return plan.reject(j, Reason::policy);
    bool ever = false;
    for (const uint32_t f : setup_.queues[q].flavors) ever |= suits(now, j, f) && below(now, j, q, f, true);
    if (!ever) return plan.reject(j, Reason::quota_size);
    if (!not_yet_.keeps(now, plan, j)) insert(now, j);
  }
  void insert(const View& now, JobId j) {
    const Job& job = now.job(j);
    queues_[queue_of_[job.queue]].waiting.insert(table_, j, job.shape, now.priority(j));
  }
  void leave_queue(const View& now, JobId j) {
    const Job& job = now.job(j);
    if (table_.contains(j)) queues_[queue_of_[job.queue]].waiting.erase(table_, j, job.shape);
  }

  /// What a job counts for in the columns of a flavor.
  std::vector<Amount> usage(const View& now, JobId j, uint32_t flavor) const {
    std::vector<Amount> out;
    for (const uint32_t kind : setup_.resources) {
      const uint32_t c = setup_.column(flavor, kind);
      int64_t sum = 0;
      const Shape& s = now.shape(j);
      for (const TaskGroup& g : s.groups) sum += int64_t(g.max_tasks) * g.per_task[kind];
      if (kind == kGpu && s.nodes == Nodes::whole) sum = int64_t(s.total_gpus) * kMilli;
      if (c != kNone && sum > 0) out.push_back({c, sum});
    }
    return out;
  }
  bool suits(const View& now, JobId j, uint32_t flavor) const {
    const std::string& type = setup_.flavors[flavor].gpu_type;
    if (type.empty()) return true;
    for (const TaskGroup& g : now.shape(j).groups)
      if (g.gpu_types.size() != 1 || g.gpu_types[0] != type) return false;
    return true;
  }
  /// Whether all columns have room for it: in an empty tree, or now.
  bool below(const View& now, JobId j, uint32_t q, uint32_t flavor, bool empty) const {
    const uint32_t n = setup_.queues[q].node;
    for (const Amount& a : usage(now, j, flavor))
      if (a.amount > (empty ? setup_.tree.potential(n, a.column) : setup_.tree.available(n, a.column))) return false;
    return true;
  }

  kueue::Workload workload(const View& now, JobId j, uint32_t q, uint32_t flavor) const {
    kueue::Workload w;
    w.queue = setup_.queues[q].node;
    w.priority = now.priority(j);
    w.queued = Time(j);  // ids are in order of submission, also where times are equal
    w.uid = j;
    w.usage = usage(now, j, flavor);
    return w;
  }

  /// First flavor that will do, in the order of the queue.
  Entry nominate(const View& now, uint32_t q, JobId j) {
    Entry best{q, j};
    for (const uint32_t f : setup_.queues[q].flavors) {
      if (!suits(now, j, f)) continue;
      Entry e{q, j};
      e.flavor = f;
      const kueue::Workload w = workload(now, j, q, f);
      judge(w, e);
      if (e.mode > best.mode) best = e;
      if (e.mode == Mode::fit && !(e.borrow && try_next_on_borrow_)) break;
      if ((e.mode == Mode::preempt || e.mode == Mode::reclaim) && !try_next_on_preempt_) break;
    }
    return best;
  }
  void judge(const kueue::Workload& w, Entry& e) {
    std::vector<uint32_t> contested;
    bool may_preempt = true;
    for (const Amount& a : w.usage) {
      if (a.amount > setup_.tree.potential(w.queue, a.column)) return;
      if (a.amount <= setup_.tree.available(w.queue, a.column)) {
        e.borrow = std::max(e.borrow, height(w.queue, a));
        continue;
      }
      contested.push_back(a.column);
      may_preempt &= could_preempt(w.queue, a);
    }
    if (contested.empty()) {
      e.mode = Mode::fit;
      return;
    }
    if (!may_preempt) return;
    kueue::Victims victims(setup_.tree, setup_.rules, workloads_, admitted_);
    e.victims = fair_ ? victims.fair(w, contested, strategies_) : victims.classical(w, contested);
    if (e.victims.empty()) return;
    const bool own = std::any_of(e.victims.begin(), e.victims.end(), [](const Victim& v) { return v.why == kueue::Why::in_queue; });
    e.mode = own ? Mode::preempt : Mode::reclaim;
  }
  uint32_t height(uint32_t n, const Amount& a) const {
    uint32_t h = 0;
    int64_t more = a.amount;
    for (; n != kNone && setup_.tree.borrows(n, a.column, more); n = setup_.tree.parent(n)) {
      more = std::max<int64_t>(0, more - setup_.tree.local_available(n, a.column));
      h++;
    }
    return h;
  }
  /// Whether victims are looked for at all: the queue, or a subtree below the root, owns enough, or borrowing may push others out.
  bool could_preempt(uint32_t n, const Amount& a) const {
    const kueue::Rules& r = setup_.rules[n];
    if (r.within == kueue::Whom::never && r.reclaim == kueue::Whom::never) return false;
    if (a.amount <= setup_.tree.quota(n, a.column).nominal) return true;
    for (uint32_t k = n; k != kNone && setup_.tree.parent(k) != kNone; k = setup_.tree.parent(k))
      if (a.amount <= setup_.tree.subtree(k, a.column)) return true;
    return fair_ ? r.reclaim != kueue::Whom::never : r.borrow;
  }

  /// The first waiting job of a queue that has not failed since room last came, or kNone.
  JobId head(const View& now, uint32_t q) const {
    const QueueState& state = queues_[q];
    const bool strict = setup_.queues[q].strict;
    const JobId j = state.waiting.first([&](ShapeId s) { return strict || !state.failed.count(s); });
    return j != kNone && state.failed.count(now.job(j).shape) ? kNone : j;
  }

  bool cycle(const View& now, Plan& plan) {
    std::vector<Entry> entries;
    for (uint32_t q = 0; q < queues_.size(); q++) {
      const JobId j = queues_[q].waiting.size() ? head(now, q) : kNone;
      if (j == kNone) continue;
      entries.push_back(nominate(now, q, j));
      if (entries.back().mode == Mode::none) give_up(now, plan, entries.back());
    }
    std::erase_if(entries, [](const Entry& e) { return e.mode == Mode::none; });
    bool changed = false;
    while (!entries.empty()) {
      const size_t i = fair_ ? next_fair(now, entries) : next_classical(now, entries);
      Entry e = std::move(entries[i]);
      entries.erase(entries.begin() + ptrdiff_t(i));
      changed |= e.mode == Mode::fit ? admit(now, plan, e) : evict(now, plan, e);
    }
    return changed;
  }
  size_t next_classical(const View& now, const std::vector<Entry>& entries) const {
    const auto before = [&](const Entry& a, const Entry& b) {
      if (a.borrow != b.borrow) return a.borrow < b.borrow;
      const int32_t p = now.priority(a.job), q = now.priority(b.job);
      return p != q ? p > q : a.job < b.job;
    };
    return size_t(std::min_element(entries.begin(), entries.end(), before) - entries.begin());
  }
  /// A tournament from the leaves: at each cohort the entry whose side, with it added, borrows nothing, then has the smaller share, then
  /// priority, then age.
  size_t next_fair(const View& now, const std::vector<Entry>& entries) {
    std::vector<std::vector<BorrowedShare>> shares;  // by entry, from its queue up
    std::vector<std::vector<bool>> borrows;
    for (const Entry& e : entries) {
      const kueue::Workload w = workload(now, e.job, e.queue, e.flavor);
      for (const Amount& a : w.usage) setup_.tree.use(w.queue, a.column, a.amount);
      shares.emplace_back(), borrows.emplace_back();
      for (uint32_t n = w.queue; n != kNone; n = setup_.tree.parent(n)) {
        shares.back().push_back(setup_.tree.share(n));
        borrows.back().push_back(
            std::any_of(w.usage.begin(), w.usage.end(), [&](const Amount& a) { return setup_.tree.borrows(n, a.column); }));
      }
      for (const Amount& a : w.usage) setup_.tree.free(w.queue, a.column, a.amount);
    }
    std::map<uint32_t, std::pair<size_t, size_t>> best;  // by node: entry, its height below the node's children
    const auto better = [&](size_t a, size_t ha, size_t b, size_t hb) {
      if (borrows[a][ha] != borrows[b][hb]) return !borrows[a][ha];
      if (!(shares[a][ha] == shares[b][hb])) return shares[a][ha] < shares[b][hb];
      const int32_t p = now.priority(entries[a].job), q = now.priority(entries[b].job);
      return p != q ? p > q : entries[a].job < entries[b].job;
    };
    size_t first = kNone;
    // Entries climb together; the deepest queues first, so that a cohort's winner is known before it meets its siblings.
    std::vector<std::pair<size_t, uint32_t>> nodes;  // depth, node
    for (size_t e = 0; e < entries.size(); e++) {
      const uint32_t n = setup_.queues[entries[e].queue].node;
      best[n] = {e, 0};
      for (uint32_t k = n; k != kNone; k = setup_.tree.parent(k)) nodes.emplace_back(depth(k), k);
    }
    std::sort(nodes.begin(), nodes.end(),
              [](const auto& a, const auto& b) { return a.first != b.first ? a.first > b.first : a.second < b.second; });
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    for (const auto& [d, n] : nodes) {
      const auto [e, h] = best[n];
      const uint32_t parent = setup_.tree.parent(n);
      if (parent == kNone) {
        if (first == kNone || entries[e].job < entries[first].job) first = e;
        continue;
      }
      const auto at = best.find(parent);
      // Winners are compared by the share of the child that they come through.
      if (at == best.end() || better(e, h, at->second.first, at->second.second - 1)) best[parent] = {e, h + 1};
    }
    return first;
  }
  size_t depth(uint32_t n) const {
    size_t d = 0;
    for (; setup_.tree.parent(n) != kNone; n = setup_.tree.parent(n)) d++;
    return d;
  }

  void give_up(const View& now, Plan& plan, const Entry& e) {
    queues_[e.queue].failed.insert(now.job(e.job).shape);
    plan.reason(e.job, e.why);
  }
  bool admit(const View& now, Plan& plan, Entry& e) {
    if (!below(now, e.job, e.queue, e.flavor, false)) return false;  // somebody before it took it; it is tried again in the next cycle
    const Pieces at = placer_->find(now, plan, e.job);
    if (at.empty()) {
      e.why = placer_->why(now, plan, e.job);
      give_up(now, plan, e);
      return false;
    }
    plan.start(e.job, at);
    leave_queue(now, e.job);
    uint32_t slot = uint32_t(workloads_.size());
    if (!free_slots_.empty()) {
      slot = free_slots_.back();
      free_slots_.pop_back();
    } else {
      workloads_.emplace_back(), job_of_.push_back(kNone);
    }
    kueue::Workload& w = workloads_[slot] = workload(now, e.job, e.queue, e.flavor);
    w.reserved = now.now();
    job_of_[slot] = e.job, slot_[e.job] = slot;
    admitted_[w.queue].push_back(slot);
    for (const Amount& a : w.usage) setup_.tree.use(w.queue, a.column, a.amount);
    return true;
  }
  void release(JobId j) {
    const uint32_t slot = slot_[j];
    if (slot == kNone) return;
    kueue::Workload& w = workloads_[slot];
    for (const Amount& a : w.usage) setup_.tree.free(w.queue, a.column, a.amount);
    auto& list = admitted_[w.queue];
    list.erase(std::find(list.begin(), list.end(), slot));
    slot_[j] = kNone, job_of_[slot] = kNone;
    free_slots_.push_back(slot);
  }
  bool evict(const View& now, Plan& plan, Entry& e) {
    // A workload is pushed out once an instant at most, so that no two push each other out for ever.
    for (const Victim& v : e.victims)
      if (job_of_[v.workload] == kNone || evicted_now_.count(job_of_[v.workload])) return give_up(now, plan, e), false;
    std::vector<JobId> victims;
    for (const Victim& v : e.victims) {
      const JobId j = job_of_[v.workload];
      plan.note("preempted", {{"by", e.job}, {"victim", j}, {"rule", 0, to_text(v.why)}});
      victims.push_back(j);
    }
    for (const JobId j : victims) {
      evicted_now_.insert(j);
      plan.preempt(j);
      release(j);
      insert(now, j);
    }
    for (QueueState& q : queues_) q.failed.clear();
    return true;
  }

  kueue::Setup setup_;
  std::unique_ptr<Placer> placer_;
  ByShape::Table table_;
  NotYet not_yet_;
  bool fair_ = false, try_next_on_borrow_ = false, try_next_on_preempt_ = true, grew_ = false;
  kueue::FairStrategies strategies_;
  std::vector<uint32_t> queue_of_;  // by the trace's queue
  std::vector<QueueState> queues_;
  std::vector<kueue::Workload> workloads_;       // slots of admitted ones
  std::vector<std::vector<uint32_t>> admitted_;  // by node of the tree: slots
  std::vector<uint32_t> slot_, free_slots_;
  std::vector<JobId> job_of_;  // by slot
  std::set<JobId> evicted_now_;
};

}  // namespace

std::vector<Parameter> kueue_parameters() {
  return {{"queues", "", "[{name, cohort, weight, queueingStrategy, quota, preemption}, ...]", {}},
          {"cohorts", "", "[{name, parent, weight, quota}, ...]", {}},
          {"flavors", "", "{NAME: GPU type, ...}", {}},
          {"fairSharing", "false", "shares instead of priorities decide who is admitted and who is pushed out", {"true", "false"}},
          {"preemptionStrategies", "LessThanOrEqualToFinalShare, LessThanInitialShare", "of fair sharing, in this order", {}},
          {"whenCanBorrow", "Borrow", "whether the next flavor is tried before borrowing", {"Borrow", "TryNextFlavor"}},
          {"whenCanPreempt", "TryNextFlavor", "whether the next flavor is tried before preempting", {"Preempt", "TryNextFlavor"}},
          slot_parameter("place", "pack", "which nodes a job gets", placers())};
}

std::unique_ptr<Policy> make_kueue(const PolicyInput& in) { return std::make_unique<Kueue>(in); }

}  // namespace muster
