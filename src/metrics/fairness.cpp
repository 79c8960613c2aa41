// Jain's index over users: of GPU-time received, and of slowdown.
#include <algorithm>

#include "metrics/family.hpp"
#include "metrics/window.hpp"

namespace muster {
namespace {

/// (sum x)^2 / (n sum x^2): 1 when all are equal, 1/n when one has everything. (Jain, Chiu and Hawe, DEC TR-301, 1984.)
double jain(const std::vector<double>& x) {
  double sum = 0, squares = 0;
  for (const double v : x) sum += v, squares += v * v;
  return squares > 0 ? sum * sum / (double(x.size()) * squares) : std::numeric_limits<double>::quiet_NaN();
}

class Fairness : public Family {
 public:
  void begin(const Header& h) override {
    workload_ = h.workload;
    if (workload_) users_.resize(workload_->tenants.size());
  }
  void see(std::span<const Record> records) override {
    for (const Record& r : records) {
      if (r.job == kNone || !workload_ || r.what == What::note) continue;
      User& u = users_[workload_->jobs[r.job].tenant];
      if (r.what == What::submit) u.seen = true;
      if (r.held != 0) u.held.change(r.at, r.held);
      if (r.what == What::end && r.state == State::done && r.time) {
        // The bound keeps jobs of a second from deciding a user's mean, as in slowdown_mean.
        const Duration ideal = std::max(workload_->truths[r.job].work, 10 * kSecond);
        u.slowdowns += std::max(1.0, double(r.time->total()) / double(ideal)), u.done++;
      }
    }
  }
  void finish(Time at) override {
    for (User& u : users_) u.held.advance(at);
  }
  void report(Report& out) override {
    std::vector<double> service, slowdown;
    for (const User& u : users_) {
      if (u.seen) service.push_back(double(u.held.now));
      if (u.done) slowdown.push_back(u.slowdowns / double(u.done));
    }
    out.add("jain_service", jain(service), "1", Better::higher);
    out.add("jain_slowdown", jain(slowdown), "1", Better::higher);
  }

 private:
  struct User {
    bool seen = false;
    Integral held;
    double slowdowns = 0;
    size_t done = 0;
  };
  const Workload* workload_ = nullptr;
  std::vector<User> users_;
};

}  // namespace

std::unique_ptr<Family> make_fairness() { return std::make_unique<Fairness>(); }

}  // namespace muster
