// One-line topologies.
#include "muster/topology.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // Millions of nodes are legal, and take their time and memory; what is refused for its size is tried again.
  double product = 1, number = 0;
  bool counts = false;  // behind a colon: a count
  for (size_t i = 0; i <= size; i++) {
    if (counts && i < size && data[i] >= '0' && data[i] <= '9') {
      number = number * 10 + (data[i] - '0');
    } else {
      if (number > 0) product *= number;
      number = 0;
      counts = i < size && (data[i] == ':' || (counts && (data[i] == ' ' || data[i] == '\t')));
    }
  }
  if (product > 1e4 && product < 1e9) return 0;
  try {
    muster::Topology::parse_line({reinterpret_cast<const char*>(data), size});
  } catch (const muster::InputError&) {
  }
  return 0;
}
