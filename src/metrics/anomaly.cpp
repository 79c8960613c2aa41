// The sharing anomaly: quota and the number of free GPUs would have done, and still a job waited, or ran worse placed than it could.
#include <algorithm>

#include "metrics/family.hpp"
#include "metrics/window.hpp"
#include "topology/meet.hpp"
#include "workload/best_level.hpp"

namespace muster {
namespace {

class Anomaly : public Family {
 public:
  void begin(const Header& h) override {
    if (!h.topology || !h.workload) return;
    topology_ = h.topology, workload_ = h.workload;
    best_ = std::make_unique<BestLevel>(*topology_);
    fragmented_since_.assign(workload_->jobs.size(), kNever);
    was_.assign(workload_->jobs.size(), 0);
    running_.assign(workload_->jobs.size(), {});
  }

  void see(std::span<const Record> records) override {
    if (!topology_) return;
    for (const Record& r : records) {
      if (r.job >= was_.size()) continue;
      wait(r);
      switch (r.what) {
        case What::start:
        case What::run:
        case What::resize: run(r); break;
        case What::preempt:
        case What::lost: stop(r); break;
        case What::end:
          stop(r);
          if (was_[r.job] & kWaited) waited_jobs_++;
          if (was_[r.job] & kRan) jobs_++;
          if (was_[r.job] & kWorse) worse_jobs_++;
          if (r.time) queued_ += Int128{shape(r.job).total_gpus} * r.time->queue();
          break;
        default: break;
      }
    }
  }

  void report(Report& out) override {
    if (!topology_) return;
    out.add("anomaly_wait_gpu_h", double(waited_) / (3600.0 * double(kSecond)), "GPU-h", Better::lower);
    out.add("anomaly_wait_share", divide(waited_, queued_), "1", Better::lower);
    out.add("anomaly_jobs_waited", double(waited_jobs_), "jobs", Better::lower);
    out.add("anomaly_jobs_worse_placed", divide(worse_jobs_, jobs_), "1", Better::lower);
    out.add("anomaly_gpu_time_worse_placed", divide(worse_, ran_), "1", Better::lower);
  }

 private:
  enum : uint8_t { kWaited = 1, kRan = 2, kWorse = 4 };
  struct Running {
    Time since = kNever;
    uint32_t gpus = 0;
    bool worse = false;
  };

  const Shape& shape(JobId j) const { return workload_->shapes[workload_->jobs[j].shape]; }

  /// "fragmented" and "level" are stated of jobs for which enough GPUs are free.
  void wait(const Record& r) {
    const bool is = r.state == State::queued && (r.reason == Reason::fragmented || r.reason == Reason::level);
    Time& since = fragmented_since_[r.job];
    if (is == (since != kNever)) return;
    if (is) {
      since = r.at;
      was_[r.job] |= kWaited;
    } else {
      waited_ += Int128{shape(r.job).total_gpus} * (r.at - since);
      since = kNever;
    }
  }

  void run(const Record& r) {
    stop(r);
    const Shape& s = shape(r.job);
    if (r.state != State::running || s.total_gpus < 2 || !s.fixed) return;  // an elastic job chooses how many it has
    const ShapeId id = workload_->jobs[r.job].shape;
    if (id >= least_.size()) least_.resize(workload_->shapes.size(), kUnknown);
    if (least_[id] == kUnknown) least_[id] = best_->of(s);
    // kCluster is the largest number and the farthest; below it, larger is closer.
    const auto distance = [](size_t level) { return level == kCluster ? size_t{0} : level + 1; };
    const bool worse = distance(meet(*topology_, r.pieces)) < distance(least_[id]);
    running_[r.job] = {r.at, s.total_gpus, worse};
    was_[r.job] |= uint8_t(kRan | (worse ? kWorse : 0));
  }

  void stop(const Record& r) {
    Running& x = running_[r.job];
    if (x.since == kNever) return;
    const Int128 held = Int128{x.gpus} * (r.at - x.since);
    ran_ += held, worse_ += x.worse ? held : 0;
    x.since = kNever;
  }

  static constexpr size_t kUnknown = kCluster - 1;
  const Topology* topology_ = nullptr;
  const Workload* workload_ = nullptr;
  std::unique_ptr<BestLevel> best_;
  std::vector<size_t> least_;           // by shape, as far as asked
  std::vector<Time> fragmented_since_;  // by job
  std::vector<uint8_t> was_;
  std::vector<Running> running_;
  Int128 waited_ = 0, queued_ = 0, ran_ = 0, worse_ = 0;
  int64_t waited_jobs_ = 0, jobs_ = 0, worse_jobs_ = 0;
};

}  // namespace

std::unique_ptr<Family> make_anomaly() { return std::make_unique<Anomaly>(); }

}  // namespace muster
