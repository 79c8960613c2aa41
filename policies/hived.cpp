// HiveD: virtual clusters own cells of the topology, gangs run in them or, opportunistically, anywhere.
#include <algorithm>
#include <array>
#include <optional>

#include "parts/hived_queue.hpp"
#include "parts/hived_topology.hpp"
#include "parts/not_yet.hpp"
#include "parts/order.hpp"
#include "parts/placer.hpp"
#include "table.hpp"

namespace muster {

namespace {

std::string place(const Config* c) { return !c || c->where.empty() ? std::string() : c->where + ": "; }

/// HiveD's own configuration; with virtual clusters alone, the cells are the topology's.
HivedConfig configured(const PolicyInput& in) {
  const Config* c = in.parameters.find("cells");
  if (!c || c->kind != Config::Kind::object)
    throw InputError(place(c ? c : &in.parameters) +
                     "hived wants cells: a HiveD configuration, {\"virtualClusters\": {\"VC\": {\"virtualCells\": [{\"cellType\": "
                     "\"rack.node\", \"cellNumber\": 2}]}}}, with physicalCluster or on the topology's own levels");
  if (c->find("physicalCluster")) return read_hived(*c);
  HivedConfig physical = hived_cells(in.topology);
  HivedConfig vcs = read_hived_vcs(*c);
  physical.vcs = std::move(vcs.vcs), physical.chain_order = std::move(vcs.chain_order);
  return physical;
}

class HivedPolicy final : public Policy {
 public:
  explicit HivedPolicy(const PolicyInput& in)
      : config_(configured(in)),
        hived_(config_),
        map_(map_leaves(hived_.forest, in.topology)),
        topology_(in.topology),
        queue_(in.workload.jobs.size(), hived_.forest.vcs().size()),
        group_(in.workload.jobs.size(), -1) {
    const Config& c = in.parameters;
    static constexpr std::array<std::string_view, 9> kKnown = {"cells", "vc", "queues", "order",           "estimate",
                                                               "blocked", "grace", "lazy_preemption", "notes"};
    c.only(kKnown);
    const auto text = [&](std::string_view key, std::string_view fallback) { return c.find(key) ? c.find(key)->as_text() : fallback; };
    by_tenant_ = text("vc", "queue") == "tenant";
    if (!by_tenant_ && text("vc", "queue") != "queue")
      throw InputError(place(c.find("vc")) + "want queue or tenant, found \"" + c.find("vc")->value + "\"");
    stop_ = text("blocked", "skip") == "stop";
    if (!stop_ && text("blocked", "skip") != "skip")
      throw InputError(place(c.find("blocked")) + "want skip or stop, found \"" + c.find("blocked")->value + "\"");
    if (const Config* g = c.find("grace")) grace_ = g->as_duration();
    if (const Config* l = c.find("lazy_preemption")) lazy_ = l->as_boolean();
    if (const Config* n = c.find("notes")) notes_ = n->as_boolean();
    order_ = make_order(text("order", "fifo"), in);
    estimate_ = make_estimate(text("estimate", "trace"), in);
    cpu_only_ = make_placer("first", in.topology, in.seed);
    const Names& names = by_tenant_ ? in.workload.tenants : in.workload.queues;
    for (uint32_t i = 0; i < names.size(); i++) doors_.push_back(door(names[i], c.find("queues")));
    most_gpus_ = in.topology.most_gpus();
  }

  void schedule(const View& now, Plan& plan) override {
    hived_.forest.journal().forget();
    hived_.forest.journal().save(plan);
    fresh_.clear();
    if (first_)
      for (NodeId n = 0; n < now.topology().nodes(); n++)
        if (!plan.cluster().usable(n)) check_health(plan, n);
    first_ = false;
    for (const Event& e : now.events()) follow(now, plan, e);
    not_yet_.release(now, plan, [&](JobId j) { enter(now, plan, j); });
    estimate_->follow(now);
    if (order_->keyed()) {
      rekeyed_.clear();
      order_->changed(now, plan, rekeyed_);
      for (const JobId j : rekeyed_)
        if (queue_.contains(j)) queue_.rekey(j, order_->key(now, *estimate_, j));
    }
    uint32_t c = 0;
    for (JobId j; (j = queue_.next(c)) != kNone;) attempt(now, plan, j, c);
    withdraw_notices(now, plan);
    place_cpu_only(now, plan);
    for (const JobId j : fresh_)
      if (queue_.contains(j)) plan.reason(j, reason(plan, queue_[queue_.class_of(j)]));
    if (notes_) note(plan);
  }

