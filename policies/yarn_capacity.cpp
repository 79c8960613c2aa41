// The policy `yarn-capacity`: capacity queues and the preemption monitor.
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "parts/by_shape.hpp"
#include "parts/elastic.hpp"
#include "parts/not_yet.hpp"
#include "parts/placer.hpp"
#include "parts/yarn_config.hpp"
#include "table.hpp"

namespace muster {

namespace {

constexpr std::array<std::string_view, 15> kParameters = {"queues",
                                                          "place",
                                                          "resources",
                                                          "application_masters",
                                                          "preemption",
                                                          "monitoring_interval",
                                                          "max_wait_before_kill",
                                                          "total_preemption_per_round",
                                                          "max_ignored_over_capacity",
                                                          "natural_termination_factor",
                                                          "preemption_to_balance",
                                                          "intra_queue_preemption",
                                                          "minimum_threshold",
                                                          "max_allowable_limit",
                                                          "preemption_order_policy"};

/// A job is an application, a task a container. An application is started whole: as many tasks as it wants, or its least number. Between
/// queues the one that has used the smallest part of its capacity is served first, level by level; inside a queue priority, then
/// submission. Every interval, while something is owed, the monitor selects containers, asks their applications to give them back, and
/// takes them by force when the wait is over. Rules: Hadoop's CapacityScheduler and ProportionalCapacityPreemptionPolicy (commits in
/// yarn_capacity.hpp).
class YarnCapacity final : public Policy {
 public:
  explicit YarnCapacity(const PolicyInput& in)
      : specs_(yarn::read_queues(in.parameters)),
        settings_(yarn::read_settings(in.parameters)),
        placer_(make_placer(in.parameters.find("place") ? in.parameters.find("place")->as_text() : "pack", in)),
        table_(in.workload.jobs.size()) {
    in.parameters.only(kParameters);
    if (const Config* c = in.parameters.find("preemption")) monitor_ = c->as_boolean();
    if (const Config* c = in.parameters.find("application_masters")) masters_ = c->as_boolean();
    resources(in);
    for (NodeId n = 0; n < in.topology.nodes(); n++) cluster_ += in.topology.kind(n).capacity;
    for (const yarn::QueueSpec& s : specs_) {
      State q;
      for (const size_t k : calculator_.kinds) {
        q.guaranteed[k] = int64_t(Int128(cluster_[k]) * s.capacity / 1'000'000);
        q.most[k] = int64_t(Int128(cluster_[k]) * s.most / 1'000'000);
      }
      queues_.push_back(std::move(q));
    }
    // A trace names a queue by its path or its last name.
    for (uint32_t n = 0; n < in.workload.queues.size(); n++) {
      uint32_t found = kNone;
      for (uint32_t q = 0; q < specs_.size(); q++) {
        const std::string& path = specs_[q].path;
        if (specs_[q].leaf &&
            (in.workload.queues[n] == path || in.workload.queues[n] == std::string_view(path).substr(path.rfind('.') + 1)))
          found = q;
      }
      queue_of_.push_back(found);
    }
    holds_.resize(in.workload.jobs.size());
  }

  void schedule(const View& now, Plan& plan) override {
    for (const Event& e : now.events()) {
      if (e.what == What::wake || e.what == What::speed || e.job >= now.jobs()) continue;
      if (e.what == What::fault || e.what == What::repair || e.what == What::cordon || e.what == What::uncordon || e.what == What::capacity)
        continue;
      if (e.what == What::submit && queue_of_[now.job(e.job).queue] == kNone) {
        plan.reject(e.job, Reason::policy);
        continue;
      }
      if (e.what == What::submit && !ever(now, queue_of_[now.job(e.job).queue], e.job)) {
        plan.reject(e.job, Reason::quota_size);
        continue;
      }
      if (e.what == What::priority) leave(now, e.job);
      follow(now, plan, e.job);
    }
    not_yet_.release(now, plan, [&](JobId j) { enter(now, j); });
    if (monitor_ && next_round_ <= now.now()) round(now, plan);
    allocate(now, plan);
    if (monitor_ && next_round_ <= now.now()) next_round_ = owed(plan) ? now.now() + settings_.interval : kNever;
    if (monitor_ && next_round_ == kNever && owed(plan)) next_round_ = now.now() + settings_.interval;
    if (monitor_ && next_round_ != kNever) plan.wake_at(next_round_);
  }

