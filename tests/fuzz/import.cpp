// Descriptions of machines: whatever the text, a topology that can be built and drawn, or an InputError.
#include "topology/import/import.hpp"

#include "muster/links.hpp"
#include "topology/draw.hpp"
#include "topology/json.hpp"
#include "topology/write.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const muster::ImportSource source{"f", {reinterpret_cast<const char*>(data), size}};
  try {
    const muster::Imported r = muster::import_topology({&source, 1});
    const muster::Topology t = muster::topology_from_json(muster::topology_file(r.spec), "f.json");
    if (t.gpus() > 2'000 || t.nodes() > 2'000) return 0;
    muster::draw(t);
    muster::draw_json(t);
    const muster::Links links(t);
    std::vector<muster::Piece> all;
    for (muster::NodeId n = 0; n < t.nodes(); n++)
      if (const uint32_t gpus = t.gpus_of(n))
        all.push_back(muster::Piece::whole(n, 1, gpus < 64 ? (uint64_t{1} << gpus) - 1 : ~uint64_t{0}));
    links.ring(all);
  } catch (const muster::InputError&) {}
  return 0;
}
