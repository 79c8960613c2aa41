// How much was asked of the cluster, whatever the policy made of it.
#include "metrics/family.hpp"
#include "metrics/window.hpp"

namespace muster {
namespace {

class Load : public Family {
 public:
  void begin(const Header& h) override {
    workload_ = h.workload;
    gpus_ = h.topology ? h.topology->gpus() : 0;
  }
  void see(std::span<const Record> records) override {
    for (const Record& r : records) {
      if (r.what != What::submit || !workload_) continue;
      if (submitted_++ == 0) first_ = r.at;
      last_ = r.at;
      const Duration work = workload_->truths[r.job].work;
      if (work != kNever) asked_ += Int128{workload_->shapes[workload_->jobs[r.job].shape].total_milli()} * work;
    }
  }
  void report(Report& out) override {
    // n jobs span n - 1 gaps between submits; n / (n - 1) makes it the span of n gaps.
    Int128 asked = 0, offered = 0;
    const bool beyond = __builtin_mul_overflow(asked_, Int128{submitted_} - 1, &asked) ||
                        __builtin_mul_overflow(Int128{gpus_ * kMilli} * (last_ - first_), Int128{submitted_}, &offered);
    out.add("offered_load", beyond ? std::numeric_limits<double>::quiet_NaN() : divide(asked, offered), "1");
  }

 private:
  const Workload* workload_ = nullptr;
  int64_t gpus_ = 0, submitted_ = 0;
  Time first_ = 0, last_ = 0;
  Int128 asked_ = 0;
};

}  // namespace

std::unique_ptr<Family> make_load() { return std::make_unique<Load>(); }

}  // namespace muster
