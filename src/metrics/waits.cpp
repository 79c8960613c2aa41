// What waiting cost, by reason: the GPUs that jobs asked for times the time they waited. Over all jobs and the whole run.
#include <array>
#include <iterator>

#include "metrics/family.hpp"

namespace muster {
namespace {

/// What a reason is called in a metric's name; nullptr: nobody waits for it, a job is refused for it.
constexpr const char* kNames[] = {"unstated", "no_gpus", "fragmented", "cpu",   "memory", "resource",    "type",
                                  "level",    "driver",  "label",      "apart", "numa",   "behind_head", "reservation",
                                  "quota",    "search",  "not_yet",    nullptr, nullptr,  nullptr,       "policy"};
constexpr size_t kReasons = std::size(kNames);
static_assert(kReasons == size_t(Reason::policy) + 1);

class Waits : public Family {
 public:
  void begin(const Header& h) override {
    workload_ = h.workload;
    waiting_.assign(h.workload ? h.workload->jobs.size() : 0, Waiting{});
  }
  void see(std::span<const Record> records) override {
    for (const Record& r : records) {
      if (r.job >= waiting_.size()) continue;
      const bool waits = r.state == State::queued || r.state == State::claimed;
      if (!waits && r.waiting == 0) continue;  // it did not wait before either; its row is cold when it ends
      Waiting& w = waiting_[r.job];
      if (w.since != kNever && w.since != r.at) time_[size_t(w.reason)] += Int128{asked(r.job)} * (r.at - w.since);
      w.since = waits ? r.at : kNever, w.reason = r.reason;
    }
  }
  void report(Report& out) override {
    Int128 all = 0;
    for (const Int128 t : time_) all += t;
    out.add("gpu_wait", double(all) / kGpuHour, "GPU-h", Better::lower);
    for (size_t r = 0; r < kReasons; r++)
      if (kNames[r]) out.add(std::string("gpu_wait_") + kNames[r], double(time_[r]) / kGpuHour, "GPU-h", Better::lower);
  }

 private:
  static constexpr double kGpuHour = double(kMilli) * 3600.0 * double(kSecond);
  struct Waiting {
    Time since = kNever;  // kNever: it does not wait
    Reason reason = Reason::none;
  };
  int64_t asked(JobId j) const { return workload_->shapes[workload_->jobs[j].shape].total_milli(); }
  const Workload* workload_ = nullptr;
  std::vector<Waiting> waiting_;
  std::array<Int128, kReasons> time_{};
};

}  // namespace

std::unique_ptr<Family> make_waits() { return std::make_unique<Waits>(); }

}  // namespace muster
