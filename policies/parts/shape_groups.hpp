// Waiting jobs by what they ask for.
#pragma once
#include "muster/id_set.hpp"
#include "muster/policy.hpp"

namespace muster {

/// Jobs in order of (key, id) inside shapes, shapes inside groups. Jobs of one shape fit or fail together; shapes of one group ask for the
/// same GPUs in the same way and differ in CPU, memory and the like alone, so that what fails for want of GPUs fails for the whole group.
/// Within a pass room only shrinks: what failed need not be looked at again, however long its queue is.
class ShapeGroups {
 public:
  explicit ShapeGroups(size_t jobs) : members_(jobs ? jobs : 1), keys_(jobs) {}
  bool contains(JobId j) const { return members_.contains(j); }
  void insert(const View& now, JobId j, int64_t key);
  void erase(const View& now, JobId j);
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
  void fail(const View& now, JobId j, Reason why, bool group);
  /// Why the shape of `j` had failed before room grew for it; none when it had not, or when a pass has ended since.
  Reason failed_before(const View& now, JobId j) const {
    const Line& l = lines_[now.job(j).shape];
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
  Reason failed(const View& now, JobId j) const;

 private:
  struct Entry {
    int64_t key;
    JobId job;
    bool operator<(const Entry& o) const { return key != o.key ? key < o.key : job < o.job; }
  };
  struct Line {  // a shape's queue: a heap whose entries may be out of date
    uint32_t group = kNone, leaf = 0;
    Reason failed = Reason::none;
    bool parked = false;
    bool retry = false;  // it had failed before this pass
    std::vector<Entry> heap;
  };
  struct Group {
    ShapeId example = 0;
    bool failed = false;
    Reason why = Reason::none;
    std::vector<ShapeId> shapes;  // by leaf
    std::vector<Entry> heads;     // tournament: leaves from the middle on, entry 1 is the first of all
  };
  static constexpr Entry kNobody{kNever, kNone};
  Line& line(const View& now, ShapeId s);
  bool members_of(ShapeId s) const { return !lines_[s].heap.empty(); }
  void show(ShapeId s);
  static void set_head(Group& g, uint32_t leaf, Entry e);
  IdSet members_;
  std::vector<int64_t> keys_;
  std::vector<Line> lines_;  // by shape
  std::vector<Group> groups_;
  std::vector<ShapeId> parked_, retried_;
};

}  // namespace muster
