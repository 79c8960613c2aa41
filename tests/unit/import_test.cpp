#include <gtest/gtest.h>

#include "muster/config.hpp"
#include "topology/draw.hpp"
#include "topology/import/import.hpp"
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
  return s.substr(s.find("node", s.find(": ")));
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
  ASSERT_EQ(nics.notes.size(), 1U);
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

}  // namespace
}  // namespace muster
