#include <algorithm>
#include <map>

#include "parts/blocked.hpp"
#include "parts/future.hpp"
#include "parts/list_form.hpp"
#include "parts/residents.hpp"
#include "parts/waiting.hpp"

namespace muster {

namespace {
/// EASY backfilling for queues in submit order and jobs that want one node each: what a ReserveList of depth one does, at a cost for each
/// event that does not grow with the queue. What makes it so:
/// - Jobs of equal wants fit or fail together, and after a pass nobody who waits fits anywhere. So only nodes that gave something back, and
///   the one that a reservation let go of, can hold somebody who waited before: they are asked who would be first there (Waiting).
/// - The instant from which on a node can hold the head is a key in a winner tree. Starts, and ends at their estimate, only make it later:
///   an old key is a lower bound, mended when it comes to the top.
/// - A second cluster has the head's part of its node taken, and is asked for jobs that would still be there when the head comes.
class EasyList final : public List<EasyList> {
 public:
  explicit EasyList(ListParts p)
      : List(std::move(p)),
        topology_(parts_.input->topology),
        waiting_(topology_, parts_.input->workload),
        here_(topology_.nodes()),
        ages_of_(waiting_.classes()),
        reasons_(waiting_.classes(), Reason::none),
        held_(topology_),
        ahead_(topology_),
        stale_(topology_.nodes(), 1),
        is_touched_(topology_.nodes(), 0) {
    parts_.input = nullptr;
    for (size_t k = 1; k < kMaxKinds; k++) limited_ |= topology_.limits(k);
    for (NodeId n = 0; n < topology_.nodes(); n++) ahead_.set_cordoned(n, true), stale_nodes_.push_back(n);
    sort_ages();
  }
  bool contains(JobId j) const { return waiting_.contains(j); }
  void insert(const View& now, JobId j, int64_t) { waiting_.insert(j, at_least_a_tick(parts_.estimate->of(now, j))); }
  void erase(const View&, JobId j) {
    waiting_.erase(j);
    if (j == head_) drop_head();
  }
  void room(const View& now, const Event& e) {
    if (e.what != What::end) {
      lost_track_ = true;
      return;
    }
    for (const Piece& p : e.pieces) {
      touch(p.node);
      if (here_.remove(p.node, e.job) > now.now()) early_.push_back(p.node), log_.push_back(p.node);
    }
  }

  void pass(const View& now, Plan& plan, bool) {
    if (!begun_) begin(plan);
    if (lost_track_) rebuild(now, plan);
    if (log_.size() > 4 * size_t(topology_.nodes()) + 1024) forget_ages();
    JobId first;
    while ((first = waiting_.first()) != kNone) {
      if (first == head_ && !head_may_fit(plan)) break;
      const Pieces at = parts_.placer->find(now, plan, first);
      if (at.empty()) break;
      start(now, plan, first, at);
    }
    if (first != kNone) {
      const bool rang = std::any_of(now.events().begin(), now.events().end(), [](const Event& e) { return e.what == What::wake; });
      const Time before = slot_.at;
      reserve(now, plan, first);
      if (slot_.at != kNever && (slot_.at != before || rang)) plan.wake_at(slot_.at);
      fill(now, plan);
    }
    for (const NodeId n : touched_) is_touched_[n] = 0;
    touched_.clear();
    early_.clear();
  }

 private:
  using Here = Residents::Here;
  struct Ages {  // by node: from when on it has so many GPUs free, or something before that
    Resources want;
    uint32_t example = 0;  // a class of this want and kind of node
    WinnerTree times;
    size_t seen = 0;  // entries of log_ that it has followed
    bool built = false;
  };
  struct Slot {  // the head's reservation
    Time at = kNever;
    NodeId node = kNone;
    Time check_at = kNever;  // when somebody there may have outlived an estimate
  };

