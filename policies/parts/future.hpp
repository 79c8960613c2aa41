// The cluster as it will be, as far as estimates tell.
#pragma once
#include <set>

#include "parts/placer.hpp"
#include "parts/profile.hpp"

namespace muster {

/// Who runs is there at least for a moment: its devices are not free at the instant of its start.
inline Duration at_least_a_tick(Duration d) { return std::max(d, Duration(1)); }

/// The estimated end of a job that runs since `since`, was believed to run for `believed` and is still there: it is believed to run as long
/// again as it was believed to run so far, at least a second. `believed` becomes that.
inline Time outlived(Time since, Duration& believed, Time now) {
  believed = std::max(believed, Duration(kSecond));
  while (later(since, believed) <= now) believed = later(believed, believed);
  return later(since, believed);
}

/// Takes of node `n` all that is free but `least`: its GPUs of highest number, and of other kinds what is too much.
void leave_only(Cluster& cluster, NodeId n, const Resources& least);

/// Who runs leaves at its estimated end; who has a reservation comes at its time and stays as long as it is estimated to.
/// - A node is known by how much of it is free when: which of its GPUs a reservation will get is told when its job starts, not before.
/// - A job that outlives its estimate is believed to run as long again as it was believed to run so far (twice, four times, ... its
///   estimate; at least a second). A job without an estimate never leaves.
/// - A GPU of which a share is held is held whole.
/// Two readings: by node, and by a counter of all GPUs, in which nodes, kinds of nodes and all that is not a GPU are left out.
class Future {
 public:
  enum class Reading : uint8_t { devices, counts };
  struct Slot {
    Time at = kNever;
    std::vector<Piece> pieces;  ///< nodes, tasks and numbers of GPUs count; none with Reading::counts
  };
  Future(const Topology& t, Placer& placer, Reading reading, size_t jobs);

  /// To be called first in a pass. `lost_track`: something else than starts told here and ends changed what is free.
  /// Returns whether somebody outlived its estimate.
  bool begin(const View& now, const Plan& plan, bool lost_track);
  /// `j` starts and is believed to run for `d`.
  void started(const View& now, const Plan& plan, JobId j, Duration d);
  /// `j`, which had `at`, is gone. Returns whether that was before its estimated end.
  bool left(const View& now, JobId j, Pieces at);

  /// Devices that are free now and stay so for `d`, or nothing.
  Pieces fits_now(const View& now, const Plan& plan, JobId j, Duration d);
  /// First instant after now from which on devices for `j` are free for `d`, and such devices: those that the placer chooses then.
  Slot earliest(const View& now, const Plan& plan, JobId j, Duration d);
  /// Whether the pieces of `s` are still free from s.at on for `d`.
  bool holds(const View& now, JobId j, const Slot& s, Duration d) const;
  /// The pieces of `j`'s slot with GPUs that are free now, or nothing.
  Pieces take_up(const View& now, const Plan& plan, JobId j, const Slot& s);

  void reserve(const View& now, JobId j, const Slot& s, Duration d);
  void drop_reservations();

 private:
  struct Stay {  // a job that runs
    Time end = kNever;
    Time since = 0;
    Duration believed = 0;
    bool here = false;
  };
  struct Reserved {
    uint32_t node;
    Time from, to;
    Resources amount;
  };
  struct Ask {  // what a shape wants of one node; for jobs whose tasks go to several: what one task does
    bool built = false, one_node = false;
    Resources least;
  };
  const Ask& ask(const View& now, ShapeId s);
  Resources amount(const Shape& s, const Piece& p) const;
  template <class F> void each_amount(const View& now, JobId j, Pieces at, F f);
  void build(const View& now, const Plan& plan);
  void show(const Plan& plan, Time from, Time to, Time now);
  const NodeIndex& index() const { return part_ ? cluster_.index(0) : cluster_.index(); }

  const Topology& topology_;
  Placer& placer_;
  Reading reading_;
  bool built_ = false, part_ = false;
  NodeId begin_ = 0, end_ = 0;
  std::vector<Profile> profiles_;  // by node, or one
  std::vector<Stay> stays_;        // by job
  std::set<std::pair<Time, JobId>> ends_;
  std::vector<Reserved> reserved_;
  std::vector<Ask> asks_;  // by shape
  Cluster cluster_;        // a node of it is what show() made it last
  std::vector<Time> times_;
  std::vector<Piece> pieces_;
};

}  // namespace muster
