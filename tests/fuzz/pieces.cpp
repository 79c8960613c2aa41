// Placements as text: what is read is written back and read again to the same.
#include <cstdlib>

#include "muster/share.hpp"
#include "muster/topology.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const muster::Topology topology = muster::Topology::parse_line("node:3 socket:2 gpu:4");
  try {
    const std::vector<muster::Piece> pieces = muster::parse_pieces(topology, {reinterpret_cast<const char*>(data), size});
    const std::string text = muster::to_text(topology, pieces);
    if (!pieces.empty() && muster::to_text(topology, muster::parse_pieces(topology, text)) != text) std::abort();
  } catch (const muster::InputError&) {
  }
  return 0;
}
