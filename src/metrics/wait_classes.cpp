// Who waited: the longest wait of all, starvation, waits by size and by user.
#include <array>

#include "metrics/family.hpp"
#include "metrics/quantiles.hpp"

namespace muster {
namespace {

constexpr Duration kStarved = 86'400 * kSecond;
constexpr std::array<const char*, 6> kClasses = {"0", "1", "2_7", "8", "9_63", "64_up"};

size_t class_of(uint32_t gpus) { return gpus == 0 ? 0 : gpus == 1 ? 1 : gpus < 8 ? 2 : gpus == 8 ? 3 : gpus < 64 ? 4 : 5; }

class WaitClasses : public Family {
 public:
  void begin(const Header& h) override {
    workload_ = h.workload;
    if (!workload_) return;
    users_.resize(workload_->tenants.size());
    began_.assign(workload_->jobs.size(), kNever);
    starved_.resize(workload_->jobs.size());
  }
  void see(std::span<const Record> records) override {
    for (const Record& r : records) {
      if (r.job == kNone || !workload_ || r.what == What::note) continue;
      const bool waits = r.state == State::queued || r.state == State::claimed;
      Time& began = began_[r.job];
      if (waits && began == kNever) began = r.at;
      if (!waits && began != kNever) stretch(r.job, r.at - began), began = kNever;
      if (r.what != What::end || r.state != State::done || !r.time) continue;
      const Duration q = r.time->queue();
      classes_[class_of(workload_->shapes[workload_->jobs[r.job].shape].total_gpus)].add(q);
      User& u = users_[workload_->jobs[r.job].tenant];
      u.sum += q, u.jobs++;
    }
  }
  void finish(Time at) override {
    for (JobId j = 0; j < began_.size(); j++)
      if (began_[j] != kNever) stretch(j, at - began_[j]);
  }
  void report(Report& out) override {
    out.add("wait_longest_s", double(longest_) / double(kSecond), "s", Better::lower);
    size_t starved = 0;
    for (const bool s : starved_) starved += s;
    out.add("jobs_starved", double(starved), "jobs", Better::lower);
    for (size_t c = 0; c < kClasses.size(); c++) classes_[c].report(out, std::string("queue_gpus_") + kClasses[c], Better::lower);
    Ticks means;
    for (const User& u : users_)
      if (u.jobs) means.add(Duration((u.sum + u.jobs / 2) / u.jobs));
    means.report(out, "queue_user", Better::lower);
  }

 private:
  void stretch(JobId j, Duration d) {
    longest_ = std::max(longest_, d);
    if (d >= kStarved) starved_[j] = true;
  }
  struct User {
    Int128 sum = 0, jobs = 0;
  };
  const Workload* workload_ = nullptr;
  std::array<Ticks, kClasses.size()> classes_;
  std::vector<User> users_;
  std::vector<Time> began_;
  std::vector<bool> starved_;
  Duration longest_ = 0;
};

}  // namespace

std::unique_ptr<Family> make_wait_classes() { return std::make_unique<WaitClasses>(); }

}  // namespace muster