  void begin(const Plan& plan) {
    begun_ = true;
    begin_ = plan.index().begin(), end_ = plan.index().end();
    part_ = begin_ != 0 || end_ != topology_.nodes();
    if (part_) held_.add_part(begin_, end_), ahead_.add_part(begin_, end_);
  }
  const NodeIndex& index(const Cluster& c) const { return part_ ? c.index(0) : c.index(); }

  /// Classes that differ in CPUs, memory and the like alone share their times of GPUs.
  void sort_ages() {
    for (uint32_t c = 0; c < waiting_.classes(); c++) {
      const int64_t gpus = waiting_.want(c)[kGpu];
      const auto alike = [&](const Ages& a) { return gpus && a.want[kGpu] == gpus && waiting_.kinds(a.example) == waiting_.kinds(c); };
      const auto at = std::find_if(ages_.begin(), ages_.end(), alike);
      ages_of_[c] = uint32_t(at - ages_.begin());
      if (at != ages_.end()) continue;
      Ages& a = ages_.emplace_back();
      a.example = c;
      if (gpus) a.want[kGpu] = gpus;
      else a.want = waiting_.want(c);
    }
  }
  void forget_ages() {
    for (Ages& a : ages_) a.built = false;
    log_.clear();
  }

  // ---- who is where
  void spoil(NodeId n) {
    if (!stale_[n]) stale_[n] = 1, stale_nodes_.push_back(n);
  }
  void touch(NodeId n) {
    spoil(n);
    if (!is_touched_[n]) is_touched_[n] = 1, touched_.push_back(n);
  }
  void arrive(JobId j, Pieces at, Time end) {
    for (size_t i = 0; i < at.size(); i++) {
      const auto gpus = uint32_t(std::popcount(at[i].mask()));
      if (i && at[i].node == at[i - 1].node) here_.on(at[i].node).back().gpus += gpus;
      else here_.add(at[i].node, {end, j, gpus});
    }
  }
  void start(const View& now, Plan& plan, JobId j, Pieces at) {
    plan.start(j, at);
    const Time end = later(now.now(), waiting_.believed(j));
    arrive(j, at, end);
    for (const Piece& p : at) {
      spoil(p.node);
      if (p.node == slot_.node) slot_.check_at = std::min(slot_.check_at, end);
    }
    waiting_.erase(j);
    if (j == head_) drop_head();
  }
  void rebuild(const View& now, const Plan& plan) {
    lost_track_ = false;
    std::map<JobId, Time> ends;
    for (NodeId n = 0; n < topology_.nodes(); n++) {
      for (const Here& h : here_.on(n)) ends[h.job] = h.end;
      here_.clear(n);
    }
    for (JobId j = plan.placed().first(); j != kNone; j = plan.placed().next(j + 1))
      if (const auto end = ends.find(j); end != ends.end()) arrive(j, plan.at(j), end->second);
    for (NodeId n = begin_; n < end_; n++) touch(n), early_.push_back(n);
    forget_ages();
    slot_.check_at = now.now();
  }

  // ---- the future of a node
  Resources free_now(const Cluster& c, NodeId n) const {
    Resources r;
    if (!c.usable(n)) return r;
    r[kGpu] = int64_t(c.free_now_count(n)) * kMilli;
    for (size_t k = 1; limited_ && k < kMaxKinds; k++)
      if (topology_.limits(k)) r[k] = c.free_amount(n, k);
    return r;
  }
  void give(const View& now, const Plan& plan, NodeId n, const Here& h, Resources& r) const {
    r[kGpu] += int64_t(h.gpus) * kMilli;
    if (!limited_) return;
    const Shape& s = now.shape(h.job);
    for (const Piece& p : plan.at(h.job))
      for (size_t k = 1; p.node == n && p.tasks && k < kMaxKinds; k++)
        if (topology_.limits(k)) r[k] += s.groups[p.group].per_task[k] * p.tasks;
  }
  /// Who outlived an estimate is believed to stay as long again.
  void mend(const View& now, NodeId n) {
    for (Here& h : here_.on(n)) {
      if (h.end > now.now()) continue;
      const Time since = h.end - waiting_.believed(h.job);
      h.end = outlived(since, waiting_.believed(h.job), now.now());
    }
  }
  /// From when on node `n` can hold `want`.
  Time time_on(const View& now, const Plan& plan, NodeId n, const Resources& want) {
    if (!plan.cluster().usable(n)) return kNever;
    Resources free = free_now(plan.cluster(), n);
    if (Profile::enough(free, want)) return now.now();
    mend(now, n);
    const std::span<Here> here = here_.on(n);
    leaving_.assign(here.begin(), here.end());
    std::sort(leaving_.begin(), leaving_.end(), [](const Here& a, const Here& b) { return a.end < b.end; });
    for (const Here& h : leaving_) {
      if (h.end == kNever) break;
      give(now, plan, n, h, free);
      if (Profile::enough(free, want)) return h.end;
    }
    return kNever;
  }
  Resources free_at(const View& now, const Plan& plan, NodeId n, Time t) {
    Resources free = free_now(plan.cluster(), n);
    mend(now, n);
    for (const Here& h : here_.on(n))
      if (h.end <= t) give(now, plan, n, h, free);
    return free;
  }

