// Topologies as JSON; what was read can be drawn.
#include "topology/draw.hpp"
#include "topology/json.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const muster::Topology t = muster::topology_from_json({reinterpret_cast<const char*>(data), size}, "f.json");
    if (t.nodes() < 1000) muster::draw(t);
  } catch (const muster::InputError&) {
  }
  return 0;
}
