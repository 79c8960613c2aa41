// What waiting cost, by reason: the GPUs that jobs asked for times the time they waited. Over all jobs and the whole run.
#include <algorithm>
#include <array>

#include "metrics/family.hpp"
#include "metrics/window.hpp"

namespace muster {
namespace {

constexpr size_t kReasons = size_t(Reason::policy) + 1;

/// Reasons for which a job is refused; nobody waits for them.
bool refuses(Reason r) { return r == Reason::cluster_size || r == Reason::node_size || r == Reason::quota_size; }

std::string metric_of(Reason r) {
  std::string name(r == Reason::none ? "unstated" : to_text(r));
  for (char& c : name) c = c == ' ' || c == '-' ? '_' : c == 'G' || c == 'P' || c == 'U' ? char(c - 'A' + 'a') : c;
  return "gpu_wait_" + name + "_gpu_s";
}

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
      Waiting& w = waiting_[r.job];
      if (w.since != kNever && w.since != r.at) time_[size_t(w.reason)] += Int128{asked(r.job)} * (r.at - w.since);
      w.since = waits ? r.at : kNever, w.reason = r.reason;
    }
  }
  void report(Report& out) override {
    Int128 all = 0;
    for (const Int128 t : time_) all += t;
    out.add("gpu_wait_gpu_s", double(all) / kGpuSecond, "gpu.s", Better::lower);
    for (size_t r = 0; r < kReasons; r++)
      if (!refuses(Reason(r))) out.add(metric_of(Reason(r)), double(time_[r]) / kGpuSecond, "gpu.s", Better::lower);
  }

 private:
  static constexpr double kGpuSecond = double(kMilli) * double(kSecond);
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
