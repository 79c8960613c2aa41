// What importers find out about NVLink, slots and network cards.
#include <gmock/gmock.h>

#include "muster/links.hpp"
#include "topology/draw.hpp"
#include "topology/import/import.hpp"
#include "topology/json.hpp"
#include "topology/write.hpp"

namespace muster { namespace {

using NvLink = NodeLinks::NvLink;

Imported import_text(std::string_view text) {
  const ImportSource source{"f", text};
  return import_topology({&source, 1});
}
const NodeLinks& links(const Imported& r) { return r.spec.kinds.at(0).links; }
std::string drawn(const Imported& r) { return draw(topology_from_json(topology_file(r.spec), "n.json")); }

TEST(ImportLinks, NvidiaSmiPairsAndCards) {
  // GPUs 0 and 2 share a switch, so they become gpu0 and gpu1.
  const Imported r = import_text(
      "GPU0 GPU1 GPU2 GPU3 NIC0 NIC1 NIC2\nGPU0 X NV2 PIX SYS PIX SYS SYS\nGPU1 NV2 X SYS PIX SYS PHB SYS\nGPU2 PIX SYS X NV1 PIX SYS SYS\n"
      "GPU3 SYS PIX NV1 X SYS PHB SYS\nNIC0 PIX SYS PIX SYS X SYS SYS\nNIC1 SYS PHB SYS PHB SYS X SYS\nNIC2 SYS SYS SYS SYS SYS SYS X\n");
  EXPECT_EQ(links(r).nvlink, NvLink::pairs);
  EXPECT_EQ(links(r).pairs, (std::vector<NodeLinks::Pair>{{0, 2, 2}, {1, 3, 1}}));
  EXPECT_EQ(links(r).nics, (std::vector<NodeLinks::Nic>{{0, 2, {}}, {2, 4, {}}, {0, 4, {}}})) << "the third is near no GPU in particular";
}

TEST(ImportLinks, MoreNvLinksThanAGpuHasLeadToSwitches) {
  const auto matrix = [](int gpus, const std::string& cell) {
    std::string s, rows;
    for (int i = 0; i < gpus; i++) {
      s += "GPU" + std::to_string(i) + ' ';
      rows += "GPU" + std::to_string(i);
      for (int j = 0; j < gpus; j++) rows += i == j ? " X" : ' ' + cell;
      rows += '\n';
    }
    return s + '\n' + rows;
  };
  const Imported eight = import_text(matrix(8, "NV18")), two = import_text(matrix(2, "NV12")), four = import_text(matrix(4, "NV4")),
                 none = import_text(matrix(4, "SYS"));
  EXPECT_EQ(links(eight).nvlink, NvLink::all);
  EXPECT_EQ(links(eight).nvlink_rate.mb_s, 450'000);
  EXPECT_EQ(links(two).nvlink, NvLink::pairs) << "a bridge of 12 links";
  EXPECT_EQ(links(four).nvlink, NvLink::pairs) << "three times four links are what an A100 has";
  EXPECT_EQ(links(four).pairs.size(), 6U);
  EXPECT_EQ(links(none).nvlink, NvLink::none);
  EXPECT_FALSE(links(none).states_nics);
}

TEST(ImportLinks, NcclSlotsCardsAndNvLink) {
  const auto gpu = [](const std::string& bus, int dev, const std::string& inside) {
    return "<pci busid='" + bus + "' class='0x030200' link_speed='16.0 GT/s PCIe' link_width='16'><gpu dev='" + std::to_string(dev) +
           "' sm='80'>" + inside + "</gpu></pci>";
  };
  const std::string nic = "<pci busid='9' class='0x020700'><nic><net name='mlx5_0' speed='200000'/></nic></pci>";
  const Imported bridge = import_text("<system><cpu numaid='0'><pci busid='s' class='0x060400'>" +
                                      gpu("1", 0, "<nvlink target='2' count='4' tclass='0x030200'/>") +
                                      gpu("2", 1, "<nvlink target='1' count='4' tclass='0x030200'/>") + nic +
                                      "</pci></cpu><cpu numaid='1'>" + gpu("3", 2, "") + gpu("4", 3, "") + "</cpu></system>");
  EXPECT_EQ(links(bridge).uplinks, (std::vector<NodeLinks::Uplink>{{"gpu", {32'000, 0}}}));
  EXPECT_EQ(links(bridge).pairs, (std::vector<NodeLinks::Pair>{{0, 1, 1}}));
  EXPECT_EQ(links(bridge).nvlink_rate.mb_s, 100'000);
  EXPECT_EQ(links(bridge).nics, (std::vector<NodeLinks::Nic>{{0, 2, {25'000, 0}}}));
  const std::string to_switch = "<nvlink target='7' count='6' tclass='0x068000'/><nvlink target='8' count='6' tclass='0x068000'/>";
  const Imported switched = import_text("<system><cpu>" + gpu("1", 0, to_switch) + gpu("2", 1, to_switch) + nic + "</cpu></system>");
  EXPECT_EQ(links(switched).nvlink, NvLink::all);
  EXPECT_EQ(links(switched).nvlink_rate.mb_s, 300'000);
}

TEST(ImportLinks, HwlocBandwidthMatrix) {
  const auto gpu = [](int id) {
    return "<object type='PCIDev' gp_index='" + std::to_string(id) + "' pci_busid='" + std::to_string(id) +
           "' pci_type='0302 [10de:1]'><object type='OSDev' gp_index='" + std::to_string(id + 100) + "' name='nvml" + std::to_string(id) +
           "'/></object>";
  };
  const std::string file =
      "<topology version='2.0'><object type='Machine'><object type='Package' gp_index='50'>" + gpu(0) + gpu(1) +
      "</object><object type='Package' gp_index='51'>" + gpu(2) + gpu(3) +
      "</object></object><distances2hetero nbobjs='5' name='NVLinkBandwidth'>"
      "<indexes length='1'>OSDev:100 OSDev:101 </indexes><indexes length='1'>OSDev:102 OSDev:103 Package:50 </indexes>";
  const Imported r = import_text(file +
                                 "<u64values>1000000 40000 0 0 40000 40000 1000000 0 0 0</u64values><u64values>0 0 1000000 80000 0 0 0 "
                                 "80000 1000000 0 40000 0 0 0 0</u64values></distances2hetero></topology>");
  EXPECT_EQ(drawn(r), R"(n   1 node, 4 GPUs: node 1 > socket 2 > gpu 2
`- n0                      4 GPUs
   |- socket0              gpu0 gpu1
   `- socket1              gpu2 gpu3
nvlink: 0-1 2-3x2, 40 GB/s a link
)");
  try {
    import_text(file + "<u64values>1 2 3</u64values></distances2hetero></topology>");
    ADD_FAILURE();
  } catch (const InputError& e) { EXPECT_STREQ(e.what(), "f: NVLinkBandwidth: 3 values for 5 objects"); }
}

TEST(ImportLinks, SlurmLinksAreNvLinks) {
  // Four GPUs, two of each socket in turn, so that 0 and 2 become gpu0 and gpu1.
  const Imported r = import_text(
      "NodeName=n Name=gpu File=/dev/nvidia0 Cores=0-3 Links=-1,0,4,1\nNodeName=n Name=gpu File=/dev/nvidia1 Cores=4-7 Links=0,-1,0,4\n"
      "NodeName=n Name=gpu File=/dev/nvidia2 Cores=0-3 Links=4,0,-1,0\nNodeName=n Name=gpu File=/dev/nvidia3 Cores=4-7 Links=1,4,0,-1\n");
  EXPECT_EQ(links(r).nvlink, NvLink::pairs);
  EXPECT_EQ(links(r).pairs, (std::vector<NodeLinks::Pair>{{0, 1, 4}, {0, 3, 1}, {2, 3, 4}}));
  EXPECT_EQ(links(import_text("NodeName=n Name=gpu File=/dev/nvidia[0-1]\n")).nvlink, NvLink::unstated);
}

TEST(ImportLinks, KubernetesAsYaml) {
  const Imported r = import_text(R"(apiVersion: v1
items:
- apiVersion: v1
  kind: Node
  metadata:
    name: a
    labels:
      nvidia.com/gpu.product: NVIDIA-A100-SXM4-80GB
      nvidia.com/gpu.memory: "81920"
      nvidia.com/cuda.driver.major: "535"
      nvidia.com/cuda.driver.minor: "104"
      nvidia.com/cuda.driver.rev: "05"
      nvidia.com/cuda.runtime.major: "12"
      nvidia.com/cuda.runtime.minor: "2"
  status:
    allocatable:
      cpu: 127500m
      memory: 1048576Ki
      nvidia.com/gpu: "8"
kind: List
)");
  ASSERT_EQ(r.spec.kinds.size(), 1U);
  EXPECT_EQ(r.spec.kinds[0].gpus, 8U);
  EXPECT_EQ(r.spec.kinds[0].gpu_mem_mib, 81'920);
  EXPECT_EQ(r.spec.kinds[0].capacity[kCpu], 127'500);
  EXPECT_EQ(r.spec.kinds[0].capacity[kMem], 1'024);
}

}}  // namespace muster
