#include <gtest/gtest.h>

#include "muster/config.hpp"
#include "topology/draw.hpp"
#include "topology/import/import.hpp"
#include "topology/write.hpp"
#include "topology/json.hpp"

namespace muster {
namespace {

Imported import_text(std::string_view text) {
  const ImportSource source{"f", text};
  return import_topology({&source, 1});
}

/// "node 1 > switch 2 > gpu 2", of the file that comes out, read back.
std::string tree(const Imported& r) {
  const std::string s = describe(topology_from_json(topology_file(r.spec), "out.json"));
  return s.substr(s.find("node", s.find(": ")));  // what is above the node is left off
}

std::string tree(std::string_view text) { return tree(import_text(text)); }

std::string why_not(std::string_view text) {
  try {
    import_text(text);
  } catch (const InputError& e) { return e.what(); }
  return "imported";
}

TEST(ImportNvidiaSmi, ThresholdsMakeLevels) {
  EXPECT_EQ(tree("\tGPU0\tGPU1\tGPU2\tGPU3\tCPU Affinity\n"
                 "GPU0\t X \tPIX\tPHB\tPHB\t0-3\nGPU1\tPIX\t X \tPHB\tPHB\t0-3\n"
                 "GPU2\tPHB\tPHB\t X \tPIX\t0-3\nGPU3\tPHB\tPHB\tPIX\t X \t0-3\n\nLegend:\n"),
            "node 1 > switch 2 > gpu 2");
  // Without a header indent, with the old name of SYS, three levels and one GPU alone.
  EXPECT_EQ(tree("GPU0 GPU1 GPU2 GPU3 GPU4 CPU Affinity\n"
                 "GPU0 X SOC SOC SOC SOC 1\nGPU1 SOC X PHB NODE NODE 0\nGPU2 SOC PHB X NODE NODE 0\n"
                 "GPU3 SOC NODE NODE X PHB 0\nGPU4 SOC NODE NODE PHB X 0\n"),
            "node 1 > numa 2 > bridge 1-2 > gpu 1-2");
}

TEST(ImportNvidiaSmi, NicColumnsThenAffinityShowWhatNvlinkHides) {
  const char* head = "      GPU0 GPU1 GPU2 GPU3 NIC0 NIC1 CPU Affinity NUMA Affinity GPU NUMA ID\n";
  const Imported nics = import_text(std::string("\x1b[4m") + head +
                                    "\x1b[0mGPU0 X NV4 NV4 NV4 PXB SYS 0-3 0 N/A\nGPU1 NV4 X NV4 NV4 PXB SYS 0-3 0 N/A\n"
                                    "GPU2 NV4 NV4 X NV4 SYS PXB 4-7 1 N/A\nGPU3 NV4 NV4 NV4 X SYS PXB 4-7 1 N/A\n"
                                    "NIC0 PXB PXB SYS SYS X SYS\nNIC1 SYS SYS PXB PXB SYS X\n");
  EXPECT_EQ(tree(nics), "node 1 > switch 2 > gpu 2");
  ASSERT_EQ(nics.notes.size(), 2U);
  EXPECT_EQ(nics.notes[0], "nvidia-smi topo -m: NVLink hides where 6 pairs of GPUs meet on PCIe; 6 follow from the other columns");
  const auto all_nvlink = [](const std::string& a, const std::string& b) {
    return "GPU0 GPU1 GPU2 GPU3 CPU Affinity NUMA Affinity\nGPU0 X NV1 NV1 NV1 " + a + "\nGPU1 NV1 X NV1 NV1 " + a + "\nGPU2 NV1 NV1 X NV1 " + b +
           "\nGPU3 NV1 NV1 NV1 X " + b + "\n";
  };
  EXPECT_EQ(tree(all_nvlink("0-3 0", "4-7 1")), "node 1 > numa 2 > gpu 2");
  EXPECT_EQ(tree(all_nvlink("0", "1")), "node 1 > numa 2 > gpu 2") << "CPU column blank";
  EXPECT_EQ(tree(all_nvlink("0-3,8-110", "4-7,12-151")), "node 1 > numa 2 > gpu 2") << "columns run together";
  EXPECT_EQ(tree(all_nvlink("0-7 0-1", "0-7 0-1")), "node 1 > gpu 4");
  EXPECT_EQ(tree(all_nvlink("N/A N/A", "N/A N/A")), "node 1 > gpu 4");
}

TEST(ImportNvidiaSmi, NeighboursAreRenumbered) {
  const Imported r = import_text("GPU0 GPU1 GPU2 GPU3\nGPU0 X SYS PIX SYS\nGPU1 SYS X SYS PIX\nGPU2 PIX SYS X SYS\nGPU3 SYS PIX SYS X\n");
  EXPECT_EQ(tree(r), "node 1 > switch 2 > gpu 2");
  ASSERT_EQ(r.notes.size(), 1U);
  EXPECT_NE(r.notes[0].find("gpu0 to gpu3 are GPU0, GPU2, GPU1, GPU3"), std::string::npos) << r.notes[0];
}

TEST(ImportNvidiaSmi, Refuses) {
  EXPECT_EQ(why_not("GPU0 GPU1 GPU2\nGPU0 X PIX SYS\nGPU1 PIX X PIX\nGPU2 SYS PIX X\n"),
            "f: not a tree (not ultrametric): GPU0 and GPU2 meet at SYS, yet GPU1 meets GPU0 at PIX and GPU2 at PIX");
  EXPECT_EQ(why_not("GPU0 GPU1\nGPU0 X PIX\nGPU1 SYS X\n"), "f: line 3: GPU1 to GPU0 is SYS, but GPU0 to GPU1 is PIX");
  EXPECT_EQ(why_not("GPU0 GPU1\nGPU0 X PIX\n"), "f: row GPU1 is missing");
  EXPECT_EQ(why_not("GPU0 GPU1\nGPU0 X PIX\nGPU1 PIX\n"), "f: line 3: row GPU1 has 1 cell for 2 columns");
  EXPECT_EQ(why_not("GPU0 GPU1\nGPU0 X PIX\nGPU1 PIX PIX\n"), "f: line 3: row GPU1, column GPU1: want X, found \"PIX\"");
  EXPECT_EQ(why_not("GPU0 GPU1\nGPU0 X PIC\nGPU1 PIX X\n"),
            "f: line 2: row GPU0, column GPU1: want X, PIX, PXB, PHB, NODE, SYS, SOC or NV and a number, found \"PIC\"");
  EXPECT_EQ(why_not("").substr(0, 23), "f: empty; want one of: ");
  EXPECT_EQ(why_not("hello\n").substr(0, 28), "f: not a description of a ma");
}

Imported import_texts(std::string_view a, std::string_view b, std::string_view c) {
  const ImportSource sources[] = {{"a", a}, {"b", b}, {"c", c}};
  return import_topology(sources);
}

TEST(ImportSlurm, SwitchesNodesAndSocketsFromThreeFiles) {
  const Imported r = import_texts("SwitchName=s0 Nodes=n[08-09]\nSwitchName=s1 Nodes=n1[0-1] # two\nSwitchName=top Switches=s[0-1]\n",
                                  "NodeName=n[08-11] Name=gpu Type=h100 File=/dev/nvidia[0-1] Cores=0-3\n"
                                  "NodeName=n[08-11] Name=gpu Type=h100 \\\n  File=/dev/nvidia[2-3] Cores=4-7\n",
                                  "ClusterName=x\nNODENAME=n[08-11] CPUs=8 RealMemory=1024 Gres=gpu:h100:4(S:0-1)\n");
  EXPECT_EQ(tree(r), "node 2 > socket 2 > gpu 2");  // behind "spine 1 > leaf 2"
  EXPECT_EQ(r.spec.levels, (std::vector<std::string>{"spine", "leaf", "node", "socket"}));
  ASSERT_EQ(r.spec.kinds.size(), 1U);
  EXPECT_EQ(r.spec.kinds[0].gpu_type, "h100");
  EXPECT_EQ(r.spec.kinds[0].capacity[kCpu], 8000);
  EXPECT_EQ(r.spec.kinds[0].capacity[kMem], 1024);
  ASSERT_EQ(r.spec.top.size(), 1U);
  EXPECT_EQ(r.spec.top[0].children[0].children[0].name, "n08");
  EXPECT_EQ(r.spec.top[0].children[1].children[1].name, "n11");
}

TEST(ImportSlurm, BlocksAndWhatStandsNowhere) {
  const Imported r = import_text("BlockName=b1 Nodes=a[1-2]\nBlockSizes=2\nNodeName=DEFAULT Gres=gpu:2\nNodeName=a[1-3]\n");
  EXPECT_EQ(r.spec.levels, (std::vector<std::string>{"block", "node"}));
  ASSERT_EQ(r.notes.size(), 1U);
  EXPECT_NE(r.notes[0].find("1 node at no switch"), std::string::npos);
}

TEST(ImportSlurm, Refuses) {
  EXPECT_EQ(why_not("NodeName=n[1-3 Gres=gpu:2\n"), "f: line 1: a host list with [ and no ]: \"n[1-3\"");
  EXPECT_EQ(why_not("NodeName=n[3-1] Gres=gpu:2\n"), "f: line 1: a host list with a range that is none: \"3-1\"");
  EXPECT_EQ(why_not("NodeName=n[1-9999999] Gres=gpu:2\n"), "f: line 1: a host list of more than 1,000,000 names");
  EXPECT_EQ(why_not("SwitchName=a Switches=b\nSwitchName=b Switches=a\nNodeName=n Gres=gpu:2\n"),
            "f: line 2: switches nested deeper than 12, or in a ring");
  EXPECT_EQ(why_not("SwitchName=a Switches=b\nNodeName=n Gres=gpu:2\n"), "f: line 1: no switch is called \"b\"");
  EXPECT_EQ(why_not("NodeName=n CPUs=4\n"), "f: no node has GPUs (Gres=gpu:... of slurm.conf, Name=gpu of gres.conf)");
  EXPECT_EQ(why_not("NodeName=n Gres=gpu:3\nNodeName=n Name=gpu File=/dev/nvidia[0-1]\n"),
            "f: node n: slurm.conf states 3 GPUs, gres.conf lists 2");
}

TEST(ImportXml, Nccl) {
  EXPECT_EQ(tree("<!-- a -->\n<system version='1'><cpu numaid='0'><pci busid='f:1' class='0x060400'><pci busid='0:1' class='0x030200'/>"
                 "<pci busid='0:2' class='0x030200'/><pci busid='0:9' class='0x020000'/></pci></cpu><cpu numaid='1'>"
                 "<pci busid='0:3' class='0x030200'/></cpu></system>"),
            "node 1 > switch 2 > gpu 1-2");
  const Imported r = import_text("<system><cpu><pci busid='0:6'/><pci busid='0:7'/></cpu><cpu><pci busid='0:8'/><pci busid='0:9'/><pci busid='0:5'/></cpu></system>");
  EXPECT_EQ(tree(r), "node 1 > numa 2 > gpu 2");
  ASSERT_EQ(r.notes.size(), 1U) << "it says what it took for a network card";
  EXPECT_EQ(why_not("<system><cpu><pci busid='0:9' class='0x020000'/></cpu></system>").substr(0, 15), "f: no GPU in it");
  EXPECT_EQ(why_not("<system><cpu>").substr(0, 30), "f: line 1: not well-formed XML");
}

TEST(ImportXml, HwlocCollapsesChainsOfBridges) {
  const auto gpu = [](const std::string& n) {
    return "<object type='Bridge' bridge_type='1-1'><object type='PCIDev' pci_busid='" + n + "' pci_type='0302 [10de:1]'/></object>";
  };
  const auto chain = [&](const std::string& a, const std::string& b) {
    return "<object type='Bridge' bridge_type='1-1'><object type='Bridge' bridge_type='1-1'>" + gpu(a) + gpu(b) + "</object></object>";
  };
  const auto package = [&](const std::string& a) {
    return "<object type='Package'><object type='NUMANode' local_memory='1048576'/><object type='PU'/><object type='Bridge' bridge_type='0-1'>" +
           chain(a + "1", a + "2") + chain(a + "3", a + "4") + "</object></object>";
  };
  const Imported r = import_text("<?xml version='1.0'?><!DOCTYPE topology SYSTEM 'hwloc2.dtd'><topology version='2.0'><object type='Machine'>" + package("1") +
                                 package("2") + "</object></topology>");
  EXPECT_EQ(tree(r), "node 1 > socket 2 > switch 2 > gpu 2");
  EXPECT_EQ(r.spec.kinds[0].capacity[kCpu], 2000);
  EXPECT_EQ(r.spec.kinds[0].capacity[kMem], 2);
  EXPECT_EQ(why_not("<topology version='2.0'><object type='Machine'/></topology>").substr(0, 15), "f: no GPU in it");
  EXPECT_EQ(why_not("<topology/>").substr(0, 29), "f: hwloc XML of version 1; wa");
  std::string deep = "<topology version='2.0'>";
  for (int i = 0; i < 100'000; i++) deep += "<object type='Group'>";
  for (int i = 0; i < 100'000; i++) deep += "</object>";
  EXPECT_EQ(why_not(deep + "</topology>"), "f: nested deeper than 100");
}

TEST(ImportCsv, OpenbAndLingjun) {
  const Imported r = import_text("sn,cpu_milli,memory_mib,gpu,model\na,32000,1024,0,\nb,96500,2048,2,T4\n");
  ASSERT_EQ(r.spec.kinds.size(), 2U);
  EXPECT_EQ(r.spec.kinds[1].capacity[kCpu], 96500);
  EXPECT_EQ(r.spec.kinds[1].gpu_type, "T4");
  EXPECT_EQ(why_not("sn,cpu_milli,memory_mib,gpu,model\na,x,1,0,\n"),
            "f: line 2: cpu_milli: want a whole number from 0 to 1,000,000,000, found \"x\"");
  // The same ASW label below two PSWs is two switches.
  const Imported l = import_text("ip,DSW,PSW,ASW\nh1,G1,P1,S1\nh2,G1,P2,S1\nh3,G1,P1,S1\n");
  ASSERT_EQ(l.spec.top.size(), 1U);
  ASSERT_EQ(l.spec.top[0].children.size(), 2U);
  EXPECT_EQ(l.spec.top[0].children[0].children[0].children.size(), 2U);
  EXPECT_EQ(l.spec.top[0].children[1].children[0].name, "G1.P2.S1");
  EXPECT_EQ(why_not("ip,DSW,PSW,ASW\nh1,G1,P1\n"), "f: line 2: 3 fields for 4 columns");
}

TEST(ImportKubernetes, LabelsAndQuantities) {
  const auto node = [](const std::string& name, const std::string& labels, const std::string& gpus) {
    return R"({"kind": "Node", "metadata": {"name": ")" + name + R"(", "labels": {)" + labels + R"(}}, "status": {"allocatable": {"cpu": "7900m", "memory": "2097152Ki", "nvidia.com/gpu": ")" + gpus + R"("}}})";
  };
  const std::string product = R"("nvidia.com/gpu.product": "Tesla-T4-SHARED", "nvidia.com/gpu.memory": "15360", "nvidia.com/gpu.replicas": "4")";
  const Imported r = import_text("{\"kind\": \"List\", \"items\": [" + node("a", product + R"(, "topology.kubernetes.io/zone": "z1")", "8") + "," +
                                 node("b", product + R"(, "topology.kubernetes.io/zone": "z2")", "8") + "]}");
  EXPECT_EQ(r.spec.levels, (std::vector<std::string>{"zone", "node"}));
  ASSERT_EQ(r.spec.kinds.size(), 1U);
  EXPECT_EQ(r.spec.kinds[0].gpus, 2U);
  EXPECT_EQ(r.spec.kinds[0].gpu_type, "Tesla-T4");
  EXPECT_EQ(r.spec.kinds[0].gpu_mem_mib, 15360);
  EXPECT_EQ(r.spec.kinds[0].capacity[kCpu], 7900);
  EXPECT_EQ(r.spec.kinds[0].capacity[kMem], 2048);
  EXPECT_EQ(why_not("{\"items\": [" + node("a", "", "many") + "]}"),
            "f: /items/0/status/allocatable/nvidia.com~1gpu: want a quantity such as 8, 7900m or 512Gi, found \"many\"");
  EXPECT_EQ(why_not("{\"items\": [" + node("a", "", "0") + "]}"), "f: no node offers nvidia.com/gpu");
  EXPECT_EQ(why_not("{\"items\": [{}]}"), "f: /items/0: want a Node, found \"nothing\"");
  EXPECT_EQ(why_not("{\"items\": []}"), "f: no node in it");
}

/// Every cut and every changed byte of small files ends in a topology or an InputError.
TEST(Import, DamagedFilesNeverCrash) {
  const std::string_view texts[] = {
      "GPU0 GPU1 NIC0 CPU Affinity\nGPU0 X NV1 PIX 0-3\nGPU1 NV1 X PIX 0-3\nNIC0 PIX PIX X\n",
      "SwitchName=s Nodes=a[1-2]\nNodeName=a[1-2] Gres=gpu:t:2\nNodeName=a[1-2] Name=gpu File=/d[0-1] Cores=1\n",
      "<system><cpu><pci busid='1' class='0x060400'><pci busid='2' class='0x0302'><gpu dev='0'><nvlink target='3' count='2'/></gpu></pci>"
      "<pci busid='3' class='0x0302'/><pci busid='4' class='0x02'/></pci></cpu></system>",
      "<topology version='2.0'><object type='Package'><object type='PCIDev' gp_index='1' pci_type='0302'/>"
      "<object type='PCIDev' gp_index='2' pci_type='0302'/></object><distances2hetero name='NVLinkBandwidth'>"
      "<indexes>PCIDev:1 PCIDev:2</indexes><u64values>0 5 5 0</u64values></distances2hetero></topology>",
      "physicalCluster:\n cellTypes:\n  N: {childCellType: G, childCellNumber: 2, isNodeLevel: true}\n physicalCells:\n "
      "- {cellType: N, cellAddress: a}\n",
      "sn,cpu_milli,memory_mib,gpu,model\na,1,2,3,T4\n",
      "ip,DSW,PSW,ASW\nh1,G1,P1,S1\n",
      R"({"items":[{"kind":"Node","metadata":{"name":"a"},"status":{"capacity":{"nvidia.com/gpu":"2"}}}]})",
  };
  size_t good = 0;
  for (const std::string_view text : texts) {
    good += why_not(text) == "imported";
    for (size_t i = 0; i < text.size(); i++) {
      why_not(text.substr(0, i));
      for (const char c : {'\0', '\n', '9', '[', ']', '<', '"', ' ', '\x1b', '\xff'}) {
        std::string changed(text);
        changed[i] = c;
        why_not(changed);
      }
    }
  }
  EXPECT_EQ(good, std::size(texts));
}

}  // namespace
}  // namespace muster
