// Policies that break their contract, one a library (ANSWER chooses).
#include "muster/policy.hpp"

namespace {

using namespace muster;

/// Every waiting job on the first GPU of the first node.
void double_book(const View&, Plan& plan) {
  const Piece p = Piece::whole(0, 1, 1);
  for (JobId j = plan.queue().first(); j != kNone; j = plan.queue().next(j + 1)) plan.start(j, {&p, 1});
}
void unknown_job(const View&, Plan& plan) {
  const Piece p = Piece::whole(0, 1, 1);
  plan.start(4711, {&p, 1});
}
/// A GPU that the node does not have.
void bad_device(const View&, Plan& plan) {
  const Piece p = Piece::whole(0, 1, uint64_t{1} << 63);
  plan.start(plan.queue().first(), {&p, 1});
}
void answers_nothing(const View&, Plan&) {}

class Bad : public Policy {
 public:
  void schedule(const View& now, Plan& plan) override { ANSWER(now, plan); }
};

std::unique_ptr<Policy> make(const PolicyInput&) { return std::make_unique<Bad>(); }

}  // namespace

extern "C" const PolicyInfo* muster_policy_v1() {
  // Names it once, so that each library uses all four.
  (void)double_book, (void)unknown_job, (void)bad_device, (void)answers_nothing;
  static const PolicyInfo info = [] {
    PolicyInfo p;
    p.name = NAME, p.summary = "breaks its contract", p.make = make;
    return p;
  }();
  return &info;
}
