#include "parts/blocked.hpp"

namespace muster {

namespace {
constexpr PartParameter kReserve = {"reserve", "devices", "what a reservation holds: devices, or counts of GPUs wherever they are"};
constexpr PartParameter kReading[] = {kReserve};
constexpr PartParameter kHybrid[] = {kReserve, {"depth", "8", "how many reservations there are at most"}};
constexpr PartInfo kBlocked[] = {
    {"stop", "a job that does not fit holds up all behind it"},
    {"skip", "a job that does not fit is passed over"},
    {"drop", "a job that does not fit at once is dropped"},
    {"easy", "the first that does not fit gets a reservation; who does not delay it may start", true, false, kReading},
    {"conservative", "all that do not fit get reservations, in order; who delays none may start", true, false, kReading},
    {"hybrid", "the first `depth` that do not fit get reservations", true, false, kHybrid},
};
constexpr std::unique_ptr<Policy> (*kMake[])(ListParts) = {make_stop, make_skip, make_drop, make_easy, make_conservative, make_hybrid};
}  // namespace

std::span<const PartInfo> blocked_choices() { return kBlocked; }

std::unique_ptr<Policy> make_blocked(std::string_view name, ListParts parts) {
  return kMake[&choose(kBlocked, name, "blocked", {}) - kBlocked](std::move(parts));
}

}  // namespace muster