 private:
  /// Where jobs of a queue, or of a tenant, come in.
  struct Door {
    int32_t vc = -1;
    std::string pinned;
    std::optional<int32_t> priority;  // of all its jobs
    bool lazy = false;
  };

  /// A queue is the virtual cluster of its name, unless `queues` says what it is.
  Door door(std::string_view name, const Config* queues) const {
    Door d;
    d.vc = hived_.forest.find_vc(name);
    d.lazy = lazy_;
    const Config* c = queues ? queues->find(name) : nullptr;
    if (!c) return d;
    static constexpr std::array<std::string_view, 4> kKnown = {"vc", "pinned", "priority", "lazy_preemption"};
    c->only(kKnown);
    if (const Config* vc = c->find("vc")) {
      d.vc = hived_.forest.find_vc(vc->as_text());
      if (d.vc < 0) {
        const std::vector<std::string_view> known(hived_.forest.vcs().begin(), hived_.forest.vcs().end());
        const std::string nearest = nearest_name(vc->as_text(), known);
        throw InputError(place(vc) + "no virtual cluster is called " + vc->value + (nearest.empty() ? "" : "; did you mean " + nearest + "?"));
      }
    }
    if (const Config* p = c->find("pinned")) {
      d.pinned = p->as_text();
      if (hived_.forest.pinned_tree(d.vc, d.pinned) < 0) throw InputError(place(p) + "the virtual cluster has no pinned cell " + d.pinned);
    }
    if (const Config* p = c->find("priority")) d.priority = int32_t(p->as_integer(-1, 1000));
    if (const Config* l = c->find("lazy_preemption")) d.lazy = l->as_boolean();
    return d;
  }

  /// Pods of a shape, smallest first, and whose task group each is of.
  struct Pods {
    struct Pod {
      int32_t leaves;
      uint32_t group, tasks;
    };
    std::vector<Pod> list;
    std::vector<HivedRequest::Member> members;
  };

  // ---- what jobs ask for

  Pods pods_of(const Shape& s) const {
    Pods p;
    if (s.nodes == Nodes::whole) {
      if (s.total_gpus % most_gpus_) p.list.push_back({int32_t(s.total_gpus % most_gpus_), 0, 1});
      for (uint32_t i = 0; i < s.total_gpus / most_gpus_; i++) p.list.push_back({int32_t(most_gpus_), 0, 1});
    } else if (s.nodes == Nodes::one && s.groups.size() == 1) {
      p.list.push_back({int32_t(s.groups[0].gpus * s.groups[0].max_tasks), 0, s.groups[0].max_tasks});
    } else {
      for (uint32_t g = 0; g < s.groups.size(); g++)
        for (uint32_t i = 0; i < s.groups[g].max_tasks; i++) p.list.push_back({int32_t(s.groups[g].gpus), g, 1});
    }
    std::stable_sort(p.list.begin(), p.list.end(), [](const Pods::Pod& a, const Pods::Pod& b) { return a.leaves < b.leaves; });
    for (const Pods::Pod& pod : p.list) {
      if (p.members.empty() || p.members.back().leaves != pod.leaves) p.members.push_back({0, pod.leaves});
      p.members.back().pods++;
    }
    return p;
  }

  const Pods& pods(const View& now, JobId j) {
    const ShapeId s = now.job(j).shape;
    if (pods_.size() <= s) pods_.resize(now.shapes());
    if (pods_[s].list.empty()) pods_[s] = pods_of(now.shape(j));
    return pods_[s];
  }

