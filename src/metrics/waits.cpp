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
    if (!h.workload) return;
    workload_ = h.workload;
    waits_for_.assign(workload_->jobs.size(), kNotAtAll);
  }
  void see(std::span<const Record> records) override {
    for (const Record& r : records) {
      if (r.job >= waits_for_.size()) continue;
      const bool waits = r.state == State::queued || r.state == State::claimed;
      if (!waits && r.waiting == 0) continue;  // it did not wait before either; its row is cold when it ends
      leave(r.job, r.at);
      if (waits) waits_for_[r.job] = uint8_t(r.reason), time_[size_t(r.reason)] -= gpus(r.job) * r.at;
    }
  }
  void finish(Time at) override {
    for (JobId j = 0; j < waits_for_.size(); j++) leave(j, at);
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
  static constexpr uint8_t kNotAtAll = 0xff;
  Int128 gpus(JobId j) const { return workload_->shapes[workload_->jobs[j].shape].total_milli(); }
  void leave(JobId j, Time at) {
    if (waits_for_[j] != kNotAtAll) time_[waits_for_[j]] += gpus(j) * at;
    waits_for_[j] = kNotAtAll;
  }
  const Workload* workload_ = nullptr;
  std::vector<uint8_t> waits_for_;  // a Reason by job: a byte, where the instant it began would be eight
  std::array<Int128, kReasons> time_{};  // of each wait its end less its begin, which are added as they come
};

}  // namespace

std::unique_ptr<Family> make_waits() { return std::make_unique<Waits>(); }

}  // namespace muster
