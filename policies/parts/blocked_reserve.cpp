#include <algorithm>
#include <set>

#include "parts/blocked.hpp"
#include "parts/future.hpp"
#include "parts/list_form.hpp"

namespace muster {

namespace {
/// The first `depth` jobs that do not fit get reservations, each the earliest that those before it leave; any job may start that leaves
/// them all. With a depth of one this is EASY backfilling, without a limit conservative backfilling.
///
/// Every pass draws the reservations up anew, in order. The head's alone is kept as long as nothing earlier is possible and its devices
/// are still to come: a head never starts later than it was promised, unless somebody outlives an estimate or a device breaks.
class ReserveList final : public List<ReserveList> {
 public:
  ReserveList(ListParts p, Future::Reading reading, size_t depth)
      : List(std::move(p)),
        depth_(depth),
        future_(parts_.input->topology, *parts_.placer, reading, parts_.jobs),
        keys_(parts_.jobs),
        estimates_(parts_.jobs) {
    parts_.input = nullptr;
  }
  bool contains(JobId j) const { return queue_.count({keys_[j], j}) > 0; }
  void insert(const View& now, JobId j, int64_t key) {
    keys_[j] = key;
    estimates_[j] = at_least_a_tick(parts_.estimate->of(now, j));
    queue_.insert({key, j});
    if (!reserved_.empty() && Entry{key, j} < reserved_.back()) redraw_ = true;
  }
  void erase(const View&, JobId j) {
    if (!reserved_.empty() && !(reserved_.back() < Entry{keys_[j], j})) redraw_ = true;
    queue_.erase({keys_[j], j});
  }
  void room(const View& now, const Event& e) {
    if (e.job < now.jobs() && (e.what == What::end || e.what == What::lost || e.what == What::preempt)) future_.left(now, e.job, e.pieces);
    if (e.what != What::end) lost_track_ = true;
  }
  void pass(const View& now, Plan& plan, bool grew) {
    const bool outlived = future_.begin(now, plan, lost_track_);
    redraw_ |= grew || outlived || lost_track_ || head_.at <= now.now();
    lost_track_ = false;
    failed_.assign(now.shapes(), -1);
    if (redraw_) {
      future_.drop_reservations();
      reserved_.clear();
      for (auto i = queue_.begin(); i != queue_.end();) i = visit(now, plan, i);
    } else {
      std::sort(fresh_.begin(), fresh_.end(), [&](JobId a, JobId b) { return Entry{keys_[a], a} < Entry{keys_[b], b}; });
      for (const JobId j : fresh_)
        if (contains(j)) visit(now, plan, queue_.find({keys_[j], j}));
    }
    redraw_ = false;
    if (reserved_.empty()) head_ = {}, head_job_ = kNone;
    else if (head_.at != kNever && head_.at > now.now()) plan.wake_at(head_.at);
  }

 private:
  using Entry = std::pair<int64_t, JobId>;
  using Place = std::set<Entry>::iterator;

  Place visit(const View& now, Plan& plan, Place i) {
    const JobId j = i->second;
    const Duration d = estimates_[j];
    Duration& failed = failed_[now.job(j).shape];
    if (failed < 0 || d < failed) {
      if (const Pieces at = future_.fits_now(now, plan, j, d); !at.empty()) return start(now, plan, i, at);
      failed = d;
    }
    if (reserved_.size() < depth_) {
      if (reserved_.empty()) {
        if (const Pieces at = promised(now, plan, j, d); !at.empty()) return start(now, plan, i, at);
        future_.reserve(now, j, head_, d);
      } else {
        future_.reserve(now, j, future_.earliest(now, plan, j, d), d);
      }
      reserved_.push_back(*i);
      plan.reason(j, Reason::reservation);
    } else {
      const bool fits = !parts_.placer->find(now, plan, j).empty();
      plan.reason(j, fits ? Reason::reservation : parts_.placer->why(now, plan, j));
    }
    return std::next(i);
  }

  Place start(const View& now, Plan& plan, Place i, Pieces at) {
    const JobId j = i->second;
    plan.start(j, at);
    future_.started(now, plan, j, estimates_[j]);
    return queue_.erase(i);
  }

  /// The head's reservation in head_: the one it has, or an earlier one. Devices when it has come.
  Pieces promised(const View& now, Plan& plan, JobId j, Duration d) {
    const bool kept = head_job_ == j && head_.at != kNever && head_.at > now.now() && future_.holds(now, j, head_, d);
    if (head_job_ == j && head_.at <= now.now())
      if (const Pieces at = future_.take_up(now, plan, j, head_); !at.empty()) return at;
    Future::Slot fresh = future_.earliest(now, plan, j, d);
    if (!kept || fresh.at < head_.at) head_ = std::move(fresh);
    head_job_ = j;
    return {};
  }

  size_t depth_;
  Future future_;
  std::vector<int64_t> keys_;
  std::vector<Duration> estimates_;
  std::set<Entry> queue_;
  std::vector<Entry> reserved_;  // in order
  Future::Slot head_;            // the reservation of the first of them
  JobId head_job_ = kNone;
  bool redraw_ = false, lost_track_ = false;
  std::vector<Duration> failed_;  // by shape: the shortest run time for which it found no place in this pass; -1: none yet
};

}  // namespace

bool reserves_counts(const ListParts& p) {
  static constexpr PartInfo kReadings[] = {{"devices", "nodes and what they have free when"},
                                           {"counts", "numbers of GPUs, wherever they are"}};
  const Config* c = p.input->parameters.find("reserve");
  return c && &choose(kReadings, c->as_text(), "reserve", c->where) == &kReadings[1];
}

std::unique_ptr<Policy> make_reserve(ListParts p, size_t depth) {
  const Future::Reading r = reserves_counts(p) ? Future::Reading::counts : Future::Reading::devices;
  return std::make_unique<ReserveList>(std::move(p), r, depth);
}

std::unique_ptr<Policy> make_conservative(ListParts p) { return make_reserve(std::move(p), ~size_t{0}); }

std::unique_ptr<Policy> make_hybrid(ListParts p) {
  const Config* c = p.input->parameters.find("depth");
  return make_reserve(std::move(p), size_t(c ? c->as_integer(1, 1'000'000'000) : 8));
}

}  // namespace muster
