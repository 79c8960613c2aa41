#include "parts/blocked.hpp"

namespace muster {

namespace {
constexpr PartInfo kBlocked[] = {
    {"stop", "a job that does not fit holds up all behind it"},
    {"skip", "a job that does not fit is passed over"},
    {"drop", "a job that does not fit at once is dropped"},
};
constexpr std::unique_ptr<Policy> (*kMake[])(ListParts) = {make_stop, make_skip, make_drop};
}  // namespace

std::span<const PartInfo> blocked_choices() { return kBlocked; }

std::unique_ptr<Policy> make_blocked(std::string_view name, ListParts parts) {
  return kMake[&choose(kBlocked, name, "blocked", {}) - kBlocked](std::move(parts));
}

}  // namespace muster
