// hwloc's XML, version 2: PCI trees below packages, and the matrix of NVLink bandwidths.
#include <algorithm>
#include <map>

#include "text/numbers.hpp"
#include "topology/import/machine.hpp"

namespace muster::import {
namespace {

struct Hwloc {
  const ImportSource& source;
  Machine machine;
  int64_t cpus = 0, memory = 0;
  std::map<std::string, uint32_t> gpu_of;  // "OSDev:12", by the device's number in the file

  void object(pugi::xml_node n, int depth) {
    if (depth > kDeepestXml) fail(source, "nested deeper than " + std::to_string(kDeepestXml));
    const std::string_view type = attribute(n, "type");
    if (type == "PU") cpus++;
    if (type == "NUMANode") memory += std::max(0LL, n.attribute("local_memory").as_llong());
    if (type == "PCIDev") {
      if (device(n)) return;
      const std::string_view pci = attribute(n, "pci_type");
      if (pci.starts_with("0200") || pci.starts_with("0207")) machine.add_card(0);
    }
    const bool opens = type == "Package" || type == "Group" || type == "Die" || type == "Bridge";
    if (type == "Package") machine.open(Container::socket);
    else if (type == "Group" || type == "Die") machine.open(Container::numa);
    else if (type == "Bridge") machine.open(attribute(n, "bridge_type").starts_with("0-") ? Container::bridge : Container::pci);
    for (const pugi::xml_node child : n.children("object")) object(child, depth + 1);
    if (opens) machine.close();
  }

  /// Adds the device when it is a GPU: a 3D controller, or a display that a compute runtime or NVML knows.
  bool device(pugi::xml_node n) {
    const std::string_view type = attribute(n, "pci_type");
    MachineGpu gpu{std::string(attribute(n, "pci_busid")), -1, "", 0};
    bool known = type.starts_with("0302");
    for (const pugi::xml_node os : n.children("object")) {
      const std::string_view name = attribute(os, "name");
      for (const std::string_view stem : {"nvml", "cuda", "rsmi"})
        if (name.starts_with(stem)) {
          known = true;
          const auto number = whole_number(name.substr(stem.size()));
          if (number && gpu.number < 0) gpu.number = *number;
          for (const pugi::xml_node info : os.children("info"))
            if (attribute(info, "name") == "GPUModel" && gpu.type.empty()) gpu.type = attribute(info, "value");
        }
    }
    if (!known) return false;
    gpu_of.emplace("PCIDev:" + std::string(attribute(n, "gp_index")), uint32_t(machine.gpus().size()));
    for (const pugi::xml_node os : n.children("object"))
      gpu_of.emplace("OSDev:" + std::string(attribute(os, "gp_index")), uint32_t(machine.gpus().size()));
    machine.add(std::move(gpu));
    return true;
  }

  /// <distances2hetero name="NVLinkBandwidth">: a square of MB/s over the objects of <indexes>, both cut into several elements.
  void nvlink(pugi::xml_node n) {
    std::vector<std::string> objects;
    std::vector<int64_t> values;
    for (const pugi::xml_node i : n.children("indexes"))
      for (const std::string_view w : words(i.text().as_string()))
        objects.push_back((w.find(':') == w.npos ? std::string(attribute(n, "type")) + ":" : "") + std::string(w));
    for (const pugi::xml_node v : n.children("u64values"))
      for (const std::string_view w : words(v.text().as_string()))
        values.push_back(std::clamp<int64_t>(whole_number(w).value_or(0), 0, 1'000'000'000));
    if (values.size() != objects.size() * objects.size())
      fail(source, "NVLinkBandwidth: " + with_commas(int64_t(values.size())) + " values for " + plural(objects.size(), "object"));
    for (size_t i = 0; i < objects.size(); i++) {
      const auto from = gpu_of.find(objects[i]);
      if (from == gpu_of.end()) continue;
      for (size_t j = 0; j < objects.size(); j++) {
        const int64_t mb_s = values[i * objects.size() + j];
        if (mb_s == 0 || i == j) continue;
        // A PCI device that is no GPU is an NVSwitch; a package is the other end of the links of POWER.
        if (const auto to = gpu_of.find(objects[j]); to != gpu_of.end()) machine.add_nvlink(from->second, to->second, mb_s);
        else if (objects[j].starts_with("PCIDev:")) machine.add_nvlink(from->second, kNone, mb_s);
      }
    }
  }
};

}  // namespace

bool is_hwloc(std::string_view text) { return root_of(text) == "topology"; }

Imported read_hwloc(Sources sources) {
  pugi::xml_document document;
  parse_xml(sources[0], document);
  const pugi::xml_node topology = document.child("topology");
  if (!topology.attribute("version")) fail(sources[0], "hwloc XML of version 1; want version 2 (export it with hwloc 2)");
  Hwloc reader{sources[0], {}, 0, 0, {}};
  for (const pugi::xml_node n : topology.children("object")) reader.object(n, 1);
  for (const char* kind : {"distances2hetero", "distances2"})
    for (const pugi::xml_node n : topology.children(kind))
      if (attribute(n, "name") == "NVLinkBandwidth") reader.nvlink(n);
  NodeKind kind;
  if (reader.cpus > 0) kind.capacity[kCpu] = reader.cpus * kMilli, kind.limits_cpu = true;
  if (reader.memory > 0) kind.capacity[kMem] = reader.memory >> 20U, kind.limits_mem = true;
  return reader.machine.imported(sources[0], std::move(kind), "a PCIDev of type 0302, or with an OSDev nvml, cuda or rsmi");
}

}  // namespace muster::import