  // ---- the head's reservation
  bool head_may_fit(const Plan& plan) const {
    const uint32_t c = waiting_.class_of(head_);
    return std::any_of(touched_.begin(), touched_.end(), [&](NodeId n) {
      return n >= begin_ && n < end_ && Profile::enough(free_now(plan.cluster(), n), waiting_.want(c)) &&
             waiting_.suits(plan.cluster(), n, c);
    });
  }
  void drop_head() {
    if (waiting_.contains(head_)) waiting_.show(head_);
    head_ = kNone;
    drop_slot();
  }
  void drop_slot() {
    if (slot_.node != kNone) touch(slot_.node);
    slot_ = {};
  }
  void reserve(const View& now, Plan& plan, JobId j) {
    const uint32_t c = waiting_.class_of(j);
    bool kept = false;
    if (j == head_ && slot_.at > now.now() && slot_.node != kNone) {
      kept = true;
      if (now.now() >= slot_.check_at || is_touched_[slot_.node]) {
        kept = time_on(now, plan, slot_.node, waiting_.want(c)) <= slot_.at;
        watch(now);
        spoil(slot_.node);
      }
    } else if (j != head_) {
      if (head_ != kNone) drop_head();
      head_ = j;
      waiting_.hide(j);
      plan.reason(j, Reason::reservation);
    }
    best_ = kept ? slot_.at : kNever;
    ties_.clear();
    if (kept) {
      for (const NodeId n : early_) {
        if (n < begin_ || n >= end_ || !waiting_.suits(plan.cluster(), n, c)) continue;
        consider(n, time_on(now, plan, n, waiting_.want(c)));
      }
      if (best_ == slot_.at) return;
    } else {
      search(now, plan, c);
    }
    drop_slot();
    if (best_ == kNever) return;
    slot_.at = best_;
    slot_.node = ties_.size() == 1 ? ties_[0] : choose_node(now, plan, j);
    touch(slot_.node);
    watch(now);
  }
  void consider(NodeId n, Time t) {
    if (t < best_) best_ = t, ties_.clear();
    if (t == best_ && std::find(ties_.begin(), ties_.end(), n) == ties_.end()) ties_.push_back(n);
  }
  void watch(const View& now) {
    mend(now, slot_.node);
    slot_.check_at = kNever;
    for (const Here& h : here_.on(slot_.node)) slot_.check_at = std::min(slot_.check_at, h.end);
  }
  /// Earliest time for a job of class `c` in best_, and the nodes that have it in ties_.
  void search(const View& now, const Plan& plan, uint32_t c) {
    constexpr Time kLast = WinnerTree::kOut - 1;
    Ages& a = ages_[ages_of_[c]];
    const Resources& want = waiting_.want(c);
    if (!a.built) {
      a.built = true;
      a.times = WinnerTree(topology_.nodes());
      for (NodeId n = begin_; n < end_; n++)
        if (waiting_.suits(plan.cluster(), n, a.example)) a.times.set(n, 0);
    } else {
      for (; a.seen < log_.size(); a.seen++)
        if (a.times.key(log_[a.seen]) != WinnerTree::kOut) a.times.set(log_[a.seen], 0);
    }
    a.seen = log_.size();
    aside_.clear();
    while (!a.times.empty()) {
      const Time bound = a.times.best();
      if (bound > best_ || bound == kLast) break;
      const NodeId n = a.times.winner();
      const Time gpus = std::min(time_on(now, plan, n, a.want), kLast);
      if (gpus != bound) {
        a.times.set(n, gpus);
        continue;
      }
      a.times.set(n, WinnerTree::kOut);
      aside_.push_back({bound, n, 0});
      const Time t = want == a.want ? gpus : time_on(now, plan, n, want);
      if (t != kNever && t <= best_) {
        if (t < best_) best_ = t, ties_.clear();
        ties_.push_back(n);
      }
    }
    for (const Here& x : aside_) a.times.set(x.job, x.end);
  }
  /// The placer's choice among the nodes of ties_, as they will be.
  NodeId choose_node(const View& now, const Plan& plan, JobId j) {
    for (const NodeId n : ties_) {
      ahead_.copy(n, plan.cluster(), false);
      leave_only(ahead_, n, free_at(now, plan, n, best_));
    }
    const Pieces at = parts_.placer->find(now, ahead_, index(ahead_), j, {});
    const NodeId chosen = at.empty() ? *std::min_element(ties_.begin(), ties_.end()) : at[0].node;
    for (const NodeId n : ties_) ahead_.set_cordoned(n, true);
    return chosen;
  }