  HivedRequest request(const View& now, JobId j, uint32_t door, int32_t priority) {
    HivedRequest r;
    r.vc = doors_[door].vc, r.priority = priority;
    r.members = pods(now, j).members;
    const Shape& s = now.shape(j);
    if (const auto& types = s.groups[0].gpu_types; types.size() == 1) r.leaf_type = types[0];
    const Door& d = doors_[door];
    r.pinned = d.pinned;
    r.lazy_preemption = d.lazy;
    return r;
  }

  void enter(const View& now, Plan& plan, JobId j) {
    const Shape& s = now.shape(j);
    if (s.total_milli() > int64_t{s.total_gpus} * kMilli) {  // cells hold whole GPUs
      plan.reject(j, Reason::policy);
      return;
    }
    if (s.total_gpus == 0) {
      cpu_waiting_.push_back(j);
      return;
    }
    const uint32_t door = by_tenant_ ? now.job(j).tenant : now.job(j).queue;
    const Door& d = doors_[door];
    const int32_t priority = d.priority ? *d.priority : now.priority(j);
    bool fresh = false;
    const uint32_t c = queue_.class_for(door, d.vc, priority, now.job(j).shape, [&] {
      fresh = true;
      return request(now, j, door, priority);
    });
    if (fresh) {
      const HivedRequest& r = queue_[c].request;
      const bool odd = s.nodes == Nodes::each || (s.nodes == Nodes::one && s.groups.size() > 1) ||
                       std::any_of(r.members.begin(), r.members.end(), [](const HivedRequest::Member& m) { return m.leaves == 0; });
      refusal_.resize(std::max<size_t>(refusal_.size(), c + 1), Reason::none);
      refusal_[c] = odd || !hived_.wrong(r).empty() ? Reason::policy : hived_.can_ever_fit(r) ? Reason::none : Reason::quota_size;
    }
    if (refusal_[c] != Reason::none) {
      if (notes_) {
        const std::string why = refusal(queue_[c].request, refusal_[c]);
        plan.note("refused", {{"job", int64_t(j), {}}, {"why", 0, why}});
      }
      plan.reject(j, refusal_[c]);
      return;
    }
    queue_.insert(j, c, order_->keyed() ? order_->key(now, *estimate_, j) : int64_t(j));
    fresh_.push_back(j);
  }

  /// Why a request is refused, in words.
  std::string refusal(const HivedRequest& r, Reason reason) const {
    if (const std::string wrong = hived_.wrong(r); !wrong.empty()) return wrong;
    if (reason == Reason::policy) return "its tasks are to be spread, or together on one node in several sizes, which pods in cells are not";
    std::string asks;
    for (const HivedRequest::Member& m : r.members)
      asks += (asks.empty() ? "" : " and ") + std::to_string(m.pods) + (m.pods == 1 ? " task of " : " tasks of ") + std::to_string(m.leaves) +
              (m.leaves == 1 ? " GPU" : " GPUs");
    return "asks for " + asks + ", each in one cell; " + (r.priority < 0 ? "the cluster" : hived_.forest.vcs()[size_t(r.vc)]) + " has " + hived_.largest(r);
  }

  // ---- what happened

  void follow(const View& now, Plan& plan, const Event& e) {
    switch (e.what) {
      case What::submit:
        if (plan.queue().contains(e.job) && !not_yet_.keeps(now, plan, e.job)) enter(now, plan, e.job);
        break;
      case What::end:
        queue_.erase(e.job);
        std::erase(cpu_waiting_, e.job);
        gone(e.job);
        break;
      case What::lost:
      case What::drained:
      case What::preempt:
        gone(e.job);
        settle_reservations();
        if (plan.queue().contains(e.job) && !queue_.contains(e.job)) enter(now, plan, e.job);
        break;
      case What::priority:
        if (queue_.contains(e.job)) {
          queue_.erase(e.job);
          enter(now, plan, e.job);
        }
        break;
      case What::fault:
      case What::repair:
      case What::cordon:
      case What::uncordon:
      case What::capacity: check_health(plan, e.job); break;
      default: break;
    }
    if (!cpu_waiting_.empty()) cpu_retry_ = true;
  }

