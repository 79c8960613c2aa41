// The table of studies.
#include "reproduce/study.hpp"

namespace muster {

std::span<const Study> studies() {
  static const Study all[] = {muri_study()};
  return all;
}

}  // namespace muster
