// Deadlines: how many were met, and by how much the others were missed.
#include "metrics/family.hpp"
#include "metrics/quantiles.hpp"

namespace muster {
namespace {

class Sla : public Family {
 public:
  void begin(const Header& h) override { workload_ = h.workload; }
  void see(std::span<const Record> records) override {
    for (const Record& r : records) {
      if (r.what != What::end || !workload_ || r.state == State::cancelled) continue;
      const Time deadline = workload_->jobs[r.job].deadline;
      if (deadline == kNever) continue;
      jobs_++;
      if (r.state != State::done) continue;  // it missed its deadline, but nobody knows by how much
      if (r.at <= deadline) met_++;
      late_.add(std::max<Duration>(r.at - deadline, 0));
    }
  }
  void report(Report& out) override {
    out.add("sla_jobs", double(jobs_), "jobs");
    out.add("sla_attainment", divide(Int128(met_), Int128(jobs_)), "1", Better::higher);
    late_.report(out, "lateness", Better::lower);
  }

 private:
  const Workload* workload_ = nullptr;
  size_t jobs_ = 0, met_ = 0;
  Ticks late_;
};

}  // namespace

std::unique_ptr<Family> make_sla() { return std::make_unique<Sla>(); }

}  // namespace muster