  /// The job holds nothing any more: its cells go back, or its reservation is given up.
  void gone(JobId j) {
    const int32_t g = group_[j];
    if (g < 0) return;
    group_[j] = -1;
    const Hived::Group& x = hived_.group(g);
    const int32_t vc = x.vc;
    if (GroupState(x.state) == GroupState::preempting) {
      std::erase(reserving_, j);
      hived_.cancel(g);
    } else {
      std::erase(draining_, j);
      hived_.release(g);
    }
    freed(vc);
  }

  void freed(int32_t vc) {
    queue_.freed(size_t(vc));
    queue_.freed(queue_.opportunistic());
    queue_.freed_cells();
  }

  void check_health(const Plan& plan, NodeId n) {
    const Topology& t = plan.cluster().topology();
    bool changed = false;
    for (GpuId g = t.first_gpu(n); g < t.first_gpu(n) + t.gpus_of(n); g++) {
      const int32_t x = map_.leaf[g];
      if (x == kNoCell) continue;
      const unsigned i = g - t.first_gpu(n);
      const bool bad = !plan.cluster().usable(n) || (plan.cluster().bad(n, i / 64) >> (i % 64) & 1);
      if (bad == (hived_.forest[x].bad != 0)) continue;
      bad ? hived_.forest.hurt(x) : hived_.forest.heal(x);
      changed = true;
    }
    if (!changed) return;
    for (size_t vc = 0; vc < hived_.forest.vcs().size(); vc++) queue_.freed(vc);
    queue_.freed(queue_.opportunistic());
    queue_.freed_cells();
  }

  /// Gangs whose victims have all left are bound; the engine begins them by itself.
  void settle_reservations() {
    static const std::vector<char> kAll;
    for (size_t i = 0; i < reserving_.size();) {
      const JobId j = reserving_[i];
      if (hived_.retry(group_[j], true, kAll).victims.empty()) {
        hived_.bind(group_[j]);
        reserving_.erase(reserving_.begin() + ptrdiff_t(i));
      } else {
        i++;
      }
    }
  }

  // ---- decisions

  void attempt(const View& now, Plan& plan, JobId j, uint32_t c) {
    static const std::vector<char> kAll;
    HivedQueue::Class& cls = queue_[c];
    cls.request.tag = j;
    int32_t group = -1;
    const Hived::Answer a = hived_.decide(cls.request, false, kAll, group);
    for (const uint32_t weaker : a.cancelled) {  // these claims were given up for this one
      plan.preempt(weaker);
      group_[weaker] = -1;
      std::erase(reserving_, JobId(weaker));
      enter(now, plan, weaker);
    }
    if (a.why != HivedWait::none) {
      // With all cells healthy, what a virtual cluster has room for can be bound: that is the guarantee.
      if (a.why == HivedWait::no_physical_mapping && hived_.forest.totals().bad == 0) plan.note("hived_violation", {{"job", int64_t(j), {}}});
      queue_.fail(c, a.why);
      plan.reason(j, reason(plan, cls));
      if (stop_) queue_.block(cls.bucket, j);
      return;
    }
    const Pods& p = pods(now, j);
    bool waits = false;
    if (a.victims.empty()) {
      pieces(p, hived_.placement());
      if (!room(now, plan, j)) {  // of CPUs or memory, which HiveD knows nothing of
        queue_.fail(c, HivedWait::needs_non_suggested_node);
        plan.reason(j, Reason::cpu);
        if (stop_) queue_.block(cls.bucket, j);
        return;
      }
      group = hived_.commit(cls.request, hived_.placement());
    } else {
      pieces(p, hived_.placement());
      for (const int32_t v : a.victims) {
        const auto victim = JobId(hived_.group(v).tag);
        if (!plan.placed().contains(victim)) {  // under notice already
          waits = true;
          continue;
        }
        const State was = now.state(victim);
        const bool drains = grace_ > 0 && (was == State::running || was == State::starting);
        plan.preempt(victim, drains ? grace_ : 0);
        if (drains) {
          draining_.push_back(victim);
          waits = true;
        } else {
          const int32_t vc = hived_.group(v).vc;
          hived_.release(v);
          group_[victim] = -1;
          freed(vc);
          enter(now, plan, victim);
        }
      }
      if (!waits) hived_.bind(group);
      else reserving_.push_back(j);
    }
    group_[j] = group;
    plan.start(j, out_);
    if (notes_ && cls.request.priority < 0) plan.note("hived_opportunistic", {{"job", int64_t(j), {}}});
    queue_.erase(j);
    for (const int32_t g : hived_.lazied) {
      freed(hived_.group(g).vc);
      plan.note("hived_lazy", {{"job", int64_t(hived_.group(g).tag), {}}});
    }
    hived_.lazied.clear();
  }

