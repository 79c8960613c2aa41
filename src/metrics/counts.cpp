// How many jobs there were, and how each ended.
#include <array>
#include <cassert>

#include "metrics/family.hpp"

namespace muster {
namespace {

class Counts : public Family {
 public:
  void begin(const Header& h) override { workload_ = h.workload; }
  void see(std::span<const Record> records) override {
    for (const Record& r : records) {
      if (r.what == What::submit) {
        submitted_++;
        if (workload_ && workload_->shapes[workload_->jobs[r.job].shape].total_milli() == 0) cpu_only_++;
      } else if (r.what == What::end) {
        ended_[size_t(r.state)]++;
      } else if (r.what == What::preempt) {
        preemptions_++;
      }
    }
  }
  void report(Report& out) override {
    const auto of = [&](State s) { return double(ended_[size_t(s)]); };
    [[maybe_unused]] uint64_t sum = 0;
    for (State s : {State::done, State::failed, State::timed_out, State::cancelled, State::rejected, State::dropped, State::unfinished})
      sum += ended_[size_t(s)];
    assert(sum == submitted_);
    out.add("jobs_submitted", double(submitted_), "jobs");
    out.add("jobs_done", of(State::done), "jobs", Better::higher);
    out.add("jobs_failed", of(State::failed), "jobs", Better::lower);
    out.add("jobs_timed_out", of(State::timed_out), "jobs", Better::lower);
    out.add("jobs_cancelled", of(State::cancelled), "jobs");
    out.add("jobs_rejected", of(State::rejected), "jobs", Better::lower);
    out.add("jobs_dropped", of(State::dropped), "jobs", Better::lower);
    out.add("jobs_unfinished", of(State::unfinished), "jobs", Better::lower);
    out.add("jobs_cpu_only", double(cpu_only_), "jobs");
    out.add("preemptions", double(preemptions_), "1", Better::lower);
  }

 private:
  const Workload* workload_ = nullptr;
  uint64_t submitted_ = 0, cpu_only_ = 0, preemptions_ = 0;
  std::array<uint64_t, size_t(State::unfinished) + 1> ended_{};
};

}  // namespace

std::unique_ptr<Family> make_counts() { return std::make_unique<Counts>(); }

}  // namespace muster
