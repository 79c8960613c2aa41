// What no schedule can beat, beside what this one did.
#include <algorithm>
#include <queue>

#include "metrics/family.hpp"
#include "metrics/window.hpp"

namespace muster {
namespace {

/// Bounds over the jobs that are done, on the GPUs of the topology.
class Bounds : public Family {
 public:
  void begin(const Header& h) override {
    workload_ = h.workload;
    if (h.topology) gpus_ = int64_t{h.topology->gpus()} * kMilli;
  }
  void see(std::span<const Record> records) override {
    for (const Record& r : records) {
      window_.see(r);
      if (r.what != What::end || r.state != State::done || !r.time || !workload_) continue;
      done_.push_back(r.job);
      jct_ += r.time->total();
    }
  }
  void report(Report& out) override {
    const auto null = std::numeric_limits<double>::quiet_NaN();
    double makespan = null, jct = null;
    if (!done_.empty() && gpus_ > 0 && window_.begin != kNever) {
      std::sort(done_.begin(), done_.end());
      makespan = least_makespan(), jct = least_jct();
    }
    const double n = double(done_.size());
    const double ours = double(window_.length()) / double(kSecond), mean = double(jct_) / n / double(kSecond);
    out.add("makespan_bound_s", makespan, "s");
    out.add("makespan_over_bound", makespan > 0 ? ours / makespan : null, "1", Better::lower);
    out.add("jct_bound_mean_s", jct, "s");
    out.add("jct_over_bound", jct > 0 ? mean / jct : null, "1", Better::lower);
  }

 private:
  Int128 area(JobId j) const { return Int128{workload_->shapes[workload_->jobs[j].shape].total_milli()} * workload_->truths[j].work; }

  /// The later of: a job's submit and its work; a submit and the area of all that is submitted then or later, spread over all GPUs.
  double least_makespan() const {
    Int128 later = 0, most = 0;  // milli-GPU-ticks
    for (size_t i = done_.size(); i-- > 0;) {
      const JobId j = done_[i];
      const Int128 from = workload_->jobs[j].submit - window_.begin;
      later += area(j);
      most = std::max({most, from * gpus_ + later, (from + workload_->truths[j].work) * gpus_});
    }
    return double(most) / double(gpus_) / double(kSecond);
  }

  /// The larger of: the mean work; the mean under SRPT on one server that is as fast as all GPUs together, which knows every job and may
  /// cut it as it likes (Schrage 1968: no schedule of that server has a smaller mean; the cluster is a slower one).
  double least_jct() const {
    struct Left {
      Int128 area;
      JobId job;
      bool operator<(const Left& o) const { return area != o.area ? area > o.area : job > o.job; }
    };
    std::priority_queue<Left> queue;
    Int128 now = 0, sum = 0, works = 0;  // times in milli-GPU-ticks: a tick is as many as there are milli-GPUs
    const auto serve = [&](Int128 until) {
      while (!queue.empty() && now < until) {
        Left l = queue.top();
        queue.pop();
        const Int128 d = std::min(l.area, until - now);
        now += d, l.area -= d;
        if (l.area > 0) queue.push(l);
        else sum += now - Int128{workload_->jobs[l.job].submit} * gpus_;
      }
      now = std::max(now, until);
    };
    for (const JobId j : done_) {
      serve(Int128{workload_->jobs[j].submit} * gpus_);
      queue.push({area(j), j});
      works += workload_->truths[j].work;
    }
    Int128 all = now;
    for (const JobId j : done_) all += area(j);
    serve(all);
    return double(std::max(sum, works * gpus_)) / double(gpus_) / double(done_.size()) / double(kSecond);
  }

  const Workload* workload_ = nullptr;
  int64_t gpus_ = 0;
  Window window_;
  std::vector<JobId> done_;
  Int128 jct_ = 0;
};

}  // namespace

std::unique_ptr<Family> make_bounds() { return std::make_unique<Bounds>(); }

}  // namespace muster