 private:
  struct State {
    Resources guaranteed, most, used;
    Resources pending;
    // Of a leaf:
    ByShape waiting;
    std::set<JobId> running;              // the oldest first
    std::map<TenantId, Resources> users;  // what they hold
    std::map<TenantId, uint32_t> active;  // how many of their jobs wait
  };

  void resources(const PolicyInput& in) {
    const Config* c = in.parameters.find("resources");
    const auto add = [&](std::string_view name) {
      const auto& names = in.topology.resource_names();
      const auto i = std::find(names.begin(), names.end(), name);
      if (i == names.end()) throw InputError((c->where.empty() ? "" : c->where + ": ") + "no resource is called " + std::string(name));
      calculator_.kinds.push_back(size_t(i - names.begin()));
    };
    if (!c) calculator_.kinds = {kGpu};
    else if (c->fields.empty()) add(c->as_text());
    else
      for (const auto& [none, name] : c->fields) add(name.as_text());
    calculator_.dominant = calculator_.kinds.size() > 1;
  }
  static Resources asked(const View& now, JobId j) {
    const Shape& s = now.shape(j);
    Resources sum;
    for (const TaskGroup& g : s.groups) sum += g.per_task.times(g.max_tasks);
    if (s.nodes == Nodes::whole) sum[kGpu] = int64_t(s.total_gpus) * kMilli;
    return sum;
  }
  State& queue_for(const View& now, JobId j) { return queues_[queue_of_[now.job(j).queue]]; }
  void enter(const View& now, JobId j) {
    State& q = queue_for(now, j);
    q.waiting.insert(table_, j, now.job(j).shape, now.priority(j));
    q.pending += asked(now, j);
    q.active[now.job(j).tenant]++;
  }
  void leave(const View& now, JobId j) {
    if (!table_.contains(j)) return;
    State& q = queue_for(now, j);
    q.waiting.erase(table_, j, now.job(j).shape);
    q.pending -= asked(now, j);
    const auto user = q.active.find(now.job(j).tenant);
    if (--user->second == 0) q.active.erase(user);
  }
  /// Brings what is known of a job up to what the plan says.
  void follow(const View& now, Plan& plan, JobId j) {
    const uint32_t q = queue_of_[now.job(j).queue];
    if (q == kNone) return;
    account(now, plan, j);
    if (plan.queue().contains(j)) {
      if (!table_.contains(j) && !not_yet_.keeps(now, plan, j)) enter(now, j);
    } else {
      leave(now, j);
    }
  }
  void account(const View& now, Plan& plan, JobId j) {
    const Pieces at = plan.at(j);
    Resources holds;
    const Shape& s = now.shape(j);
    for (const Piece& p : at) {
      Resources r = s.groups[p.group].per_task.times(p.tasks);
      r[kGpu] = p.share == Share::whole ? int64_t(p.gpus()) * kMilli : r[kGpu];
      holds += r;
    }
    const uint32_t leaf = queue_of_[now.job(j).queue];
    Resources change = holds;
    change -= holds_[j];
    for (uint32_t q = leaf; q != kNone; q = specs_[q].parent) queues_[q].used += change;
    queues_[leaf].users[now.job(j).tenant] += change;
    holds_[j] = holds;
    if (at.empty()) {
      queues_[leaf].running.erase(j);
      requested_.erase(j);
    } else {
      queues_[leaf].running.insert(j);
    }
  }