  /// Victims that no reservation needs any more go on where they are.
  void withdraw_notices(const View& now, Plan& plan) {
    for (size_t i = 0; i < draining_.size();) {
      const JobId v = draining_[i];
      const auto leaves = hived_.physical(group_[v]);
      const bool needed =
          std::any_of(leaves.begin(), leaves.end(), [&](int32_t x) { return LeafState(hived_.forest[x].state) == LeafState::reserving; });
      if (needed) {
        i++;
        continue;
      }
      std::vector<HivedLeaf> at;
      for (const int32_t x : leaves) at.push_back({x, kNoCell, -1});
      pieces(pods(now, v), at);
      plan.start(v, out_);
      hived_.reprieve(group_[v]);
      draining_.erase(draining_.begin() + ptrdiff_t(i));
    }
  }

  /// The placement as pieces in tree order, in out_.
  void pieces(const Pods& p, const std::vector<HivedLeaf>& leaves) {
    gpus_.clear();
    size_t i = 0;
    for (const Pods::Pod& pod : p.list)
      for (int32_t k = 0; k < pod.leaves; k++, i++)
        gpus_.push_back({map_.gpu[size_t(leaves[i].physical)], pod.group, k == 0 ? pod.tasks : 0});
    const Topology& t = topology_;
    std::sort(gpus_.begin(), gpus_.end(), [&](const Gpu& a, const Gpu& b) {
      const NodeId x = t.node_of(a.gpu), y = t.node_of(b.gpu);
      return x != y ? x < y : a.group != b.group ? a.group < b.group : a.gpu < b.gpu;
    });
    out_.clear();
    size_t first = 0;  // piece of the node and group at hand that counts the tasks
    for (const Gpu& g : gpus_) {
      const NodeId n = t.node_of(g.gpu);
      const unsigned at = g.gpu - t.first_gpu(n);
      const bool same = !out_.empty() && out_.back().node == n && out_.back().group == g.group;
      if (!same) first = out_.size();
      if (!same || out_.back().word != at / 64) out_.push_back(Piece::whole(n, 0, 0, uint8_t(at / 64), uint8_t(g.group)));
      out_.back().what |= uint64_t{1} << (at % 64);
      out_[first].tasks = uint16_t(out_[first].tasks + g.tasks);
    }
  }

  bool room(const View& now, const Plan& plan, JobId j) const {
    const Shape& s = now.shape(j);
    if (s.nodes == Nodes::whole) return true;  // rows that state only GPUs
    return std::all_of(out_.begin(), out_.end(),
                       [&](const Piece& p) { return p.tasks == 0 || plan.cluster().room(p.node, s.groups[p.group], p.tasks); });
  }

