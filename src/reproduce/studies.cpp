// The table of studies.
#include "reproduce/study.hpp"

namespace muster {

std::span<const Study> studies() {
  static const Study all[] = {fgd_study(), hived_study(), locality_study(), muri_study()};
  return all;
}

}  // namespace muster
