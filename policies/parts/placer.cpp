#include "parts/placer.hpp"

#include <algorithm>
#include <tuple>

namespace muster {

namespace {
/// The `k` lowest bits of `m`.
uint64_t lowest_bits(uint64_t m, unsigned k) {
  if (unsigned(std::popcount(m)) <= k) return m;
  uint64_t rest = m;
  while (k--) rest &= rest - 1;
  return m & ~rest;
}
}  // namespace

Placer::Placer(const Topology& t)
    : nodes_(t.nodes()), most_gpus_(t.most_gpus()), topology_(t), devices_(t, Devices::lowest), stamp_(t.nodes()), slot_(t.nodes()) {
  for (NodeId n = 0; n < nodes_; n++)
    if (n == 0 || t.kind_id(n) != t.kind_id(n - 1)) runs_.push_back(n);
}

const Placer::Ask& Placer::ask(const View& now, ShapeId id) {
  if (id >= asks_.size()) asks_.resize(std::max(now.shapes(), size_t(id) + 1));
  Ask& a = asks_[id];
  if (a.built) return a;
  const Shape& s = now.shape_of(id);
  a.built = true;
  for (const TaskGroup& g : s.groups) {
    TaskGroup& kind = a.kinds.emplace_back();
    kind.gpus = g.per_task[kGpu] ? 1 : 0;  // without a GPU the type would be nothing to it
    kind.gpu_types = g.gpu_types, kind.gpu_mem_mib = g.gpu_mem_mib;
    kind.driver = g.driver, kind.cuda = g.cuda, kind.labels = g.labels;
  }
  const bool aligned = s.numa != Numa::none && topology_.numa_level() > topology_.node_level() &&
                       std::any_of(s.groups.begin(), s.groups.end(), [](const TaskGroup& g) { return g.gpus > 1; });
  for (size_t i = 0; i < s.groups.size(); i++) {
    const TaskGroup& g = s.groups[i];
    Want& w = a.groups.emplace_back();
    w.gpus = g.gpus;
    w.nothing = g.gpus == 0 && g.per_task == Resources{};
    for (size_t k = 1; k < kMaxKinds; k++)
      if (g.per_task[k] && topology_.limits(k)) w.need[k] = g.per_task[k], w.amounts = true;
    if (g.gpu_milli()) w.need[kGpu] = g.gpu_milli(), w.amounts = true;
    const bool gpu_wishes = !g.gpu_types.empty() || g.gpu_mem_mib || !g.driver.empty() || !g.cuda.empty();
    if ((g.per_task[kGpu] && gpu_wishes) || !g.labels.empty()) w.typed.push_back(&a.kinds[i]);
    for (const bool most : {true, false}) {
      const uint32_t tasks = most ? g.max_tasks : g.min_tasks;
      Want& sum = most ? a.all : a.least;
      sum.gpus += tasks * w.gpus;
      const int64_t share = tasks ? std::max(sum.need[kGpu], w.need[kGpu]) : sum.need[kGpu];
      sum.need += w.need.times(tasks);
      sum.need[kGpu] = share;
      sum.amounts |= w.amounts && tasks;
      sum.nothing &= w.nothing || tasks == 0;
      if (tasks) sum.typed.insert(sum.typed.end(), w.typed.begin(), w.typed.end());
      if (tasks && aligned && g.gpus) sum.aligned.push_back({g.gpus, tasks});
    }
    if (aligned && g.gpus > 1) w.aligned.push_back({g.gpus, 1});
    a.limited |= w.amounts;
    a.typed |= !w.typed.empty();
  }
  if (s.nodes == Nodes::whole) a.all.gpus = a.least.gpus = s.total_gpus;
  if (!s.required_level.empty()) a.required = uint32_t(topology_.find_level(s.required_level));
  if (const size_t l = topology_.find_level(s.preferred_level); l < topology_.levels().size()) a.preferred = uint32_t(l);
  a.required = required_level(a.required, a.least.gpus), a.preferred = preferred_level(a.preferred);
  a.gpus = a.all.gpus, a.least_gpus = a.least.gpus;
  a.least_milli = int64_t{a.least_gpus} * kMilli;
  for (const TaskGroup& g : s.groups) a.least_milli += int64_t{g.gpu_milli()} * g.min_tasks;
  if (a.all.need[kGpu] && (s.groups.size() > 1 || s.groups[0].max_tasks > 1))
    for (const TaskGroup& g : s.groups) a.all.shares.push_back(&g), a.least.shares.push_back(&g);
  const TaskGroup& g = s.groups[0];
  a.simple = s.nodes != Nodes::whole && s.groups.size() == 1 && g.max_tasks == 1 && g.min_tasks == 1 && g.per_task[kGpu] > 0;
  return a;
}

Pieces Placer::find(const View& now, const Cluster& cluster, const NodeIndex& index, JobId j, Relax relax) {
  const ShapeId id = now.job(j).shape;
  const Ask& a = ask(now, id);
  cluster_ = &cluster;
  index_ = &index;
  if (index_->free_now_gpus() < int64_t(a.least_gpus)) return {};
  const Shape& s = now.shape_of(id);
  if (index_->free_now_gpus() >= int64_t(a.gpus) && place({now, j, s, a, true, relax})) return out_;
  if (!s.fixed && place({now, j, s, a, false, relax})) return out_;
  return {};
}

Reason Placer::why(const View& now, const Plan& plan, JobId j) {
  const Ask& a = ask(now, now.job(j).shape);
  if (plan.index().free_now_gpus() < int64_t(a.least_gpus) || plan.index().free_now_milli() < a.least_milli) return Reason::no_gpus;
  const Shape& s = now.shape(j);
  const bool aligned = !a.all.aligned.empty() && s.numa != Numa::best_effort;
  const bool wishes = a.limited || a.typed || s.apart || a.required != kNone || aligned;
  if (!wishes && s.groups.size() == 1) return Reason::fragmented;
  limit_ = false;
  if (find(now, plan, j, {kAllWishes, kAllKinds, true, true, true}).empty()) return limit_ ? Reason::search_limit : Reason::fragmented;
  if (a.required != kNone && find(now, plan, j, {kAllWishes, kAllKinds, false, true, true}).empty()) return Reason::level;
  if (aligned && find(now, plan, j, {kAllWishes, kAllKinds, true, true, false}).empty()) return Reason::numa;
  if (s.apart && find(now, plan, j, {kAllWishes, kAllKinds, true, false, true}).empty()) return Reason::apart;
  if (a.typed)
    for (const auto& [left_out, reason] : {std::pair{kWishDriver | kWishLabel, Reason::type}, {+kWishLabel, Reason::driver}, {0, Reason::label}})
      if (find(now, plan, j, {uint8_t(left_out), kAllKinds, true, true, true}).empty()) return reason;
  // When nothing alone prevents it: the first amount asked for, else the first wish.
  Reason first = a.required != kNone ? Reason::level : aligned ? Reason::numa : s.apart ? Reason::apart : Reason::type;
  for (size_t k = kMaxKinds - 1; k > 0; k--) {
    if (!a.all.need[k]) continue;
    const Reason r = k == kCpu ? Reason::cpu : k == kMem ? Reason::memory : Reason::resource;
    first = r;
  }
  for (size_t k = 1; k < kMaxKinds; k++)
    if (a.all.need[k] && find(now, plan, j, {kAllWishes, uint8_t(kAllKinds & ~(1u << k)), true, true, true}).empty())
      return k == kCpu ? Reason::cpu : k == kMem ? Reason::memory : Reason::resource;
  return first;
}

bool Placer::may_fit(const View& now, const Plan& plan, ShapeId id, std::span<const NodeId> gave_back, Relax relax) {
  const Ask& a = ask(now, id);
  const Shape& s = now.shape_of(id);
  cluster_ = &plan.cluster();
  index_ = &plan.index();
  if (index_->free_now_gpus() < int64_t(a.least_gpus)) return false;
  const bool one_node = s.nodes == Nodes::one || (s.nodes != Nodes::whole && s.groups.size() == 1 && s.groups[0].max_tasks == 1);
  if (!one_node || !s.fixed) return true;
  const Want& w = a.all;
  for (const NodeId n : gave_back) {
    if (n < index_->begin() || n >= index_->end() || cluster_->free_now_count(n) < w.gpus) continue;
    if (w.need[kGpu] && cluster_->longest_slice(n) < w.need[kGpu]) continue;
    bool room = suits(n, relaxed(w, relax));
    for (size_t k = 1; w.amounts && k < kMaxKinds; k++) room &= (relax.kinds >> k & 1) || w.need[k] <= cluster_->free_amount(n, k);
    if (room) return true;
  }
  return false;
}

bool Placer::suits(NodeId n, const Want& w) const {
  return std::all_of(w.typed.begin(), w.typed.end(), [&](const TaskGroup* g) { return muster::suits(topology_.kind(n), *g, w.wishes); });
}

/// First node after the run of `n` whose kind suits.
NodeId Placer::next_suited(NodeId n, const Want& w) const {
  for (auto run = std::upper_bound(runs_.begin(), runs_.end(), n); run != runs_.end(); ++run)
    if (suits(*run, w)) return *run;
  return kNone;
}

NodeId Placer::next(const Want& w, uint32_t count, NodeId from) const {
  from = std::max(from, lo_);
  while (from < hi_) {
    const NodeId n = w.amounts ? index_->first_with_room(count, w.need, from) : index_->with(count).next(from);
    if (n >= hi_) return kNone;
    if (!w.typed.empty() && !suits(n, w)) {
      from = next_suited(n, w);
      continue;
    }
    if (stamp_[n] != call_ && !(count == 0 && broken(n)) && !(apart_ && cluster_->tagged(apart_, n) != kNone) && (w.shares.empty() || packs(n, w, most_)) &&
        (w.aligned.empty() || !must_align_ || align_all(n, w, topology_.node_level(), 0)))
      return n;
    from = n + 1;
  }
  return kNone;
}

Placer::Spot Placer::lowest(const Want& w, NodeId from) const {
  Spot best;
  for (uint32_t c = index_->count_from(w.gpus); c != kNone; c = index_->count_from(c + 1))
    if (const NodeId n = next(w, c, from); n < best.node) best = {c, n};
  return best;
}

/// A node all of whose GPUs are broken has none free, but is no place for other work either.
bool Placer::broken(NodeId n) const {
  bool all = topology_.gpus_of(n) > 0;
  for (unsigned word = 0; all && word < cluster_->words(n); word++) all = cluster_->bad(n, word) == cluster_->all(n, word);
  return all;
}

/// Whether a node that the job does not use yet holds `w`.
bool Placer::holds(NodeId n, const Want& w) const {
  if (!cluster_->usable(n) || (apart_ && cluster_->tagged(apart_, n) != kNone)) return false;
  const unsigned free = cluster_->free_now_count(n);
  if (free < w.gpus || (w.need[kGpu] && !free && cluster_->longest_slice(n) < w.need[kGpu])) return false;
  for (size_t k = 1; w.amounts && k < kMaxKinds; k++)
    if (w.need[k] && w.need[k] > cluster_->free_amount(n, k)) return false;
  if (!w.typed.empty() && !suits(n, w)) return false;
  return !(free == 0 && broken(n)) && (w.shares.empty() || packs(n, w, most_)) &&
         (w.aligned.empty() || !must_align_ || align_all(n, w, topology_.node_level(), 0));
}

/// How many of `tasks` tasks find their GPUs aligned among `free`, inside a domain of the node, one after the other; those are taken.
uint32_t Placer::align(NodeId n, size_t level, uint32_t domain, std::span<uint64_t> free, uint32_t gpus, uint32_t tasks) const {
  one_.resize(free.size());
  uint32_t have = 0;
  while (have < tasks && devices_.pick_aligned(numa_ == Numa::single, level, domain, n, free, gpus, one_)) have++;
  return have;
}

/// Whether all tasks of `w` do.
bool Placer::align_all(NodeId n, const Want& w, size_t level, uint32_t domain) const {
  free_.clear();
  for (unsigned word = 0; word < cluster_->words(n); word++) free_.push_back(cluster_->free_now(n, word));
  return std::all_of(w.aligned.begin(), w.aligned.end(), [&](const Want::Aligned& g) { return align(n, level, domain, free_, g.gpus, g.tasks) == g.tasks; });
}

/// Tasks of `w` that the rest of the node holds.
uint64_t Placer::fits(const Used& u, const Want& w) const {
  uint64_t n = u.slots;
  if (w.gpus) n = std::min<uint64_t>(n, u.gpus / w.gpus);
  if (const uint32_t milli = uint32_t(w.need[kGpu])) {
    uint64_t shares = uint64_t{u.gpus} * (kMilli / milli);
    for (uint32_t i = u.slices; i != kNone; i = slices_[i].next) shares += uint32_t(slices_[i].left) / milli;
    n = std::min(n, shares);
  }
  if (w.amounts)
    for (size_t k = 1; k < kMaxKinds; k++)
      if (w.need[k]) n = std::min(n, u.left[k] > 0 ? uint64_t(u.left[k] / w.need[k]) : 0);
  if (must_align_ && !w.aligned.empty()) {
    const auto from = masks_.begin() + ptrdiff_t(u.mask);
    free_.assign(from, from + ptrdiff_t(cluster_->words(u.node)));
    n = align(u.node, topology_.node_level(), 0, free_, w.gpus, uint32_t(n));
  }
  return n;
}

uint32_t Placer::use(NodeId n, uint32_t free) {
  stamp_[n] = call_;
  slot_[n] = uint32_t(used_.size());
  Used& u = used_.emplace_back();
  u.node = n, u.gpus = free, u.slots = kTasksOfPiece;
  for (size_t k = 1; k < kMaxKinds; k++) u.left[k] = cluster_->free_amount(n, k);
  if (must_align_) {
    u.mask = masks_.size();
    for (unsigned word = 0; word < cluster_->words(n); word++) masks_.push_back(cluster_->free_now(n, word));
  }
  for (unsigned word = 0; word < cluster_->words(n); word++)
    for (uint64_t m = cluster_->sliced(n, word); m; m &= m - 1) {
      const unsigned gpu = word * 64 + unsigned(std::countr_zero(m));
      slices_.push_back({gpu, u.slices, cluster_->slice_left(n, gpu)});
      u.slices = uint32_t(slices_.size() - 1);
    }
  return slot_[n];
}

/// The GPU of the node that has the least left of those that hold the share; a free one is the last choice.
uint32_t Placer::best_gpu(NodeId n, uint32_t milli) const {
  uint32_t best = kNone;
  int32_t least = kMilli;
  for (unsigned word = 0; word < cluster_->words(n); word++)
    for (uint64_t m = cluster_->sliced(n, word); m; m &= m - 1) {
      const unsigned gpu = word * 64 + unsigned(std::countr_zero(m));
      const int32_t left = cluster_->slice_left(n, gpu);
      if (left >= int32_t(milli) && left < least) best = gpu, least = left;
    }
  for (unsigned word = 0; best == kNone && word < cluster_->words(n); word++)
    if (const uint64_t free = cluster_->free_now(n, word)) best = word * 64 + unsigned(std::countr_zero(free));
  return best;
}

/// The same on a node that the job uses already.
uint32_t Placer::slice_for(const Used& u, uint32_t milli) {
  uint32_t best = kNone;
  for (uint32_t i = u.slices; i != kNone; i = slices_[i].next) {
    const Slice& s = slices_[i];
    if (s.left < int32_t(milli)) continue;
    if (best == kNone || s.left < slices_[best].left || (s.left == slices_[best].left && s.gpu < slices_[best].gpu)) best = i;
  }
  return best;
}

/// The lowest free GPU that the job has not taken: it takes them in order.
uint32_t Placer::free_gpu(const Used& u) const {
  unsigned taken = cluster_->free_now_count(u.node) - u.gpus, word = 0;
  for (; taken >= unsigned(std::popcount(cluster_->free_now(u.node, word))); word++)
    taken -= unsigned(std::popcount(cluster_->free_now(u.node, word)));
  uint64_t free = cluster_->free_now(u.node, word);
  while (taken--) free &= free - 1;
  return word * 64 + unsigned(std::countr_zero(free));
}

uint32_t Placer::take_share(Used& u, uint32_t milli) {
  uint32_t best = slice_for(u, milli);
  if (best == kNone) {
    slices_.push_back({free_gpu(u), u.slices, kMilli});
    best = u.slices = uint32_t(slices_.size() - 1);
    u.gpus--;
  }
  slices_[best].left -= int32_t(milli);
  return slices_[best].gpu;
}

/// Whether the shares of all groups find room on the node side by side, group by group as they would be placed.
bool Placer::packs(NodeId n, const Want& w, bool most) const {
  uint32_t free = cluster_->free_now_count(n);
  lefts_.clear();
  for (unsigned word = 0; word < cluster_->words(n); word++)
    for (uint64_t m = cluster_->sliced(n, word); m; m &= m - 1) lefts_.push_back(cluster_->slice_left(n, word * 64 + unsigned(std::countr_zero(m))));
  for (const TaskGroup* g : w.shares) {
    const uint32_t tasks = most ? g->max_tasks : g->min_tasks;
    const auto milli = int32_t(g->gpu_milli());
    if (uint64_t{tasks} * g->gpus > free) return false;
    free -= tasks * g->gpus;
    for (uint32_t t = 0; milli && t < tasks; t++) {
      int32_t* best = nullptr;
      for (int32_t& left : lefts_)
        if (left >= milli && (!best || left < *best)) best = &left;
      if (!best) {
        if (free-- == 0) return false;
        best = &lefts_.emplace_back(kMilli);
      }
      *best -= milli;
    }
  }
  return true;
}

Placer::Want Placer::relaxed(const Want& w, Relax r) const {
  Want x = w;
  x.wishes &= uint8_t(~r.wishes);
  if (!x.wishes) x.typed.clear();
  if (r.numa) x.aligned.clear();
  x.amounts = x.need[kGpu] != 0;  // a share is no wish that could be left out
  for (size_t k = 1; k < kMaxKinds; k++) {
    if (r.kinds >> k & 1) x.need[k] = 0;
    x.amounts |= x.need[k] != 0;
  }
  return x;
}

/// On nodes lo_ to hi_; `one_node`: all tasks on one of them, whatever the job allows.
bool Placer::place_within(const Request& t, bool one_node) {
  const Ask& a = t.ask;
  const Shape& s = t.shape;
  const bool strict = t.relax.none();
  call_++;
  used_.clear();
  slices_.clear();
  masks_.clear();
  most_ = t.most;
  chosen_.clear();
  out_.clear();
  if (strict && chooses() && s.nodes != Nodes::whole) {
    if (!choose(t.now, t.job, t.now.job(t.job).shape, s, a, t.most, one_node)) return !one_node && search(t);
    emit();
    return true;
  }
  draw(t.now, t.job, 0);
  if (a.simple && (!a.limited || strict)) {  // the common case: one task on one node
    const Want* w = &a.groups[0];
    if (!strict) w = &(relaxed_ = relaxed(*w, t.relax));
    const Spot at = seek(*w, begin(*w));
    if (at.node == kNone) return false;
    if (const auto milli = uint32_t(w->need[kGpu])) {
      out_.push_back(Piece::part(Share::slice, at.node, best_gpu(at.node, milli), 0, milli, 0));
      return true;
    }
    if (cluster_->words(at.node) == 1 && devices_.how() == Devices::lowest && numa_ == Numa::none) {
      out_.push_back(Piece::whole(at.node, 1, lowest_bits(cluster_->free_now(at.node), w->gpus)));
      return true;
    }
    chosen_.push_back({at.node, 0, 1, w->gpus});
    emit();
    return true;
  }
  if (s.nodes == Nodes::whole) {
    const Want w = relaxed(a.groups[0], t.relax);
    if (!place_whole(s, w)) return false;
  } else if (s.nodes == Nodes::one || one_node) {
    const Want w = relaxed(t.sum(), t.relax);
    const Spot at = w.nothing ? lowest(w, 0) : seek(w, begin(w));
    return at.node != kNone && place_one(t, at.node);
  } else {
    for (uint32_t i = 0; i < s.groups.size(); i++) {
      const TaskGroup& g = s.groups[i];
      const Want w = relaxed(a.groups[i], t.relax);
      if (!place_group(t.now, t.job, g, i, w, t.most ? g.max_tasks : g.min_tasks, s.nodes == Nodes::each)) return search(t);
    }
  }
  emit();
  return true;
}

/// All tasks on node `n`, which holds them.
bool Placer::place_one(const Request& t, NodeId n) {
  if (!put_all(n, t.shape, t.most, t.sum().need[kGpu] != 0)) return false;
  emit();
  return true;
}

/// All tasks on one node that holds them.
bool Placer::put_all(NodeId n, const Shape& s, bool most, bool shares) {
  const uint32_t u = shares ? use(n, cluster_->free_now_count(n)) : kNone;
  for (uint32_t i = 0; i < s.groups.size(); i++) {
    const TaskGroup& g = s.groups[i];
    const uint32_t tasks = most ? g.max_tasks : g.min_tasks;
    if (tasks > kTasksOfPiece) return false;
    if (!tasks) continue;
    if (g.gpu_milli()) {
      choose_shares(used_[u], i, g.gpu_milli(), tasks);
    } else {
      if (u != kNone) used_[u].gpus -= tasks * g.gpus;
      chosen_.push_back({n, i, tasks, tasks * g.gpus});
    }
  }
  return true;
}

/// Tasks of a group on a used node.
void Placer::take(uint32_t u, uint32_t group, const TaskGroup& g, const Want& w, uint32_t tasks) {
  Used& x = used_[u];
  x.gpus -= tasks * w.gpus, x.slots -= tasks;
  if (must_align_ && w.gpus) align(x.node, topology_.node_level(), 0, std::span(masks_).subspan(x.mask, cluster_->words(x.node)), w.gpus, tasks);
  for (size_t k = 1; k < kMaxKinds; k++) x.left[k] -= tasks * w.need[k];
  if (g.gpu_milli()) choose_shares(x, group, g.gpu_milli(), tasks);
  else chosen_.push_back({x.node, group, tasks, tasks * g.gpus});
}

bool Placer::place_group(const View& now, JobId j, const TaskGroup& g, uint32_t group, const Want& w, uint32_t tasks, bool each) {
  if (tasks == 0) return true;
  if (w.nothing && each) {
    for (NodeId from = 0; tasks; tasks--) {
      const Spot at = lowest(w, from);
      if (at.node == kNone) return false;
      from = at.node + 1;
      use(at.node, at.count);
      chosen_.push_back({at.node, group, 1, 0});
    }
    return true;
  }
  if (w.nothing) {
    if (tasks > kTasksOfPiece) return false;
    const Spot at = lowest(w, 0);
    const NodeId n =
        used_.empty() ? at.node : std::min(at.node, std::min_element(used_.begin(), used_.end(), [](const Used& a, const Used& b) {
                                                      return a.node < b.node;
                                                    })->node);
    if (n == kNone) return false;
    chosen_.push_back({n, group, tasks, 0});
    return true;
  }
  const auto wait = [&](uint32_t u) {
    if (each || fits(used_[u], w) == 0 || (!w.typed.empty() && !suits(used_[u].node, w))) return;
    heap_.push_back({rank({used_[u].gpus, used_[u].node}), u});
    std::push_heap(heap_.begin(), heap_.end());
  };
  const auto restart = [&] {
    heap_.clear();
    for (uint32_t u = 0; u < used_.size(); u++) wait(u);
    return seek(w, begin(w));
  };
  for (Used& u : used_) u.slots = kTasksOfPiece;
  Spot fresh = restart();
  while (tasks) {
    uint32_t u;
    if (!heap_.empty() && (fresh.node == kNone || heap_[0].rank < rank(fresh))) {
      u = heap_[0].used;
      std::pop_heap(heap_.begin(), heap_.end());
      heap_.pop_back();
    } else {
      if (fresh.node == kNone) return false;
      u = use(fresh.node, fresh.count);
      fresh = seek(w, after(fresh));
    }
    const uint32_t here = each || !stays() ? 1 : uint32_t(std::min<uint64_t>(tasks, fits(used_[u], w)));
    take(u, group, g, w, here);
    tasks -= here;
    if (draw(now, j, tasks)) fresh = restart();
    else wait(u);
  }
  return true;
}

bool Placer::place_whole(const Shape& s, const Want& w) {
  uint32_t left = s.total_gpus;
  if (index_->whole_gpus() < int64_t(left)) return false;
  for (NodeId n = index_->whole().next(lo_); left && n < hi_; n = index_->whole().next(n + 1)) {
    if (apart_ && cluster_->tagged(apart_, n) != kNone) continue;
    if (!w.typed.empty() && !suits(n, w)) {
      if ((n = next_suited(n, w)) == kNone) break;
      n--;
      continue;
    }
    bool room = true;
    for (size_t k = 1; w.amounts && k < kMaxKinds; k++) room &= w.need[k] <= cluster_->free_amount(n, k);
    if (!room) continue;
    const uint32_t here = std::min(left, topology_.gpus_of(n));
    Want part;
    part.aligned = {{here, 1}};
    if (must_align_ && !align_all(n, part, topology_.node_level(), 0)) continue;
    chosen_.push_back({n, 0, 1, here});
    left -= here;
  }
  return left == 0;
}

/// Turns chosen_ into pieces in tree order; which free GPUs of a node is said by devices_.
void Placer::emit() {
  if (chosen_.size() > 1) {
    std::sort(chosen_.begin(), chosen_.end(),
              [](const Chosen& a, const Chosen& b) {
                return std::tie(a.node, a.group, a.gpu) < std::tie(b.node, b.group, b.gpu);
              });
    size_t last = 0;
    for (size_t i = 1; i < chosen_.size(); i++) {
      if (chosen_[i].node == chosen_[last].node && chosen_[i].group == chosen_[last].group && chosen_[i].gpu == kNone)
        chosen_[last].tasks += chosen_[i].tasks, chosen_[last].gpus += chosen_[i].gpus;
      else chosen_[++last] = chosen_[i];
    }
    chosen_.resize(last + 1);
  }
  NodeId node = kNone;
  for (const Chosen& c : chosen_) {
    if (c.node != node) {
      node = c.node;
      mask_.clear();
      for (unsigned w = 0; w < cluster_->words(node); w++) mask_.push_back(cluster_->free_now(node, w));
    }
    const uint8_t group = uint8_t(c.group);
    if (c.gpu != kNone) {
      mask_[c.gpu / 64] &= ~(uint64_t{1} << (c.gpu & 63));
      out_.push_back(Piece::part(Share::slice, node, c.gpu, 0, c.milli, 0, group));
      continue;
    }
    unsigned tasks = c.tasks;
    if (c.gpus) {
      picked_.resize(mask_.size());
      const size_t level = inside_ != kNone ? inside_level_ : topology_.node_level();
      const uint32_t domain = inside_ != kNone ? inside_ : 0;
      if (numa_ == Numa::none) {
        devices_.pick_inside(level, domain, node, mask_, c.gpus, picked_);
      } else {
        std::fill(picked_.begin(), picked_.end(), 0);
        one_.resize(mask_.size());
        for (uint32_t each = c.gpus / tasks, i = 0; i < tasks; i++) {
          if (!devices_.pick_aligned(numa_ == Numa::single, level, domain, node, mask_, each, one_)) devices_.pick_inside(level, domain, node, mask_, each, one_);
          for (size_t w = 0; w < one_.size(); w++) picked_[w] |= one_[w];
        }
      }
      for (unsigned w = 0; w < mask_.size(); w++) {
        if (!picked_[w]) continue;
        out_.push_back(Piece::whole(node, uint16_t(tasks), picked_[w], uint8_t(w), group));
        tasks = 0;
      }
    }
    if (tasks) out_.push_back(Piece::whole(node, uint16_t(tasks), 0, 0, group));
  }
}

}  // namespace muster