  Reason reason(const Plan& plan, const HivedQueue::Class& c) const {
    switch (c.why) {
      case HivedWait::none: return c.bucket == queue_.opportunistic() || !stop_ ? Reason::quota : Reason::behind_head;
      case HivedWait::insufficient_capacity: break;
      case HivedWait::needs_bad_node: return Reason::resource;
      default: return Reason::fragmented;
    }
    int64_t wants = 0;
    for (const HivedRequest::Member& m : c.request.members) wants += int64_t(m.pods) * m.leaves;
    if (c.request.priority < 0) return plan.cluster().free_now_gpus() >= wants ? Reason::fragmented : Reason::no_gpus;
    return hived_.unused(c.request.vc) >= wants ? Reason::fragmented : Reason::quota;
  }

  void place_cpu_only(const View& now, Plan& plan) {
    if (!cpu_retry_) return;
    cpu_retry_ = false;
    std::erase_if(cpu_waiting_, [&](JobId j) {
      const Pieces at = cpu_only_->find(now, plan, j);
      if (at.empty()) plan.reason(j, cpu_only_->why(now, plan, j));
      else plan.start(j, at);
      return !at.empty();
    });
  }

  void note(Plan& plan) {
    const CellForest::Totals t = hived_.forest.totals();
    if (t == told_) return;
    plan.note("hived", {{"free", t.free, {}},
                        {"free_nodes", t.free_nodes, {}},
                        {"owned", t.owned, {}},
                        {"guaranteed", t.guaranteed, {}},
                        {"opportunistic", t.opportunistic, {}},
                        {"bad", t.bad, {}},
                        {"splits", int64_t(t.splits), {}},
                        {"merges", int64_t(t.merges), {}}});
    told_ = t;
  }

  struct Gpu {
    GpuId gpu;
    uint32_t group, tasks;
  };
  HivedConfig config_;
  Hived hived_;
  LeafMap map_;
  const Topology& topology_;
  HivedQueue queue_;
  std::vector<int32_t> group_;  // by job: its group, or -1
  std::vector<Door> doors_;         // by queue or tenant
  std::unique_ptr<Order> order_;
  std::unique_ptr<Estimate> estimate_;
  std::unique_ptr<Placer> cpu_only_;
  NotYet not_yet_;
  bool by_tenant_ = false, stop_ = false, lazy_ = false, notes_ = true, first_ = true, cpu_retry_ = false;
  Duration grace_ = 0;
  uint32_t most_gpus_ = 0;
  std::vector<Pods> pods_;       // by shape
  std::vector<Reason> refusal_;  // by class
  std::vector<JobId> fresh_, rekeyed_, cpu_waiting_;
  std::vector<JobId> reserving_;  // claims whose victims are under notice
  std::vector<JobId> draining_;   // victims under notice
  std::vector<Gpu> gpus_;
  std::vector<Piece> out_;
  CellForest::Totals told_;
};

}  // namespace

std::unique_ptr<Policy> make_hived(const PolicyInput& in) { return std::make_unique<HivedPolicy>(in); }

std::vector<Parameter> hived_parameters() {
  std::vector<Parameter> all = {{"cells", "", "virtual clusters and their cells: HiveD's configuration, as a file or an object", {}},
                                {"vc", "queue", "what a job's virtual cluster is told by", {"queue", "tenant"}},
                                {"queues", "", "queues (or tenants) that are not the virtual cluster of their name: NAME: {vc, pinned, priority, lazy_preemption}", {}}};
  all.push_back(slot_parameter("order", "fifo", "who is tried first; ties: earlier submit, then trace order", orders()));
  all.push_back({"blocked", "skip", "whether a job that waits holds back those behind it in its virtual cluster", {"skip", "stop"}});
  all.push_back({"grace", "0s", "notice that victims get; the cells are reserved meanwhile", {}});
  all.push_back({"lazy_preemption", "false", "whether victims inside a virtual cluster go on opportunistically", {"true", "false"}});
  all.push_back(slot_parameter("estimate", "trace", "run times that orders look at", estimates()));
  all.push_back({"notes", "true", "whether cells by state are noted into the records", {"true", "false"}});
  return all;
}

}  // namespace muster
