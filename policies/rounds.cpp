// Any policy in rounds.
#include <array>

#include "table.hpp"

namespace muster {

namespace {

/// Asks an inner policy at the beginning of each round and at no other time; what happens in between is kept for it. Schedulers that decide
/// in rounds (Gavel, 360 s) pay for it in devices that stand idle from the end of a job to the end of the round: the difference to the
/// same policy without rounds is that cost.
class Rounds final : public Policy {
 public:
  Rounds(Duration round, std::unique_ptr<Policy> inner) : round_(round), inner_(std::move(inner)) {}
  void schedule(const View& now, Plan& plan) override {
    const Time t = now.now();
    keep(now.events());
    if (t % round_ == 0) {
      inner_->schedule(now.with(events_), plan);
      events_.clear();
      pieces_.clear();
    }
    // While there are jobs nothing is heard before the next round; with none, the next event asks for it.
    const bool idle = plan.queue().empty() && plan.placed().empty();
    plan.listen(idle && events_.empty() ? ~WhatSet{0} : WhatSet{0});
    if (!idle || !events_.empty()) plan.wake_at((t / round_ + 1) * round_);
  }

 private:
  /// Copies events; the pieces of one lie together.
  void keep(std::span<const Event> events) {
    for (const Event& e : events) {
      Event& kept = events_.emplace_back(e);
      if (e.pieces.empty()) continue;
      auto& block = pieces_.emplace_back(e.pieces.begin(), e.pieces.end());
      kept.pieces = block;
    }
  }
  Duration round_;
  std::unique_ptr<Policy> inner_;
  std::vector<Event> events_;
  std::vector<std::vector<Piece>> pieces_;  // moved, not copied, when the outer vector grows: spans stay good
};

}  // namespace

std::unique_ptr<Policy> make_rounds(const PolicyInput& in) {
  static constexpr std::array<std::string_view, 3> kKnown = {"round", "policy", "parameters"};
  in.parameters.only(kKnown);
  const Config *round = in.parameters.find("round"), *policy = in.parameters.find("policy"), *parameters = in.parameters.find("parameters");
  const Duration d = round ? round->as_duration() : 360 * kSecond;
  if (d == 0 || d > int64_t{1} << 60)
    throw InputError((round->where.empty() ? "" : round->where + ": ") + "a round must be above 0 and below 30,000 years");
  PolicyInput inner{in.topology, in.workload, parameters ? *parameters : Config{}, in.seed};
  return std::make_unique<Rounds>(d, make_policy(policy ? policy->as_text() : "las", inner, policy ? policy->where : ""));
}

}  // namespace muster
