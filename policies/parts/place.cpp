#include "parts/place.hpp"

namespace muster {

namespace {
constexpr PartParameter kDevices{"devices", "",
                                 "which GPUs inside a node: lowest, closest or spread; without it closest where the placer looks below nodes, else lowest"};
constexpr PartParameter kPlain[] = {kDevices};
constexpr PartParameter kLevel[] = {kDevices, {"level", "", "name of a level of the topology"}};

struct Row {
  PartInfo info;
  std::unique_ptr<Placer> (*make)(const PlacerInput&);
};
constexpr Row kRows[] = {
    {{"pack", "best fit: the node with fewest free GPUs, then lowest index", false, false, kPlain}, make_pack},
    {{"spread", "the node with most free GPUs, then lowest index", false, false, kPlain}, make_spread},
    {{"first", "first fit: the node of lowest index", false, false, kPlain}, make_first},
    {{"random", "the first node that fits from a random one on; seeded", false, false, kPlain}, make_random},
    {{"consolidate", "the lowest level with a domain that holds the job, there best fit", false, false, kPlain}, make_consolidate},
    {{"topology-required", "inside one domain of a level, or of the lowest above that is large enough", false, false, kLevel},
     make_topology_required},
    {{"topology-preferred", "inside one domain of a level, else of the next above, else anywhere", false, false, kLevel}, make_topology_preferred},
};

const std::vector<PartInfo>& infos() {
  static const std::vector<PartInfo> all = [] {
    std::vector<PartInfo> v;
    for (const Row& r : kRows) v.push_back(r.info);
    return v;
  }();
  return all;
}
}  // namespace

std::span<const PartInfo> placers() { return infos(); }

std::unique_ptr<Placer> make_placer(std::string_view name, const PlacerInput& in) {
  const size_t row = size_t(&choose(infos(), name, "place", {}) - infos().data());
  std::unique_ptr<Placer> p = kRows[row].make(in);
  const Config* devices = in.parameters ? in.parameters->find("devices") : nullptr;
  if (devices && !devices->as_text().empty()) p->set_devices(devices_called(choose(device_choices(), devices->as_text(), "devices", devices->where).name));
  return p;
}

}  // namespace muster