  // ---- allocation
  bool under(const Resources& used, const Resources& more, const Resources& most) const {
    return std::all_of(calculator_.kinds.begin(), calculator_.kinds.end(), [&](size_t k) { return used[k] + more[k] <= most[k]; });
  }
  bool headroom(uint32_t leaf, const Resources& more) const {
    for (uint32_t q = leaf; q != kNone; q = specs_[q].parent)
      if (!under(queues_[q].used, more, queues_[q].most)) return false;
    return true;
  }
  /// What one user of the queue may hold when the queue holds `used` (UsersManager, commit 10ab900b): an equal part of what is held among
  /// active users, never below its least part of the capacity, never above the capacity times the factor.
  Resources user_limit(uint32_t leaf, const Resources& used) const {
    const State& q = queues_[leaf];
    Resources limit;
    for (const size_t k : calculator_.kinds) {
      const int64_t base = std::max<int64_t>(q.guaranteed[k], 1), current = used[k] < base ? base : used[k] + 1;
      const int64_t active = int64_t(std::max<size_t>(1, q.active.size()));
      limit[k] = std::max((used[k] + active) / active, yarn_ceil(current, specs_[leaf].user_least));
      limit[k] = std::min(limit[k], user_most(leaf, k));
    }
    return limit;
  }
  int64_t user_most(uint32_t leaf, size_t k) const {
    const int64_t factor = specs_[leaf].user_factor;
    return factor < 0 ? queues_[leaf].most[k] : yarn_ceil(std::max<int64_t>(queues_[leaf].guaranteed[k], 1), factor);
  }
  /// Containers are handed out one by one, so the last one decides: before it the user is not above the limit of that moment.
  bool within_user_limit(const View& now, uint32_t leaf, JobId j, const Resources& wants) const {
    const State& q = queues_[leaf];
    const auto user = q.users.find(now.job(j).tenant);
    Resources before = wants, queue = q.used;
    before -= now.shape(j).groups.back().per_task;
    queue += before;
    if (user != q.users.end()) before += user->second;
    return under(before, Resources{}, user_limit(leaf, queue));
  }
  /// Whether the queue in an empty cluster could hold it.
  bool ever(const View& now, uint32_t leaf, JobId j) const {
    const Resources wants = asked(now, j);
    for (uint32_t q = leaf; q != kNone; q = specs_[q].parent)
      if (!under(wants, Resources{}, queues_[q].most)) return false;
    return std::all_of(calculator_.kinds.begin(), calculator_.kinds.end(),
                       [&](size_t k) { return wants[k] - now.shape(j).groups.back().per_task[k] <= user_most(leaf, k); });
  }
  static int64_t yarn_ceil(int64_t x, int64_t millionths) { return Ratio{millionths, 1'000'000}.times_up(x); }

  void allocate(const View& now, Plan& plan) {
    std::set<std::pair<uint32_t, ShapeId>> failed;
    for (;;) {
      const uint32_t leaf = next_leaf(failed);
      if (leaf == kNone) return grow(now, plan);
      State& q = queues_[leaf];
      const JobId j = q.waiting.first([&](ShapeId s) { return !failed.count({leaf, s}); });
      const Resources wants = asked(now, j);
      const bool allowed = headroom(leaf, wants) && within_user_limit(now, leaf, j, wants);
      const Pieces at = allowed ? placer_->find(now, plan, j) : Pieces{};
      if (at.empty()) {
        plan.reason(j, allowed ? placer_->why(now, plan, j) : Reason::quota);
        failed.insert({leaf, now.job(j).shape});
        continue;
      }
      plan.start(j, at);
      leave(now, j);
      account(now, plan, j);
    }
  }
  /// What nobody waits for goes to those that can use more tasks, one at a time, the oldest first; not while a request to give back is
  /// open.
  void grow(const View& now, Plan& plan) {
    for (uint32_t leaf = 0; leaf < queues_.size(); leaf++) {
      State& q = queues_[leaf];
      for (const JobId j : q.running) {
        const Shape& s = now.shape(j);
        while (!s.fixed && s.nodes == Nodes::any && now.state(j) == muster::State::running && !requested_.count(j)) {
          const Resources more = s.groups[0].per_task;
          if (!headroom(leaf, more) || !within_user_limit(now, leaf, j, more)) break;
          const std::vector<Piece> at = grown(now, plan, j);
          if (at.empty()) break;
          plan.resize(j, at);
          account(now, plan, j);
        }
      }
    }
  }
  /// Down from the root, each time to the child that has used the smallest part of its capacity and has somebody to try.
  uint32_t next_leaf(const std::set<std::pair<uint32_t, ShapeId>>& failed) const {
    std::vector<bool> open(specs_.size());
    for (uint32_t q = uint32_t(specs_.size()); q-- > 0;) {
      if (specs_[q].leaf) open[q] = queues_[q].waiting.first([&](ShapeId s) { return !failed.count({q, s}); }) != kNone;
      if (open[q] && specs_[q].parent != kNone) open[specs_[q].parent] = true;
    }
    uint32_t at = 0;
    if (!open[0]) return kNone;
    while (!specs_[at].leaf) {
      uint32_t best = kNone;
      for (uint32_t q = 0; q < specs_.size(); q++)
        if (specs_[q].parent == at && open[q] && (best == kNone || used_part(q) < used_part(best))) best = q;
      at = best;
    }
    return at;
  }
  /// Queues without a capacity come last.
  Ratio used_part(uint32_t q) const {
    const Resources none;
    if (!calculator_.less(cluster_, none, queues_[q].guaranteed)) return {std::numeric_limits<int64_t>::max(), 1};
    return calculator_.divide(cluster_, queues_[q].used, queues_[q].guaranteed);
  }

