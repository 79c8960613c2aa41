// How long the whole run took, and how many jobs that makes an hour.
#include "metrics/family.hpp"
#include "metrics/window.hpp"

namespace muster {
namespace {

class Makespan : public Family {
 public:
  void see(std::span<const Record> records) override {
    for (const Record& r : records) {
      window_.see(r);
      if (r.what == What::end && r.state == State::done) done_++;
    }
  }
  void report(Report& out) override {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const Duration length = window_.length();
    out.add("makespan_s", window_.known() ? double(length) / double(kSecond) : nan, "s", Better::lower);
    out.add("throughput_jobs_per_hour", length > 0 ? double(Int128{done_} * 3600 * kSecond) / double(length) : nan, "jobs/h", Better::higher);
  }

 private:
  Window window_;
  int64_t done_ = 0;
};

}  // namespace

std::unique_ptr<Family> make_makespan() { return std::make_unique<Makespan>(); }

}  // namespace muster