  // ---- who may start before the head
  void sync(const View& now, const Plan& plan) {
    for (const NodeId n : stale_nodes_) {
      stale_[n] = 0;
      held_.copy(n, plan.cluster(), true);
      if (n == slot_.node) leave_only(held_, n, beside_head(now, plan));
    }
    stale_nodes_.clear();
  }
  /// What the head's node has for jobs that will still be there when the head comes.
  Resources beside_head(const View& now, const Plan& plan) {
    Resources least = free_now(plan.cluster(), slot_.node), then = free_at(now, plan, slot_.node, slot_.at);
    then -= waiting_.want(waiting_.class_of(head_));
    for (size_t k = 0; k < kMaxKinds; k++) least[k] = std::min(least[k], then[k]);
    return least;
  }
  Pieces find(const View& now, const Plan& plan, JobId j) {
    if (slot_.at == kNever || later(now.now(), waiting_.believed(j)) <= slot_.at) return parts_.placer->find(now, plan, j);
    const uint32_t c = waiting_.class_of(j);
    if (!Profile::enough(beside_head(now, plan), waiting_.want(c))) {
      // The head's node is no place for it: what the placer chooses besides that node, it would choose without.
      const Pieces at = parts_.placer->find(now, plan, j);
      if (at.empty() || at[0].node != slot_.node) return at;
    }
    sync(now, plan);
    return parts_.placer->find(now, held_, index(held_), j, {});
  }
  /// The first who could start on node `n`.
  JobId first_on(const View& now, const Plan& plan, NodeId n) {
    if (n < begin_ || n >= end_ || !plan.cluster().usable(n)) return kNone;
    const Resources free = free_now(plan.cluster(), n);
    if (n != slot_.node) return waiting_.first_on(plan.cluster(), n, free, kNever);
    return std::min(waiting_.first_on(plan.cluster(), n, beside_head(now, plan), kNever),
                    waiting_.first_on(plan.cluster(), n, free, slot_.at - now.now()));
  }
  void fill(const View& now, Plan& plan) {
    std::sort(fresh_.begin(), fresh_.end());
    firsts_.assign(touched_.size(), kNobody);
    for (size_t next = 0;;) {
      JobId best = kNone;
      for (size_t i = 0; i < touched_.size(); i++) {
        if (firsts_[i] == kNobody) firsts_[i] = first_on(now, plan, touched_[i]);
        best = std::min(best, firsts_[i]);
      }
      while (next < fresh_.size() && (!waiting_.contains(fresh_[next]) || fresh_[next] == head_)) next++;
      const bool fresh = next < fresh_.size() && fresh_[next] <= best;
      if (!fresh && best == kNone) break;
      const JobId j = fresh ? fresh_[next++] : best;
      const Pieces at = fresh && fails(j) ? Pieces{} : find(now, plan, j);
      if (at.empty()) {
        if (fresh) plan.reason(j, why(now, plan, j));
        for (JobId& f : firsts_) f = f == j ? kNone : f;  // cannot be: a node that holds the wants is a place
        continue;
      }
      for (size_t i = 0; i < touched_.size(); i++)
        if (firsts_[i] == j || std::any_of(at.begin(), at.end(), [&](const Piece& p) { return p.node == touched_[i]; }))
          firsts_[i] = kNobody;
      start(now, plan, j, at);
    }
  }
  /// Whether a job that just came is known not to fit, since others of its class do not.
  bool fails(JobId j) const {
    const uint32_t c = waiting_.class_of(j);
    if (c == waiting_.class_of(head_)) return true;
    return waiting_.first_of(c) < j && slot_.at != kNever && waiting_.believed(j) > waiting_.shortest(c);
  }
  /// What is told to a job that has to wait: what was found out about the first of its class.
  Reason why(const View& now, const Plan& plan, JobId j) {
    const uint32_t c = waiting_.class_of(j);
    Reason& r = reasons_[c];
    if (waiting_.first_of(c) < j && r != Reason::none) return r;
    r = parts_.placer->find(now, plan, j).empty() ? parts_.placer->why(now, plan, j) : Reason::reservation;
    return r;
  }

