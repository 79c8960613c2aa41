// Round robin of gangs.
#include "parts/order_steps.hpp"

namespace muster {

namespace {

/// A job that has computed for a quantum since its turn began goes to the end of the queue. Who loses its place before that keeps its turn.
/// Gandiva's time slicing of whole gangs (Xiao et al., OSDI 2018; quantum 60 s).
class RoundRobin final : public Order {
 public:
  RoundRobin(size_t jobs, Duration quantum, bool expired_first) : quantum_(quantum), expired_first_(expired_first), alarms_(jobs), turns_(jobs) {}
  int64_t key(const View& now, Estimate&, JobId j) override {
    if (turns_[j].key == kNever) turns_[j].key = 2 * now.now() + expired_first_;
    return turns_[j].key;
  }
  Line placed(const View& now, Estimate& e, JobId j) override {
    const Duration rest = std::max<Duration>(1, quantum_ - (now.ran(j) - turns_[j].ran));
    alarms_.set(j, now.now() + rest);
    return {key(now, e, j)};
  }
  void changed(const View& now, const Plan& plan, std::vector<JobId>& jobs) override {
    alarms_.due(now, [&](JobId j) {
      if (plan.at(j).empty()) return;
      if (now.ran(j) - turns_[j].ran >= quantum_) turns_[j] = {2 * now.now() + !expired_first_, now.ran(j)};
      jobs.push_back(j);
    });
  }
  Time next(const View& now) override { return alarms_.next(now); }

 private:
  struct Turn {
    int64_t key = kNever;  // twice the time at which it joined the queue; odd: after those who joined then
    Duration ran = 0;      // by then
  };
  Duration quantum_;
  bool expired_first_;
  Alarms alarms_;
  std::vector<Turn> turns_;
};

}  // namespace

const PartParameter kRrParameters[2] = {
    {"quantum", "60s", "run time of a turn"},
    {"expired", "last", "who goes first when a turn is over as another job comes: last, the one that comes; first, the one whose turn is over"}};

std::unique_ptr<Order> make_rr(const PolicyInput& in) {
  const Config *q = in.parameters.find("quantum"), *e = in.parameters.find("expired");
  const Duration quantum = q ? q->as_duration() : 60 * kSecond;
  if (quantum == 0 || quantum > int64_t{1} << 60) throw InputError((q->where.empty() ? "" : q->where + ": ") + "a quantum must be above 0 and below 30,000 years");
  if (e && e->as_text() != "first" && e->as_text() != "last")
    throw InputError((e->where.empty() ? "" : e->where + ": ") + "expired: want first or last, found \"" + e->value + "\"");
  return std::make_unique<RoundRobin>(in.workload.jobs.size(), quantum, e && e->value == "first");
}

}  // namespace muster
