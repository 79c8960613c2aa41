// One-line topologies.
#include "muster/topology.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    muster::Topology::parse_line({reinterpret_cast<const char*>(data), size});
  } catch (const muster::InputError&) {
  }
  return 0;
}