  static constexpr JobId kNobody = kNone - 1;
  const Topology& topology_;
  Waiting waiting_;
  Residents here_;
  std::vector<Ages> ages_;
  std::vector<uint32_t> ages_of_;  // by class
  std::vector<NodeId> log_;        // where somebody left before the estimated end
  std::vector<Reason> reasons_;    // by class
  Cluster held_;                   // the cluster now, with the head's part taken
  Cluster ahead_;                  // all nodes cordoned but those that are asked about
  std::vector<uint8_t> stale_;     // by node: held_ does not show it as it is
  std::vector<NodeId> stale_nodes_;
  std::vector<uint8_t> is_touched_;  // by node: it may have room that it had not after the last pass
  std::vector<NodeId> touched_, early_;
  JobId head_ = kNone;
  Slot slot_;
  Time best_ = kNever;
  std::vector<NodeId> ties_;
  std::vector<Here> leaving_, aside_;
  std::vector<JobId> firsts_;  // by place in touched_; kNobody: not known
  NodeId begin_ = 0, end_ = 0;
  bool begun_ = false, part_ = false, limited_ = false, lost_track_ = false;
};

/// Whether all jobs want one node, in ways that Waiting knows.
bool plain(const Workload& w) {
  return std::all_of(w.shapes.begin(), w.shapes.end(), [](const Shape& s) {
    Shape known;  // and nothing else wished for
    known.groups = s.groups, known.nodes = s.nodes, known.total_gpus = s.total_gpus, known.fixed = s.fixed;
    for (const TaskGroup& g : s.groups)
      if (g.per_task[kGpu] != int64_t(g.gpus) * kMilli && g.per_task[kGpu] != 0) return false;
    const bool one = s.nodes == Nodes::one || (s.nodes != Nodes::whole && s.groups.size() == 1 && s.groups[0].max_tasks == 1);
    return one && s.fixed && s == known;
  });
}
}  // namespace

std::unique_ptr<Policy> make_easy(ListParts p) {
  if (!reserves_counts(p) && !p.order->keyed() && plain(p.input->workload)) return std::make_unique<EasyList>(std::move(p));
  return make_reserve(std::move(p), 1);
}

}  // namespace muster