  // ---- the monitor
  /// Somebody is below its guarantee and waits, somebody else above: the monitor sleeps otherwise.
  bool owed(const Plan&) const {
    const Resources none;
    for (uint32_t q = 0; q < queues_.size(); q++) {
      if (!specs_[q].leaf || !calculator_.less(cluster_, none, queues_[q].pending)) continue;
      if (settings_.intra || settings_.balance || calculator_.less(cluster_, queues_[q].used, queues_[q].guaranteed)) return true;
    }
    return !requested_.empty();
  }
  void round(const View& now, Plan& plan) {
    std::vector<yarn::Queue> queues;
    std::vector<yarn::App> apps;
    std::vector<JobId> job_of;
    for (uint32_t q = 0; q < queues_.size(); q++) {
      yarn::Queue x;
      const State& s = queues_[q];
      x.parent = specs_[q].parent, x.leaf = specs_[q].leaf, x.off = specs_[q].off, x.am_millionths = specs_[q].am_millionths;
      x.guaranteed = s.guaranteed, x.most = s.most, x.used = s.used, x.pending = s.pending;
      if (x.leaf) x.user_limit = user_limit(q, s.used);
      for (const JobId j : s.running) {
        x.apps.push_back(uint32_t(apps.size()));
        apps.push_back(application(now, plan, j));
        job_of.push_back(j);
      }
      if (settings_.intra) add_waiting(now, s, x, apps, job_of);
      queues.push_back(std::move(x));
    }
    std::map<JobId, std::vector<uint32_t>> chosen;  // containers by application
    for (const yarn::Chosen& c : yarn::select_containers(queues, apps, calculator_, settings_))
      chosen[job_of[c.app]].push_back(c.container);
    for (auto& [j, containers] : chosen) {
      Request& r = requested_[j];
      const unsigned n = unsigned(containers.size());
      if (r.containers == 0) {
        r.since = now.now();
        plan.note("containers selected", {{"job", j}, {"containers", n}, {"queue", 0, specs_[queue_of_[now.job(j).queue]].path}});
      }
      if (n > r.containers) {
        const unsigned tasks = plan.tasks(j);
        plan.ask(j, tasks > n ? tasks - n : 0);
        plan.note("application notified", {{"job", j}, {"gives_back", n}});
      }
      r.containers = n, r.last = now.now();
    }
    for (auto r = requested_.begin(); r != requested_.end();) {
      const auto [j, request] = *r;
      ++r;  // a kill forgets the request
      if (request.last != now.now()) {
        if (now.now() - request.since > 2 * settings_.wait_before_kill) requested_.erase(j);  // no longer owed
      } else if (now.now() - request.since > settings_.wait_before_kill) {
        kill(now, plan, j, request.containers);
      }
    }
  }
  static void add_waiting(const View& now, const State& s, yarn::Queue& x, std::vector<yarn::App>& apps, std::vector<JobId>& job_of) {
    for (const auto& [shape, jobs] : s.waiting.by_shape())
      for (const ByShape::Key& k : jobs) {
        x.apps.push_back(uint32_t(apps.size()));
        yarn::App a;
        a.pending = asked(now, k.job), a.priority = k.priority, a.user = now.job(k.job).tenant;
        apps.push_back(std::move(a));
        job_of.push_back(k.job);
      }
  }
  yarn::App application(const View& now, const Plan& plan, JobId j) const {
    yarn::App a;
    a.priority = now.priority(j), a.user = now.job(j).tenant;
    const Shape& s = now.shape(j);
    for (const Piece& p : plan.at(j)) {
      Resources size = s.groups[p.group].per_task;
      if (s.nodes == Nodes::whole || p.tasks == 0) size[kGpu] = int64_t(p.gpus()) * kMilli;
      for (unsigned t = 0; t < std::max<unsigned>(1, p.tasks); t++) a.containers.push_back({size, false, false});
    }
    if (masters_ && !a.containers.empty()) a.containers[0].master = true;
    return a;
  }
  /// Takes the newest containers by force; what has to stay whole goes whole.
  void kill(const View& now, Plan& plan, JobId j, unsigned n) {
    const Shape& s = now.shape(j);
    const std::vector<Piece> keep = shrunk(plan.at(j), n);
    const std::vector<unsigned> tasks = tasks_by_group(s, keep);
    bool whole = keep.empty();
    for (size_t g = 0; g < s.groups.size(); g++) whole |= tasks[g] < s.groups[g].min_tasks;
    plan.note("containers killed", {{"job", j}, {"containers", whole ? plan.tasks(j) : n}});
    if (whole) {
      plan.preempt(j);
      account(now, plan, j);
      enter(now, j);
    } else {
      plan.resize(j, keep);
      account(now, plan, j);
      requested_.erase(j);
    }
  }

