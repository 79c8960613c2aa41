// Waiting jobs by what they ask for.
#pragma once
#include <algorithm>

#include "muster/id_set.hpp"
#include "muster/policy.hpp"

namespace muster {

/// Whether two shapes want the same GPUs in the same way.
bool same_gpus(const Shape& a, const Shape& b);

/// Jobs in order of (key, id) inside shapes, shapes inside groups. Jobs of one shape fit or fail together; shapes of one group ask for the
/// same GPUs in the same way and differ in CPU, memory and the like alone, so that what fails for want of GPUs fails for the whole group.
/// Within a pass room only shrinks: what failed need not be looked at again, however long its queue is.
/// A Key has < and ==; Key::nobody(), or for numbers the largest, is greater than every key of a job.
template <class Key> class ShapeGroupsBy {
 public:
  explicit ShapeGroupsBy(size_t jobs) : members_(jobs ? jobs : 1), keys_(jobs) {}
  bool contains(JobId j) const { return members_.contains(j); }
  /// Puts `j` in, or changes its key.
  void insert(const View& now, JobId j, Key key) { insert(now, j, now.job(j).shape, key); }
  void erase(const View& now, JobId j) { erase(j, now.job(j).shape); }
  /// The same for members that are no jobs: users, say, whose first job has shape `s`.
  void insert(const View& now, uint32_t member, ShapeId s, Key key);
  void erase(uint32_t member, ShapeId s);
  /// Room may have grown: what failed may be tried again, where `again(shape, why, whole group)` says so.
  template <class F> void forget_failures(F again) {
    for (Group& g : groups_)
      if (g.failed && again(g.example, g.why, true)) g.failed = false;
    size_t kept = 0;
    for (const ShapeId s : parked_) {
      if (groups_[lines_[s].group].failed || (members_of(s) && !again(s, lines_[s].failed, false))) parked_[kept++] = s;
      else lines_[s].parked = false, lines_[s].retry = true, retried_.push_back(s), show(s);
    }
    parked_.resize(kept);
  }
  /// First job in order (key, id) of all shapes that have not failed, or kNone.
  JobId first() const;
  /// The shape of `j` failed for `why`; `group`: for want of GPUs, and so did all that ask for the same.
  void fail(const View& now, JobId j, Reason why, bool group) { fail(now.job(j).shape, why, group); }
  void fail(ShapeId s, Reason why, bool group);
  /// Why the shape of `j` had failed before room grew for it; none when it had not, or when a pass has ended since.
  Reason failed_before(const View& now, JobId j) const { return failed_before(now.job(j).shape); }
  Reason failed_before(ShapeId s) const {
    const Line& l = lines_[s];
    return l.retry ? l.failed : Reason::none;
  }
  /// First job in order of those that ask for the same GPUs as shape `s`, whether they have failed or not; kNone: none waits.
  JobId first_like(ShapeId s) const;
  /// `j` has just come and may be served where those before it were not: if it is first now, what failed is no matter.
  void try_again(const View& now, JobId j);
  void end_pass() {
    for (const ShapeId s : retried_) lines_[s].retry = false;
    retried_.clear();
  }
  /// Why the shape of `j` failed last; none when it has not.
  Reason failed(const View& now, JobId j) const { return failed(now.job(j).shape); }
  Reason failed(ShapeId s) const;

 private:
  struct Entry {
    Key key;
    JobId job;
    bool operator<(const Entry& o) const { return key == o.key ? job < o.job : key < o.key; }
  };
  struct Line {  // a shape's queue: a heap whose entries may be out of date
    uint32_t group = kNone, leaf = 0;
    Reason failed = Reason::none;
    bool parked = false;
    bool retry = false;  // it had failed before this pass
    size_t members = 0;
    std::vector<Entry> heap;
  };
  struct Group {
    ShapeId example = 0;
    bool failed = false;
    Reason why = Reason::none;
    std::vector<ShapeId> shapes;  // by leaf
    std::vector<Entry> heads;     // tournament: leaves from the middle on, entry 1 is the first of all
  };
  static constexpr Key nobody() {
    if constexpr (requires { Key::nobody(); }) return Key::nobody();
    else return std::numeric_limits<Key>::max();
  }
  static constexpr Entry kNobody{nobody(), kNone};
  static bool later(const Entry& a, const Entry& b) { return b < a; }
  bool current(const Entry& e) const { return members_.contains(e.job) && keys_[e.job] == e.key; }
  Line& line(const View& now, ShapeId s);
  bool members_of(ShapeId s) const { return !lines_[s].heap.empty(); }
  void show(ShapeId s);
  static void set_head(Group& g, uint32_t leaf, Entry e);
  IdSet members_;
  std::vector<Key> keys_;
  std::vector<Line> lines_;  // by shape
  std::vector<Group> groups_;
  std::vector<ShapeId> parked_, retried_;
};

using ShapeGroups = ShapeGroupsBy<int64_t>;

template <class Key> auto ShapeGroupsBy<Key>::line(const View& now, ShapeId s) -> Line& {
  if (s >= lines_.size()) lines_.resize(std::max(now.shapes(), size_t(s) + 1));
  Line& l = lines_[s];
  if (l.group != kNone) return l;
  const Shape& shape = now.shape_of(s);
  l.group =
      uint32_t(std::find_if(groups_.begin(), groups_.end(), [&](const Group& g) { return same_gpus(now.shape_of(g.example), shape); }) -
               groups_.begin());
  if (l.group == groups_.size()) groups_.emplace_back().example = s;
  Group& g = groups_[l.group];
  l.leaf = uint32_t(g.shapes.size());
  g.shapes.push_back(s);
  const size_t leaves = g.heads.size() / 2;
  if (l.leaf >= leaves) {
    const size_t more = std::max<size_t>(1, leaves * 2);
    std::vector<Entry> heads(2 * more, kNobody);
    g.heads.swap(heads);
    for (uint32_t i = 0; i < leaves; i++) set_head(g, i, heads[leaves + i]);
  }
  return l;
}

template <class Key> void ShapeGroupsBy<Key>::set_head(Group& g, uint32_t leaf, Entry e) {
  size_t i = g.heads.size() / 2 + leaf;
  g.heads[i] = e;
  for (i >>= 1; i > 0; i >>= 1) g.heads[i] = std::min(g.heads[2 * i], g.heads[2 * i + 1]);
}

/// Brings the shape's first job to light.
template <class Key> void ShapeGroupsBy<Key>::show(ShapeId s) {
  Line& l = lines_[s];
  while (!l.heap.empty() && !current(l.heap[0])) {
    std::pop_heap(l.heap.begin(), l.heap.end(), later);
    l.heap.pop_back();
  }
  if (!l.parked) set_head(groups_[l.group], l.leaf, l.heap.empty() ? kNobody : l.heap[0]);
}

template <class Key> void ShapeGroupsBy<Key>::insert(const View& now, uint32_t j, ShapeId s, Key key) {
  Line& l = line(now, s);
  if (!members_.contains(j)) members_.insert(j), l.members++;
  keys_[j] = key;
  l.heap.push_back({key, j});
  if (l.heap.size() > 64 + 2 * l.members) {  // keys that changed again and again
    std::erase_if(l.heap, [&](const Entry& e) { return !current(e); });
    std::make_heap(l.heap.begin(), l.heap.end(), later);
    return show(s);
  }
  std::push_heap(l.heap.begin(), l.heap.end(), later);
  if (l.heap[0].job == j) show(s);
}

template <class Key> void ShapeGroupsBy<Key>::erase(uint32_t j, ShapeId s) {
  members_.erase(j);
  lines_[s].members--;
  if (lines_[s].heap[0].job == j) show(s);
}

template <class Key> JobId ShapeGroupsBy<Key>::first() const {
  const Entry* best = &kNobody;
  for (const Group& g : groups_)
    if (!g.failed && g.heads[1].job != kNone && (best->job == kNone || g.heads[1] < *best)) best = &g.heads[1];
  return best->job;
}

template <class Key> JobId ShapeGroupsBy<Key>::first_like(ShapeId s) const {
  const Group& g = groups_[lines_[s].group];
  Entry best = g.heads[1];
  for (const ShapeId p : parked_)
    if (lines_[p].group == lines_[s].group && members_of(p)) best = std::min(best, lines_[p].heap[0]);
  return best.job;
}

template <class Key> void ShapeGroupsBy<Key>::try_again(const View& now, JobId j) {
  const ShapeId s = now.job(j).shape;
  Line& l = lines_[s];
  if (l.parked && l.heap[0].job == j) {
    l.parked = false;
    std::erase(parked_, s);
    show(s);
  }
  if (groups_[l.group].heads[1].job == j) groups_[l.group].failed = false;
}

template <class Key> void ShapeGroupsBy<Key>::fail(ShapeId s, Reason why, bool group) {
  Line& l = lines_[s];
  if (group) {
    groups_[l.group].failed = true, groups_[l.group].why = why;
    return;
  }
  l.parked = true, l.failed = why;
  parked_.push_back(s);
  set_head(groups_[l.group], l.leaf, kNobody);
}

template <class Key> Reason ShapeGroupsBy<Key>::failed(ShapeId s) const {
  const Line& l = lines_[s];
  if (l.parked) return l.failed;
  return groups_[l.group].failed ? groups_[l.group].why : Reason::none;
}

}  // namespace muster
