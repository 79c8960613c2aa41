#include "parts/preempt.hpp"

#include "parts/holders.hpp"
#include "parts/job_queue.hpp"
#include "parts/list_form.hpp"
#include "parts/shape_groups.hpp"

namespace muster {

namespace {

/// Jobs in order; whoever does not fit has later jobs removed, the last first, until it does. Then those removed are put back where they
/// were, the earliest first, wherever the job still fits; who cannot be put back waits. If it does not fit even with all later jobs gone,
/// nobody is moved. `Queue` holds those that wait: JobQueue, whose first job nobody overtakes, or ShapeGroups, which passes it over.
template <class Queue> class Preempting final : public List<Preempting<Queue>> {
  using Base = List<Preempting<Queue>>;
  static constexpr bool kStop = std::is_same_v<Queue, JobQueue>;

 public:
  explicit Preempting(ListParts p)
      : Base(std::move(p)), queue_(make_queue(*this->parts_.order, this->parts_.jobs)), holders_(this->parts_.jobs) {}

  bool contains(JobId j) const { return queue_.contains(j); }
  void insert(const View& now, JobId j, int64_t key) {
    keys_.resize(now.jobs());
    keys_[j] = key;
    if (j == blocked_) blocked_ = kNone;
    if constexpr (kStop) queue_.insert(j, key);
    else queue_.insert(now, j, key), queue_.try_again(now, j);
  }
  void erase(const View& now, JobId j) {
    if constexpr (kStop) queue_.erase(j);
    else queue_.erase(now, j);
  }

  /// What an event says of a job with a placement.
  void hear(const View& now, const Plan& plan, const Event& e) {
    if (e.what == What::submit || e.job >= now.jobs()) return;
    switch (e.what) {
      case What::fault:
      case What::repair:
      case What::cordon:
      case What::uncordon:
      case What::capacity:
      case What::quota:
      case What::reshaped:
      case What::wake: return;  // these name no job
      default: break;
    }
    if (plan.at(e.job).empty()) holders_.erase(e.job);
    else if (this->parts_.order->slopes() || !holders_.contains(e.job)) place(now, plan, e.job);  // a step that is due is for changed() to take
  }
  /// The order has another key for a job that does not wait.
  void rekey_placed(const View& now, const Plan& plan, JobId j) {
    if (!holders_.contains(j)) return;
    place(now, plan, j);
    left(plan.at(j));  // for those that are before it now, room may have come there
    later_ = true;
  }

  void pass(const View& now, Plan& plan, bool grew) {
    grew |= later_;
    later_ = false;
    for (size_t n = started_.size(), i = 0; i < n; i++)  // how fast those compute that were started in the last pass is known by now
      if (const JobId j = started_[i]; holders_.contains(j)) place(now, plan, j);
    started_.clear();
    if constexpr (kStop) {
      for (JobId j; (j = queue_.first()) != kNone;) {
        if (j == blocked_ && !grew) break;
        if (!serve(now, plan, j)) {
          if (j != blocked_ && blocked_ != kNone && queue_.contains(blocked_)) plan.reason(blocked_, Reason::behind_head);
          plan.reason(blocked_ = j, this->parts_.placer->why(now, plan, j));
          break;
        }
        if (j == blocked_) blocked_ = kNone;
      }
      for (const JobId j : this->fresh_)
        if (queue_.contains(j) && j != queue_.first()) plan.reason(j, Reason::behind_head);
    } else {
      if (grew) queue_.forget_failures([&](ShapeId s, Reason, bool) { return may_fit(now, plan, s); });
      for (JobId j; (j = queue_.first()) != kNone;) {
        if (serve(now, plan, j)) continue;
        const Reason r = this->parts_.placer->why(now, plan, j);
        queue_.fail(now, j, r, counts(now, now.job(j).shape));
        plan.reason(j, r);
      }
      for (const JobId j : this->fresh_)
        if (queue_.contains(j)) plan.reason(j, queue_.failed(now, j));
      queue_.end_pass();
    }
  }

 private:
  static Queue make_queue(const Order& o, size_t jobs) {
    if constexpr (kStop) return JobQueue(o.keyed(), jobs);
    else return ShapeGroups(jobs);
  }
  void place(const View& now, const Plan& plan, JobId j) {
    holders_.insert(now.now(), j, this->parts_.order->placed(now, *this->parts_.estimate, j), plan.at(j));
  }

  /// Starts `j`, at the cost of later jobs if need be.
  bool serve(const View& now, Plan& plan, JobId j) {
    Pieces at = this->parts_.placer->find(now, plan, j);
    if (at.empty()) {
      if (!holders_.last_is_after(now.now(), keys_[j], j)) return false;
      if (counts(now, now.job(j).shape) && !holders_.shares()) {
        count_room(now, plan, j);
        for (const JobId v : victims_) {
          left(plan.at(v));
          plan.preempt(v);
        }
      } else {
        make_room(now, plan, j);
      }
      if (victims_.empty()) return false;
      at = this->parts_.placer->find(now, plan, j);
    }
    plan.start(j, at);
    erase(now, j);
    place(now, plan, j);
    if (this->parts_.order->slopes()) started_.push_back(j);
    if (victims_.empty()) return true;
    for (const JobId v : victims_) {
      holders_.erase(v);
      insert(now, v, this->key(now, v));
      this->fresh_.push_back(v);
    }
    victims_.clear();
    // What they held beyond what the job took is room for others.
    if constexpr (!kStop) queue_.forget_failures([&](ShapeId s, Reason, bool) { return may_fit(now, plan, s); });
    return true;
  }
  void left(Pieces at) {
    for (const Piece& p : at) this->gave_back_.push_back(p.node);
  }

  /// The general way: edits that are taken back. Leaves in victims_ who is gone; nobody when it is no use.
  void make_room(const View& now, Plan& plan, JobId j) {
    const auto mark = plan.mark();
    const int64_t want = least_gpus(now.shape(j));
    bool fits = false;
    removed_.clear();
    holders_.from_last(now.now(), keys_[j], j, [&](JobId v) {
      removed_.push_back({v, {plan.at(v).begin(), plan.at(v).end()}});
      plan.preempt(v);
      if (plan.index().free_now_gpus() >= want) fits = !this->parts_.placer->find(now, plan, j).empty();
      return !fits;
    });
    if (!fits) return plan.rollback(mark);
    for (auto v = removed_.rbegin(); v != removed_.rend(); ++v) {
      plan.start(v->job, v->at);
      if (!this->parts_.placer->find(now, plan, j).empty()) continue;
      left(v->at);
      plan.preempt(v->job);
      victims_.push_back(v->job);
    }
  }

  /// The same by counting, for jobs of which only whole GPUs are asked: `each node gives so much` is all there is to know.
  void count_room(const View& now, const Plan& plan, JobId j) {
    const Shape& s = now.shape(j);
    const Cluster& c = plan.cluster();
    const Topology& t = now.topology();
    counts_.resize(t.nodes());
    call_++;
    const int64_t want = wanted(s);
    int64_t have = s.nodes == Nodes::one ? 0 : s.nodes == Nodes::whole ? plan.index().whole_gpus() : gives_now(s, plan);
    const auto change = [&](JobId v, int sign) {
      for (const Piece& p : plan.at(v)) {
        if (!c.usable(p.node)) continue;
        Count& count = counts_[p.node];
        if (count.call != call_) count = {call_, c.free_now_count(p.node)};
        have -= gives(s, count.gpus, t.gpus_of(p.node));
        count.gpus += uint32_t(sign * int(p.gpus()));
        have += gives(s, count.gpus, t.gpus_of(p.node));
      }
    };
    candidates_.clear();
    holders_.from_last(now.now(), keys_[j], j, [&](JobId v) {
      change(v, 1);
      candidates_.push_back(v);
      return have < want;
    });
    if (have < want) return;
    for (auto v = candidates_.rbegin(); v != candidates_.rend(); ++v) {
      change(*v, -1);
      if (have >= want) continue;
      change(*v, 1);
      victims_.push_back(*v);
    }
  }
  /// What `count` free GPUs of a node of `all` give towards wanted(s).
  static int64_t gives(const Shape& s, uint32_t count, uint32_t all) {
    const uint32_t task = s.groups[0].gpus;
    switch (s.nodes) {
      case Nodes::one: return count >= s.total_gpus;
      case Nodes::whole: return count == all ? all : 0;
      case Nodes::each: return count >= task;
      case Nodes::any: return count / task;
    }
    return 0;
  }
  static int64_t wanted(const Shape& s) {
    return s.nodes == Nodes::one ? 1 : s.nodes == Nodes::whole ? s.total_gpus : s.groups[0].max_tasks;
  }
  static int64_t gives_now(const Shape& s, const Plan& plan) {
    if (s.nodes == Nodes::any && s.groups[0].gpus == 1) return plan.index().free_now_gpus();
    int64_t sum = 0;
    for (NodeId n = plan.index().begin(); n < plan.index().end(); n++) sum += gives(s, plan.cluster().free_now_count(n), ~0u);
    return sum;
  }

  /// Whether the first waiting job that asks for the GPUs of shape `s` may fit now, though it did not in the last pass: room has come on
  /// gave_back_ alone.
  bool may_fit(const View& now, const Plan& plan, ShapeId s) {
    if (!this->known_ || holders_.shares()) return true;
    const JobId j = queue_.first_like(s);
    if (j == kNone || !counts(now, now.job(j).shape)) return true;
    const Shape& shape = now.shape(j);
    for (const NodeId n : this->gave_back_) {
      if (!plan.cluster().usable(n)) continue;
      uint32_t count = plan.cluster().free_now_count(n);
      const GpuId first = now.topology().first_gpu(n), all = now.topology().gpus_of(n);
      for (GpuId g = first; g < first + all; g++)
        if (const JobId v = plan.cluster().holder(g); v != kNone && holders_.is_after(now.now(), v, keys_[j], j)) count++;
      if (gives(shape, count, all)) return true;
    }
    return false;
  }

  static int64_t least_gpus(const Shape& s) {
    if (s.nodes == Nodes::whole) return s.total_gpus;
    int64_t sum = 0;
    for (const TaskGroup& g : s.groups) sum += int64_t(g.min_tasks) * g.gpus;
    return sum;
  }

  /// Whether nothing but whole GPUs decides where a job of this shape goes.
  bool counts(const View& now, ShapeId s) {
    if (s >= simple_.size()) simple_.resize(std::max(now.shapes(), size_t(s) + 1));
    if (simple_[s]) return simple_[s] == 1;
    const Shape& shape = now.shape_of(s);
    const TaskGroup& g = shape.groups[0];
    bool simple = shape.groups.size() == 1 && shape.fixed && g.gpus > 0 && g.max_tasks > 0 && g.gpu_types.empty() && g.driver.empty() &&
                  g.cuda.empty() && g.labels.empty() && shape.apart == 0 && shape.numa == Numa::none && shape.required_level.empty() &&
                  shape.preferred_level.empty() && g.gpu_mem_mib == 0 && g.per_task[kGpu] == int64_t(g.gpus) * kMilli;
    for (size_t k = 1; k < kMaxKinds; k++) simple &= g.per_task[k] == 0 || !now.topology().limits(k);
    simple_[s] = simple ? 1 : 2;
    return simple;
  }

  struct Removed {
    JobId job;
    std::vector<Piece> at;
  };
  struct Count {
    uint32_t call = 0, gpus = 0;
  };
  Queue queue_;
  Holders holders_;
  std::vector<int64_t> keys_;  // of those that wait
  std::vector<Removed> removed_;
  std::vector<JobId> candidates_;
  std::vector<JobId> victims_;
  std::vector<Count> counts_;  // by node: GPUs free without those removed, while its call is good
  uint32_t call_ = 0;
  std::vector<uint8_t> simple_;  // by shape: 0 not asked yet, 1 yes, 2 no
  std::vector<JobId> started_;   // in the last pass
  JobId blocked_ = kNone;
  bool later_ = false;  // a job with a placement has another key
};

constexpr PartInfo kPreemptions[] = {
    {"none", "a job that runs is left alone"},
    {"order", "later jobs make way for earlier ones"},
};

}  // namespace

std::span<const PartInfo> preemptions() { return kPreemptions; }

std::unique_ptr<Policy> make_preempting(ListParts p, bool stop) {
  if (stop) return std::make_unique<Preempting<JobQueue>>(std::move(p));
  return std::make_unique<Preempting<ShapeGroups>>(std::move(p));
}

}  // namespace muster
