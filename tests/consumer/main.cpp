// A policy that lives outside the source tree and sees the installed headers only.
#include <muster/policy.hpp>

#include <cstdio>

namespace {

class Idle final : public muster::Policy {
 public:
  void schedule(const muster::View&, muster::Plan&) override {}
};

}  // namespace

int main() {
  Idle idle;
  const muster::Policy& policy = idle;
  std::puts(dynamic_cast<const Idle*>(&policy) ? "ok" : "not a policy");
}
