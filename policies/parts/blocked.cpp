#include "parts/blocked.hpp"

namespace muster {

namespace {
constexpr PartInfo kBlocked[] = {
    {"stop", "a job that does not fit holds up all behind it"},
    {"skip", "a job that does not fit is passed over"},
    {"drop", "a job that does not fit at once is dropped"},
};
}  // namespace

std::span<const PartInfo> blocked_choices() { return kBlocked; }

Blocked blocked_called(std::string_view name) { return Blocked(&choose(kBlocked, name, "blocked", {}) - kBlocked); }

}  // namespace muster
