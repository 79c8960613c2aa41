#include "topology/link_defaults.hpp"

#include <algorithm>
#include <cctype>

namespace muster {
namespace {

// Rates per direction. PCIe x16: 16, 32, 64 GB/s nominal by generation. Between sockets: two QPI of 9.6 GT/s, two UPI of 10.4 GT/s, three
// UPI of 16 GT/s, two bytes a transfer. Latencies are half of what two GPUs see of each other: 5 microseconds over PCIe, 8 over InfiniBand
// and its two slots.
struct Generation {
  LinkRate slot, socket;
};
constexpr Generation kPcie3{{16'000, 2'500}, {38'400, 500}};
constexpr Generation kPcie4{{32'000, 2'500}, {41'600, 500}};
constexpr Generation kPcie5{{64'000, 2'500}, {96'000, 500}};
constexpr LinkRate kEthernet10{1'250, 10'000};

/// A family of GPUs; the first row whose words are all in the name counts.
struct Family {
  std::string_view word, also;
  const Generation* pcie;
  LinkRate nvlink;  // of one GPU to a switch; mb_s 0: none
  LinkRate nic;     // of one card; mb_s 0: one 10 GbE a node
  uint32_t gpus_per_nic;
};
constexpr int64_t kNvLinkNs = 3'000, kInfiniBandNs = 1'500;
constexpr Family kFamilies[] = {
    {"A100", "PCI", &kPcie4, {}, {}, 0},
    {"H100", "PCI", &kPcie5, {}, {}, 0},
    {"V100", "PCI", &kPcie3, {}, {}, 0},
    {"H100 NVL", "", &kPcie5, {}, {}, 0},
    {"H200 NVL", "", &kPcie5, {}, {}, 0},
    {"GB200", "", &kPcie5, {900'000, kNvLinkNs}, {50'000, kInfiniBandNs}, 1},
    {"GB300", "", &kPcie5, {900'000, kNvLinkNs}, {100'000, kInfiniBandNs}, 1},
    {"B300", "", &kPcie5, {900'000, kNvLinkNs}, {100'000, kInfiniBandNs}, 1},
    {"B200", "", &kPcie5, {900'000, kNvLinkNs}, {50'000, kInfiniBandNs}, 1},
    {"H200", "", &kPcie5, {450'000, kNvLinkNs}, {50'000, kInfiniBandNs}, 1},
    {"H20", "", &kPcie5, {450'000, kNvLinkNs}, {50'000, kInfiniBandNs}, 1},
    {"H100", "", &kPcie5, {450'000, kNvLinkNs}, {50'000, kInfiniBandNs}, 1},
    {"H800", "", &kPcie5, {200'000, kNvLinkNs}, {50'000, kInfiniBandNs}, 1},
    {"A100", "", &kPcie4, {300'000, kNvLinkNs}, {25'000, kInfiniBandNs}, 1},
    {"A800", "", &kPcie4, {200'000, kNvLinkNs}, {25'000, kInfiniBandNs}, 1},
    {"V100", "SXM3", &kPcie3, {150'000, kNvLinkNs}, {12'500, kInfiniBandNs}, 2},
    {"V100", "SXM2", &kPcie3, {25'000, kNvLinkNs}, {12'500, kInfiniBandNs}, 2},
    {"L40", "", &kPcie4, {}, {}, 0},
    {"L4", "", &kPcie4, {}, {}, 0},
    {"A10", "", &kPcie4, {}, {}, 0},
    {"A30", "", &kPcie4, {}, {}, 0},
    {"A40", "", &kPcie4, {}, {}, 0},
    {"A6000", "", &kPcie4, {}, {}, 0},
    {"3090", "", &kPcie4, {}, {}, 0},
    {"4090", "", &kPcie4, {}, {}, 0},
    {"5090", "", &kPcie5, {}, {}, 0},
    {"6000", "BLACKWELL", &kPcie5, {}, {}, 0},
    {"", "", &kPcie3, {}, {}, 0},
};

const Family& family_of(std::string_view gpu_type) {
  std::string name(gpu_type);
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return char(std::toupper(c)); });
  return *std::find_if(std::begin(kFamilies), std::end(kFamilies),
                       [&](const Family& f) { return name.find(f.word) != name.npos && name.find(f.also) != name.npos; });
}

}  // namespace

std::vector<NodeLinks::Nic> spread_nics(uint32_t count, uint32_t gpus, LinkRate rate) {
  std::vector<NodeLinks::Nic> nics;
  for (uint64_t i = 0; i < count; i++) {
    const auto begin = uint32_t(i * gpus / count), end = uint32_t((i + 1) * gpus / count);
    nics.push_back({begin, gpus ? std::max(end, begin + 1) : 0, rate});
  }
  return nics;
}

std::vector<NodeLinks::Pair> dgx1_v100_mesh() {
  return {{0, 1, 1}, {0, 2, 1}, {0, 3, 2}, {0, 4, 2}, {1, 2, 2}, {1, 3, 1}, {1, 5, 2}, {2, 3, 2},
          {2, 6, 1}, {3, 7, 1}, {4, 5, 1}, {4, 6, 1}, {4, 7, 2}, {5, 6, 2}, {5, 7, 1}, {6, 7, 2}};
}

NodeLinks usual_links(std::string_view gpu_type, uint32_t gpus) {
  const Family& f = family_of(gpu_type);
  NodeLinks n;
  n.uplinks = {{"gpu", f.pcie->slot}, {"switch", f.pcie->slot}, {"socket", f.pcie->socket}};
  n.nvlink = NodeLinks::NvLink::none;
  n.nvlink_rate = f.nvlink;
  if (f.also == "SXM2" && gpus == 8) n.nvlink = NodeLinks::NvLink::pairs, n.pairs = dgx1_v100_mesh();
  else if (f.nvlink.mb_s && f.also != "SXM2") n.nvlink = NodeLinks::NvLink::all;
  n.states_nics = true;
  if (f.nic.mb_s && gpus > 1) n.nics = spread_nics((gpus + f.gpus_per_nic - 1) / f.gpus_per_nic, gpus, f.nic);
  else n.nics = spread_nics(1, gpus, kEthernet10);
  return n;
}

}  // namespace muster