  struct Request {
    Time since = 0, last = 0;
    unsigned containers = 0;
  };
  std::vector<yarn::QueueSpec> specs_;
  yarn::Settings settings_;
  yarn::Calculator calculator_;
  std::unique_ptr<Placer> placer_;
  ByShape::Table table_;
  NotYet not_yet_;
  bool monitor_ = true, masters_ = false;
  Resources cluster_;
  std::vector<State> queues_;
  std::vector<uint32_t> queue_of_;
  std::vector<Resources> holds_;  // by job
  std::map<JobId, Request> requested_;
  Time next_round_ = kNever;
};

}  // namespace

std::vector<Parameter> yarn_capacity_parameters() {
  return {{"queues", "", "{\"root.NAME\": {capacity, maximum-capacity, user-limit-factor, ...}, ...}", {}},
          {"resources", "gpu", "what is counted; more than one: the dominant resource calculator", {}},
          {"application_masters", "false", "a job's first task is its master, which is spared", {"true", "false"}},
          {"preemption", "true", "the preemption monitor runs", {"true", "false"}},
          {"monitoring_interval", "3 s", "between two rounds of the monitor", {}},
          {"max_wait_before_kill", "15 s", "from the request to the kill", {}},
          {"total_preemption_per_round", "0.1", "part of the cluster", {}},
          {"max_ignored_over_capacity", "0.1", "dead zone above a queue's guarantee", {}},
          {"natural_termination_factor", "0.2", "part of what is owed that a round takes", {}},
          {"preemption_to_balance", "false", "also between queues above their guarantees", {"true", "false"}},
          {"intra_queue_preemption", "false", "also inside a queue", {"true", "false"}},
          {"minimum_threshold", "0.5", "least use of a queue for that", {}},
          {"max_allowable_limit", "0.2", "most of a queue's guarantee for that", {}},
          {"preemption_order_policy", "userlimit_first", "inside a queue", {"userlimit_first", "priority_first"}},
          slot_parameter("place", "pack", "which nodes a job gets", placers())};
}

std::unique_ptr<Policy> make_yarn_capacity(const PolicyInput& in) { return std::make_unique<YarnCapacity>(in); }

}  // namespace muster
