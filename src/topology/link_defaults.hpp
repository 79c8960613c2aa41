// What is usual for a type of GPU, where a topology does not state its links.
#pragma once
#include <string_view>

#include "muster/topology.hpp"

namespace muster {

/// The links of a node with `gpus` GPUs of that type, all of them stated; uplinks hold "gpu", "switch" (PCIe switches) and "socket"
/// (anything else below the node). docs/topology.md has the table.
NodeLinks usual_links(std::string_view gpu_type, uint32_t gpus);

/// `count` cards of that rate, spread evenly over the GPUs in order.
std::vector<NodeLinks::Nic> spread_nics(uint32_t count, uint32_t gpus, LinkRate rate);

/// The hybrid cube mesh of a DGX-1 with V100, as its NVLink matrix has it.
std::vector<NodeLinks::Pair> dgx1_v100_mesh();

}  // namespace muster
