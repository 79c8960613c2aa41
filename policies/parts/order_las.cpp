// Least attained service, and Tiresias' queues.
#include "parts/order_steps.hpp"

namespace muster {

namespace {

constexpr Int128 kGpuSecond = Int128(kMilli) * kSecond;

/// A job's level changes when it has attained enough.
class Levels : public Order {
 public:
  explicit Levels(size_t jobs) : alarms_(jobs) {}
  Line placed(const View& now, Estimate& e, JobId j) override {
    arm(now, j);
    return {key(now, e, j)};
  }
  void changed(const View& now, const Plan& plan, std::vector<JobId>& jobs) override {
    alarms_.due(now, [&](JobId j) {
      if (!plan.at(j).empty()) jobs.push_back(j);  // placed() sets the next alarm
    });
  }
  Time next(const View& now) override { return alarms_.next(now); }

 protected:
  /// Where the level of `j` ends, in attained service.
  virtual Int128 end_of_level(const View& now, JobId j) const = 0;
  void arm(const View& now, JobId j) {
    const Int128 end = end_of_level(now, j);
    const Duration d = end < 0 ? kNever : until_attained(now, j, now.attained(j), end);
    alarms_.set(j, d < kNever - now.now() ? now.now() + std::max<Duration>(d, 1) : kNever);
  }
  Alarms alarms_;
};

/// Attained GPU time in whole steps.
class Las final : public Levels {
 public:
  Las(size_t jobs, Duration quantum) : Levels(jobs), step_(Int128(quantum) * kMilli) {}
  int64_t key(const View& now, Estimate&, JobId j) override { return int64_t(now.attained(j) / step_); }

 private:
  Int128 end_of_level(const View& now, JobId j) const override { return (now.attained(j) / step_ + 1) * step_; }
  Int128 step_;
};

/// Discretised two-dimensional LAS (Gu et al., "Tiresias: a GPU cluster manager for distributed deep learning", NSDI 2019): queue by attained
/// GPU time, each queue first started first. A job that has waited `promote` times as long as it has run is as new again.
class Tiresias final : public Levels {
 public:
  Tiresias(size_t jobs, std::vector<int64_t> limits, int64_t promote) : Levels(jobs), limits_(std::move(limits)), promote_(promote), past_(jobs) {}

  int64_t key(const View& now, Estimate&, JobId j) override {
    Past& p = past_[j];
    if (now.starts(j) && p.first_start == kNever) p.first_start = now.now() - now.ran(j);  // unknown to us: at the latest then
    if (p.since == kNever) {  // it was not waiting until now
      alarms_.clear(j);
      if (now.ran(j) > p.ran) {
        p.since = now.now();
        if (promote_) starve(now, j);
      }
    }
    return at(now, j);
  }
  Line placed(const View& now, Estimate&, JobId j) override {
    Past& p = past_[j];
    if (p.first_start == kNever) p.first_start = now.now();
    if (p.since != kNever) p.waited += now.now() - p.since, p.since = kNever;
    arm(now, j);
    return {at(now, j)};
  }
  void changed(const View& now, const Plan& plan, std::vector<JobId>& jobs) override {
    alarms_.due(now, [&](JobId j) {
      if (plan.at(j).empty()) {  // it has starved
        Past& p = past_[j];
        p.attained = now.attained(j), p.ran = now.ran(j);
        p.waited = 0, p.since = kNever;
      }
      jobs.push_back(j);
    });
  }

 private:
  struct Past {
    Time first_start = kNever;
    Time since = kNever;     // waits since then, having run
    Duration waited = 0;     // before that, since it was new
    Int128 attained = 0;     // when it was as new again
    Duration ran = 0;
  };
  size_t level(const View& now, JobId j) const {
    const Int128 a = now.attained(j) - past_[j].attained;
    return size_t(std::partition_point(limits_.begin(), limits_.end(), [&](int64_t l) { return l * kGpuSecond <= a; }) - limits_.begin());
  }
  int64_t at(const View& now, JobId j) const {
    constexpr int64_t kStep = int64_t{1} << 51;  // more than 70 years; first the started ones of a queue, then the others
    const Past& p = past_[j];
    const Time t = p.first_start == kNever ? kStep + std::min(now.job(j).submit, kStep - 1) : std::min(p.first_start, kStep - 1);
    return int64_t(level(now, j)) * 2 * kStep + t;
  }
  Int128 end_of_level(const View& now, JobId j) const override {
    const size_t l = level(now, j);
    return l == limits_.size() ? -1 : past_[j].attained + limits_[l] * kGpuSecond;
  }
  void starve(const View& now, JobId j) {
    const Past& p = past_[j];
    const Int128 bears = (Int128(now.ran(j) - p.ran) * promote_ + 999'999) / 1'000'000 - p.waited;
    if (level(now, j) == 0 || bears >= kNever - now.now()) return alarms_.clear(j);
    alarms_.set(j, now.now() + std::max<Duration>(1, Duration(bears)));
  }
  std::vector<int64_t> limits_;
  int64_t promote_;  // millionths
  std::vector<Past> past_;
};

}  // namespace

const PartParameter kLasParameters[1] = {{"quantum", "1h", "step of attained service, on one GPU: jobs within one step are equal"}};
const PartParameter kTiresiasParameters[3] = {
    {"queue_limit", "3600,36000", "GPU-seconds at which a job leaves the first queue, the second, ..."},
    {"num_queue", "", "how many queues: one more than there are limits; given only to be checked"},
    {"promote", "0", "a job that waited this many times what it ran goes back to the first queue; 0: never"}};

std::unique_ptr<Order> make_las(const PolicyInput& in) {
  const Config* c = in.parameters.find("quantum");
  const Duration quantum = c ? c->as_duration() : 3600 * kSecond;
  if (quantum == 0) throw InputError(c->where + ": a quantum must be above 0");
  return std::make_unique<Las>(in.workload.jobs.size(), quantum);
}

std::unique_ptr<Order> make_tiresias(const PolicyInput& in) {
  const Config *c = in.parameters.find("queue_limit"), *queues = in.parameters.find("num_queue"), *promote = in.parameters.find("promote");
  const std::vector<int64_t> limits = c ? c->as_integers(1, int64_t{1} << 50) : std::vector<int64_t>{3600, 36000};
  const std::string where = c && !c->where.empty() ? c->where + ": " : "";
  std::string text;
  for (const int64_t l : limits) text += (text.empty() ? "" : ",") + std::to_string(l);
  if (limits.size() > 1000) throw InputError(where + "queue_limit has " + std::to_string(limits.size()) + " limits, at most 1000 are allowed");
  for (size_t i = 1; i < limits.size(); i++)
    if (limits[i] <= limits[i - 1])
      throw InputError(where + "queue_limit must rise, found " + std::to_string(limits[i]) + " after " + std::to_string(limits[i - 1]) + " in " + text);
  if (queues && queues->given() && !queues->value.empty()) {
    const int64_t n = queues->as_integer(1, 1001);
    if (size_t(n) != limits.size() + 1)
      throw InputError((queues->where.empty() ? "" : queues->where + ": ") + "num_queue is " + std::to_string(n) + ", which wants " +
                       std::to_string(n - 1) + (n == 2 ? " limit" : " limits") + ", but queue_limit has " + std::to_string(limits.size()) + " (" + text + "), which make " +
                       std::to_string(limits.size() + 1) + " queues");
  }
  return std::make_unique<Tiresias>(in.workload.jobs.size(), limits, promote ? promote->as_millionths(0, 1'000'000'000'000) : 0);
}

}  // namespace muster
