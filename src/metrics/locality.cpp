// Where jobs of several GPUs ran, and how much slower that made them.
#include <algorithm>

#include "metrics/family.hpp"
#include "metrics/window.hpp"
#include "topology/meet.hpp"

namespace muster {
namespace {

constexpr uint8_t kNowhere = 255;

class Locality : public Family {
 public:
  void begin(const Header& h) override {
    if (!h.topology || !h.workload) return;
    topology_ = h.topology, workload_ = h.workload;
    levels_ = topology_->levels().size();
    slot_.assign(workload_->jobs.size(), kNone);
    last_.assign(workload_->jobs.size(), kNowhere);
    at_.resize(levels_ + 1);
  }

  void see(std::span<const Record> records) override {
    for (const Record& r : records) switch (r.what) {
        case What::start:
          if (r.pieces.size() == 1 && std::popcount(r.pieces[0].mask()) < 2) break;  // most jobs
          [[fallthrough]];
        case What::run:
        case What::resize:
        case What::speed: place(r); break;
        case What::preempt:
        case What::lost: leave(r); break;
        case What::end:
          leave(r);
          if (r.job < last_.size() && last_[r.job] != kNowhere) at_[last_[r.job]].jobs++, jobs_++;
          break;
        default: break;
      }
  }

  void report(Report& out) override {
    if (!topology_) return;
    Int128 held = 0, full = 0;
    for (const Level& l : at_) held += l.held, full += l.full;
    // From the lowest level up; the whole cluster, which is no level, comes last.
    const auto each = [&](auto f) {
      for (size_t l = levels_; l-- > 0;) f(at_[l], std::string(topology_->levels()[l]));
      f(at_[levels_], std::string("cluster"));
    };
    each([&](const Level& l, const std::string& name) { out.add("locality_jobs_" + name, divide(l.jobs, jobs_), "1"); });
    each([&](const Level& l, const std::string& name) { out.add("locality_gpu_time_" + name, divide(l.held, held), "1"); });
    // Millionths of a GPU-tick: what was held over what full speed would have needed.
    each([&](const Level& l, const std::string& name) { out.add("locality_slowdown_" + name, divide(l.held * kFullSpeed, l.full), "1", Better::lower); });
    out.add("locality_slowdown_mean", divide(held * kFullSpeed, full), "1", Better::lower);
  }

 private:
  struct Level {
    Int128 held = 0, full = 0;  // GPU-ticks of running; the same times the speed
    int64_t jobs = 0;
  };
  struct Running {
    Time since = 0;
    int64_t speed = 0;
    uint32_t gpus = 0;
    uint8_t level = 0;
  };

  void place(const Record& r) {
    if (r.job >= slot_.size()) return;
    leave(r);
    const GpuSpan span = gpu_span(*topology_, r.pieces);
    if (r.state != State::running || span.empty() || span.single()) return;
    if (free_.empty()) free_.push_back(uint32_t(running_.size())), running_.emplace_back();
    slot_[r.job] = free_.back();
    free_.pop_back();
    const size_t level = meet(*topology_, span);
    // An elastic job's speed is times its tasks.
    const bool fixed = workload_->shapes[workload_->jobs[r.job].shape].fixed;
    const int64_t speed = fixed ? r.speed : r.speed / std::max<int64_t>(1, tasks_of(r.pieces));
    running_[slot_[r.job]] = {r.at, speed, std::max(1u, gpus_of(r.pieces)), uint8_t(level == kCluster ? levels_ : level)};
    last_[r.job] = uint8_t(level == kCluster ? levels_ : level);
  }

  void leave(const Record& r) {
    if (r.job >= last_.size() || last_[r.job] == kNowhere || slot_[r.job] == kNone) return;  // the bytes first: most jobs end there
    const Running& x = running_[slot_[r.job]];
    const Int128 held = Int128{x.gpus} * (r.at - x.since);
    at_[x.level].held += held, at_[x.level].full += held * x.speed;
    free_.push_back(slot_[r.job]);
    slot_[r.job] = kNone;
  }

  const Topology* topology_ = nullptr;
  const Workload* workload_ = nullptr;
  size_t levels_ = 0;
  std::vector<uint32_t> slot_;  // by job, into running_
  std::vector<uint8_t> last_;   // by job: level where it ran last, the cluster being levels_
  std::vector<Running> running_;
  std::vector<uint32_t> free_;
  std::vector<Level> at_;
  int64_t jobs_ = 0;
};

}  // namespace

std::unique_ptr<Family> make_locality() { return std::make_unique<Locality>(); }

}  // namespace muster
