#include "parts/place.hpp"

#include "parts/place_weigh.hpp"

namespace muster {

namespace {
constexpr PartParameter kPlain[] = {kDevicesParameter};
constexpr PartParameter kLevel[] = {kDevicesParameter, {"level", "", "name of a level of the topology"}};

/// A row of the table of placers: a new one is a file with one function and one row here.
struct Row {
  PartInfo info;
  std::unique_ptr<Placer> (*make)(const PolicyInput&);
};
constexpr Row kRows[] = {
    {{"pack", "best fit: the node with fewest free GPUs, then lowest index", false, false, kPlain}, make_pack},
    {{"spread", "the node with most free GPUs, then lowest index", false, false, kPlain}, make_spread},
    {{"first", "first fit: the node of lowest index", false, false, kPlain}, make_first},
    {{"random", "the first node that fits from a random one on; seeded", false, false, kPlain}, make_random},
    {{"uniform", "any of the nodes that fit, each equally likely; seeded", false, false, kPlain}, make_uniform},
    {{"consolidate", "the lowest level with a domain that holds the job, there best fit", false, false, kPlain}, make_consolidate},
    {{"topology-required", "inside one domain of a level, or of the lowest above that is large enough", false, false, kLevel}, make_topology_required},
    {{"topology-preferred", "inside one domain of a level, else of the next above, else anywhere", false, false, kLevel}, make_topology_preferred},
    {{"fgd", "fragmentation gradient descent: the node whose fragmentation grows least", false, false, kScoringParameters}, make_fgd},
    {{"best-fit", "the node with least CPUs and GPUs left over, weighed alike", false, false, kScoringParameters}, make_best_fit},
    {{"dot-product", "the node whose rest is least like the request", false, false, kScoringParameters}, make_dot_product},
    {{"gpu-packing", "GPUs in use before free ones, nodes in use before idle ones", false, false, kScoringParameters}, make_gpu_packing},
    {{"gpu-clustering", "the node whose jobs are of the same size", false, false, kScoringParameters}, make_gpu_clustering},
    {{"volcano-binpack", "the fullest node, as Volcano's binpack weighs it", false, false, kWeighingParameters}, make_volcano_binpack},
    {{"most-allocated", "the fullest node, as Kubernetes scores MostAllocated", false, false, kWeighingParameters}, make_most_allocated},
    {{"least-allocated", "the emptiest node, as Kubernetes scores LeastAllocated", false, false, kWeighingParameters}, make_least_allocated},
    {{"requested-to-capacity-ratio", "by a shape over how full nodes are, as in Kubernetes", false, false, kShapedParameters}, make_capacity_ratio},
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

std::unique_ptr<Placer> make_placer(std::string_view name, const PolicyInput& in) {
  const size_t row = size_t(&choose(infos(), name, "place", {}) - infos().data());
  std::unique_ptr<Placer> p = kRows[row].make(in);
  const Config* devices = in.parameters.find("devices");
  if (devices && !devices->as_text().empty()) p->set_devices(devices_called(choose(device_choices(), devices->as_text(), "devices", devices->where).name));
  return p;
}

std::unique_ptr<Placer> make_placer(std::string_view name, const Topology& t, uint64_t seed) {
  static const Workload kNoJobs;
  return make_placer(name, PolicyInput{t, kNoJobs, {}, seed});
}

}  // namespace muster
