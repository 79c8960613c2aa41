#include <gmock/gmock.h>

#include "muster/config.hpp"
#include "topology/draw.hpp"
#include "topology/import/import.hpp"
#include "topology/json.hpp"
#include "topology/write.hpp"

namespace muster { namespace {

Imported import_text(std::string_view text) {
  const ImportSource source{"f", text};
  return import_topology({&source, 1});
}

Topology built(const Imported& r) { return topology_from_json(topology_file(r.spec), "out.json"); }

std::string why_not(std::string_view text) {
  try {
    import_text(text);
  } catch (const InputError& e) { return e.what(); }
  return "imported";
}

const std::string kTypes = R"(physicalCluster:
  cellTypes:
    SWITCH: {childCellType: V100, childCellNumber: 2}
    SOCKET: {childCellType: SWITCH, childCellNumber: 2}
    NODE: {childCellType: SOCKET, childCellNumber: 2, isNodeLevel: true}
    PAIR: {childCellType: NODE, childCellNumber: 2}
    T4-NODE: {childCellType: T4, childCellNumber: 4, isNodeLevel: true}
)";

TEST(ImportHived, CellsBecomeDomains) {
  const Imported r = import_text(kTypes + R"(  skuTypes:
    V100: {gpu: 1, cpu: 5, memory: 64Gi}
  physicalCells:
  - {cellType: PAIR, cellChildren: [{cellAddress: a}, {cellAddress: b}]}
  - {cellType: NODE, cellAddress: c}
  - {cellType: T4-NODE, cellAddress: 7}
virtualClusters: {VC1: {virtualCells: [{cellType: PAIR.NODE, cellNumber: 1}]}}
)");
  const Topology t = built(r);
  EXPECT_EQ(t.levels(), (std::vector<std::string>{"group", "node", "socket", "switch"}));
  EXPECT_EQ(t.nodes(), 4U);
  EXPECT_EQ(t.gpus(), 28U);
  EXPECT_EQ(t.domains(0)[0].name, "PAIR");
  EXPECT_EQ(t.domains(0)[0].node_end, 2U);
  EXPECT_EQ(t.node_name(3), "7") << "an address is text, whatever it looks like";
  EXPECT_EQ(t.kind(0).gpu_type, "V100");
  EXPECT_EQ(t.kind(0).capacity[kCpu], 40 * kMilli);
  EXPECT_EQ(t.kind(0).capacity[kMem], 8 * 65'536);
  EXPECT_FALSE(t.kind(3).limits_cpu);
  EXPECT_EQ(t.domains(3).size(), 3 * 4U + 1);
}

TEST(ImportHived, AListOfChildrenIsWhatThereIs) {
  const Imported r = import_text(kTypes + R"(  physicalCells:
  - cellType: NODE
    cellAddress: a
    cellChildren:
    - cellChildren: [{cellChildren: [{cellAddress: 3}, {cellAddress: 1}]}, {}]
)");
  const Topology t = built(r);
  EXPECT_EQ(describe(t), "1 node, 4 GPUs: node 1 > socket 1 > switch 2 > gpu 2") << "one socket is missing";
  ASSERT_EQ(r.notes.size(), 1U);
  EXPECT_THAT(r.notes[0], testing::HasSubstr("GPUs of 1 node are renumbered"));
}

TEST(ImportHived, LevelsThatAreNoPlaceAreCalledByTheirSize) {
  const Imported r = import_text(R"(physicalCluster:
  cellTypes:
    TWO: {childCellType: A100, childCellNumber: 2}
    EIGHT: {childCellType: TWO, childCellNumber: 4, isNodeLevel: true}
  physicalCells:
  - {cellType: EIGHT, cellAddress: x}
  - {cellType: EIGHT, cellAddress: x}
)");
  EXPECT_EQ(r.spec.levels, (std::vector<std::string>{"node", "2-gpu"}));
  EXPECT_EQ(r.spec.top[1].name, "x.2");
  ASSERT_EQ(r.notes.size(), 1U);
  EXPECT_THAT(r.notes[0], testing::HasSubstr("\"x\" stands in several cells"));
}

TEST(ImportHived, Refuses) {
  const std::string cells = "  physicalCells:\n  - {cellType: ";
  const std::pair<std::string, const char*> kTable[] = {
      {"physicalCluster:\n", "f: no physicalCluster in this HiveD configuration, hence no GPU"},
      {kTypes, "f: /physicalCluster: want physicalCells"},
      {kTypes + cells + "NODES}\n", "f: /physicalCluster/physicalCells/0/cellType: no cell type is called \"NODES\"; did you mean NODE?"},
      {kTypes + cells + "V100}\n", "f: /physicalCluster/physicalCells/0/cellType: no cell type is called \"V100\""},
      {kTypes + cells + "SWITCH}\n", "f: /physicalCluster/physicalCells/0/cellType: cell type \"SWITCH\" is no node and has none"},
      {kTypes + "    PAIR: {}\n", "f: /physicalCluster/cellTypes: key \"PAIR\" is given twice"},
      {"physicalCluster:\n  cellTypes:\n    A: {childCellType: B}\n    B: {childCellType: A}\n",
       "f: /physicalCluster/cellTypes/A: cell types nested deeper than 16, or in a ring"},
      {"physicalCluster:\n  cellTypes:\n    A: {childCellType: G, childCellNumber: 0}\n",
       "f: /physicalCluster/cellTypes/A/childCellNumber: want a whole number from 1"},
      {"physicalCluster:\n  cellTypes:\n    A: {childCellType: G, isNodeLevel: true}\n    B: {childCellType: A, isNodeLevel: true}\n",
       "f: /physicalCluster/cellTypes/B: isNodeLevel of a cell type that has nodes in it"},
      {"physicalCluster:\n  cellTypes:\n    A: {childCellType: G, childCellNumber: 1000000}\n    B: {childCellType: A, childCellNumber: "
       "1000000}\n",
       "f: /physicalCluster/cellTypes/B: a cell type of more than 1,000,000 leaf cells"},
      {"physicalCluster:\n  cellTypes:\n    A: {childCellType: G, childCellNumber: 20000, isNodeLevel: true}\n" + cells + "A}\n",
       "f: /physicalCluster/physicalCells/0: a node has at most 16,384 GPUs"},
      {"physicalCluster: [\n", "f: line "},
      {"jobVC: VC1\njobName: x\n---\nphysicalCluster:\n  leafCellTypes: {}\n", "f: a job request for HiveD"},
      {"# none\n\n", "f: nothing but remarks, hence no GPU"},
      {"switches:\n  a: {switches: [b]}\nblocks:\n- switch: b\n  nodes: [\"n[1-2]\"]\n", "f: a topograph model"},
      {"version: \"1.0\"\ndevice_defaults:\n  name: x\n", "f: a profile for mock NVML"},
      {"+----+\n| NVIDIA-SMI 550.54   Driver Version: 550.54 |\n", "f: nvidia-smi without the topology"},
      {"GPU 0: Tesla T4 (UUID: GPU-1)\n", "f: nvidia-smi without the topology"},
      {"\xff\xfeG\0P\0", "f: UTF-16"},
  };
  for (const auto& [text, message] : kTable) EXPECT_THAT(why_not(text), testing::StartsWith(message)) << text;
}

}}  // namespace muster
