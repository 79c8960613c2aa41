// How long jobs took, and what that time was made of. Over jobs that are done.
#include "metrics/family.hpp"
#include "metrics/quantiles.hpp"

namespace muster {
namespace {

class TimeFamily : public Family {
 public:
  void begin(const Header& h) override {
    if (!h.workload) return;
    for (Ticks* t : {&jct_, &queue_, &wait_first_, &run_, &restart_}) t->expect(h.workload->jobs.size());
  }
  void see(std::span<const Record> records) override {
    for (const Record& r : records) {
      if (r.what != What::end || r.state != State::done || !r.time) continue;
      jct_.add(r.time->total());
      queue_.add(r.time->queue());
      wait_first_.add(r.time->queue_first);
      run_.add(r.time->run());
      restart_.add(r.time->restarts());
    }
  }
  void report(Report& out) override {
    jct_.report(out, "jct", Better::lower);
    queue_.report(out, "queue", Better::lower);
    wait_first_.report(out, "wait_first", Better::lower);
    run_.report(out, "run", Better::lower);
    restart_.report(out, "restart", Better::lower);
  }

 private:
  Ticks jct_, queue_, wait_first_, run_, restart_;
};

}  // namespace

std::unique_ptr<Family> make_time() { return std::make_unique<TimeFamily>(); }

}  // namespace muster
