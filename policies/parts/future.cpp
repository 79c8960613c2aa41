#include "parts/future.hpp"

namespace muster {

namespace {
constexpr JobId kNobody = kNone - 1;  // holds what is kept free for others

/// The `k` highest bits of `m`.
uint64_t highest_bits(uint64_t m, unsigned k) {
  uint64_t high = 0;
  for (; k && m; k--) {
    const uint64_t bit = uint64_t{1} << (std::bit_width(m) - 1);
    high |= bit;
    m &= ~bit;
  }
  return high;
}
}  // namespace

void leave_only(Cluster& cluster, NodeId n, const Resources& least) {
  static const Shape nothing = [] {
    Shape s;
    s.groups.resize(1);
    return s;
  }();
  bool some = false;
  Resources others;
  for (size_t k = 1; k < kMaxKinds; k++)
    if (cluster.topology().limits(k)) {
      others[k] = std::max<int64_t>(0, cluster.free_amount(n, k) - std::max<int64_t>(0, least[k]));
      some |= others[k] > 0;
    }
  if (some) {
    Shape filler = nothing;
    filler.groups[0].per_task = others;
    cluster.take(kNobody, filler, Piece::whole(n, 1, 0));
  }
  auto keep = unsigned(std::max<int64_t>(0, int64_t(cluster.free_now_count(n)) - std::max<int64_t>(0, least[kGpu] / kMilli)));
  for (unsigned w = cluster.words(n); keep && w-- > 0;) {
    const uint64_t m = highest_bits(cluster.free_now(n, w), keep);
    keep -= unsigned(std::popcount(m));
    if (m) cluster.take(kNobody, nothing, Piece::whole(n, 0, m, uint8_t(w)));
  }
}

Future::Future(const Topology& t, Placer& placer, Reading reading, size_t jobs)
    : topology_(t), placer_(placer), reading_(reading), stays_(jobs), cluster_(t) {}

const Future::Ask& Future::ask(const View& now, ShapeId id) {
  if (id >= asks_.size()) asks_.resize(std::max(now.shapes(), size_t(id) + 1));
  Ask& a = asks_[id];
  if (a.built) return a;
  a.built = true;
  const Shape& s = now.shape_of(id);
  a.one_node = s.fixed && (s.nodes == Nodes::one || (s.nodes != Nodes::whole && s.groups.size() == 1 && s.groups[0].max_tasks == 1));
  if (reading_ == Reading::counts) {
    a.one_node = true;
    a.least[kGpu] = int64_t(s.total_gpus) * kMilli;
    return a;
  }
  if (!a.one_node) return a;
  for (const TaskGroup& g : s.groups) {
    Resources task = g.per_task;
    task[kGpu] = int64_t(g.gpus) * kMilli;
    a.least += task.times(g.max_tasks);
  }
  for (size_t k = 1; k < kMaxKinds; k++)
    if (!topology_.limits(k)) a.least[k] = 0;
  return a;
}

Resources Future::amount(const Shape& s, const Piece& p) const {
  Resources r;
  if (p.tasks) r = s.groups[p.group].per_task.times(p.tasks);
  for (size_t k = 1; k < kMaxKinds; k++)
    if (!topology_.limits(k)) r[k] = 0;
  r[kGpu] = int64_t(std::popcount(p.mask())) * kMilli;
  return r;
}

template <class F> void Future::each_amount(const View& now, JobId j, Pieces at, F f) {
  const Shape& s = now.shape(j);
  for (const Piece& p : at) {
    const Resources r = amount(s, p);
    if (reading_ == Reading::devices) {
      f(p.node, r);
    } else {
      Resources gpus;
      gpus[kGpu] = r[kGpu];
      f(0, gpus);
    }
  }
}

void Future::build(const View& now, const Plan& plan) {
  begin_ = plan.index().begin(), end_ = plan.index().end();
  part_ = begin_ != 0 || end_ != topology_.nodes();
  if (part_ && !built_) cluster_.add_part(begin_, end_);
  built_ = true;
  reserved_.clear();
  profiles_.resize(reading_ == Reading::counts ? 1 : topology_.nodes());
  Resources all;
  for (NodeId n = begin_; n < end_; n++) {
    Resources free;
    const bool usable = plan.cluster().usable(n);
    free[kGpu] = usable ? int64_t(plan.cluster().free_now_count(n)) * kMilli : 0;
    all[kGpu] += free[kGpu];
    for (size_t k = 1; k < kMaxKinds; k++) free[k] = usable && topology_.limits(k) ? plan.cluster().free_amount(n, k) : 0;
    if (reading_ == Reading::devices) profiles_[n].reset(now.now(), free);
  }
  if (reading_ == Reading::counts) profiles_[0].reset(now.now(), all);
  for (JobId j = plan.placed().first(); j != kNone; j = plan.placed().next(j + 1)) {
    const Pieces at = plan.at(j);
    each_amount(now, j, at, [&](uint32_t n, const Resources& r) { profiles_[n].add(stays_[j].end, kNever, r); });
  }
}

bool Future::begin(const View& now, const Plan& plan, bool lost_track) {
  bool somebody = false;
  while (!ends_.empty() && ends_.begin()->first <= now.now()) {
    const JobId j = ends_.begin()->second;
    ends_.erase(ends_.begin());
    Stay& s = stays_[j];
    somebody = true;
    const Time before = s.end;
    s.end = outlived(s.since, s.believed, now.now());
    if (s.end != kNever) ends_.insert({s.end, j});
    if (built_ && !lost_track)
      each_amount(now, j, plan.at(j), [&](uint32_t n, const Resources& r) { profiles_[n].take(before, s.end, r); });
  }
  if (!built_ || lost_track) build(now, plan);
  return somebody;
}

void Future::started(const View& now, const Plan& plan, JobId j, Duration d) {
  Stay& s = stays_[j];
  s.here = true;
  s.since = now.now(), s.believed = d, s.end = later(s.since, d);
  if (s.end != kNever) ends_.insert({s.end, j});
  each_amount(now, j, plan.at(j), [&](uint32_t n, const Resources& r) { profiles_[n].take(now.now(), s.end, r); });
}

bool Future::left(const View& now, JobId j, Pieces at) {
  Stay& s = stays_[j];
  if (!s.here) return false;
  s.here = false;
  if (s.end != kNever) ends_.erase({s.end, j});
  if (built_ && s.end > now.now()) each_amount(now, j, at, [&](uint32_t n, const Resources& r) { profiles_[n].add(now.now(), s.end, r); });
  return s.end > now.now();
}

/// Makes the cluster what it is at `from` with all that is reserved before `to` taken.
void Future::show(const Plan& plan, Time from, Time to, Time now) {
  for (NodeId n = begin_; n < end_; n++) {
    const Cluster& real = plan.cluster();
    profiles_[n].trim(now);
    cluster_.copy(n, real, from == now);
    if (!real.usable(n)) continue;
    leave_only(cluster_, n, profiles_[n].least(from, to));
  }
}

Pieces Future::fits_now(const View& now, const Plan& plan, JobId j, Duration d) {
  if (reading_ == Reading::counts) {
    profiles_[0].trim(now.now());
    const Resources least = profiles_[0].least(now.now(), later(now.now(), d));
    if (!reserved_.empty() && !Profile::enough(least, ask(now, now.job(j).shape).least)) return {};
    return placer_.find(now, plan, j);
  }
  const Pieces at = placer_.find(now, plan, j);
  if (at.empty() || reserved_.empty()) return at;
  show(plan, now.now(), later(now.now(), d), now.now());
  return placer_.find(now, cluster_, index(), j, {});
}

Future::Slot Future::earliest(const View& now, const Plan& plan, JobId j, Duration d) {
  Slot slot;
  const Ask& a = ask(now, now.job(j).shape);
  times_.clear();
  if (reading_ == Reading::counts) {
    profiles_[0].trim(now.now());
    slot.at = profiles_[0].earliest(d, a.least);
    return slot;
  }
  const Shape& s = now.shape(j);
  Time first = kNever;  // before it numbers alone forbid it
  for (NodeId n = begin_; n < end_; n++) {
    profiles_[n].trim(now.now());
    if (!plan.cluster().usable(n)) continue;
    bool suits = true;
    for (const TaskGroup& g : s.groups) suits &= !a.one_node || plan.cluster().suits(n, g);
    if (suits) first = std::min(first, a.one_node ? profiles_[n].earliest(d, a.least) : now.now());
  }
  const auto fits = [&](Time t) {
    show(plan, t, later(t, d), now.now());
    const Pieces at = placer_.find(now, cluster_, index(), j, {});
    if (at.empty()) return false;
    slot.at = t;
    slot.pieces.assign(at.begin(), at.end());
    return true;
  };
  if (first == kNever || (first > now.now() && fits(first))) return slot;
  for (NodeId n = begin_; n < end_; n++)
    profiles_[n].each_time([&](Time t) {
      if (t > std::max(first, now.now()) && t != kNever) times_.push_back(t);
    });
  std::sort(times_.begin(), times_.end());
  times_.erase(std::unique(times_.begin(), times_.end()), times_.end());
  std::find_if(times_.begin(), times_.end(), fits);
  return slot;
}

bool Future::holds(const View& now, JobId j, const Slot& s, Duration d) const {
  if (reading_ == Reading::counts) return false;
  std::vector<std::pair<NodeId, Resources>> need;
  for (const Piece& p : s.pieces) {
    if (need.empty() || need.back().first != p.node) need.push_back({p.node, {}});
    need.back().second += amount(now.shape(j), p);
  }
  return std::all_of(need.begin(), need.end(), [&](const auto& x) {
    return cluster_.usable(x.first) && Profile::enough(profiles_[x.first].least(s.at, later(s.at, d)), x.second);
  });
}

Pieces Future::take_up(const View& now, const Plan& plan, JobId j, const Slot& s) {
  pieces_.clear();
  Resources left;
  NodeId node = kNone;
  std::vector<uint64_t> free;
  for (Piece p : s.pieces) {
    if (p.share != Share::whole || !plan.cluster().usable(p.node)) return {};
    if (p.node != node) {
      node = p.node;
      free.clear();
      for (unsigned w = 0; w < plan.cluster().words(node); w++) free.push_back(plan.cluster().free_now(node, w));
      for (size_t k = 1; k < kMaxKinds; k++) left[k] = plan.cluster().free_amount(node, k);
    }
    const Resources need = amount(now.shape(j), p);
    for (size_t k = 1; k < kMaxKinds; k++)
      if ((left[k] -= need[k]) < 0 && need[k]) return {};
    const auto want = unsigned(std::popcount(p.what));
    uint64_t rest = free[p.word];
    for (unsigned i = 0; i < want; i++) rest &= rest - 1;
    p.what = free[p.word] & ~rest;
    if (unsigned(std::popcount(p.what)) < want) return {};
    free[p.word] = rest;
    pieces_.push_back(p);
  }
  return pieces_;
}

void Future::reserve(const View& now, JobId j, const Slot& s, Duration d) {
  if (s.at == kNever) return;
  const Time to = later(s.at, d);
  if (reading_ == Reading::counts) {
    const Resources r = ask(now, now.job(j).shape).least;
    profiles_[0].take(s.at, to, r);
    reserved_.push_back({0, s.at, to, r});
    return;
  }
  each_amount(now, j, s.pieces, [&](uint32_t n, const Resources& r) {
    profiles_[n].take(s.at, to, r);
    reserved_.push_back({n, s.at, to, r});
  });
}

void Future::drop_reservations() {
  for (const Reserved& r : reserved_) profiles_[r.node].add(r.from, r.to, r.amount);
  reserved_.clear();
}

}  // namespace muster
