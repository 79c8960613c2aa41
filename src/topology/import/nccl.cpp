// NCCL's topology XML: PCI trees below NUMA nodes.
#include <algorithm>
#include <map>
#include <tuple>

#include "text/numbers.hpp"
#include "topology/import/machine.hpp"

namespace muster::import {
namespace {

/// "16 GT/s" or "32.0 GT/s PCIe" times "16": MB/s, a byte for 8 transfers; 0 when it is not told.
int64_t slot_mb_s(pugi::xml_node n) {
  std::string_view speed = attribute(n, "link_speed");
  speed = speed.substr(0, speed.find(' '));
  const auto gt = scaled_decimal(speed, 1000, Round::down), width = scaled_decimal(attribute(n, "link_width"), 1, Round::down);
  return gt && width && *gt > 0 && *gt <= 1'000'000 && *width > 0 && *width <= 64 ? *gt * *width / 8 : 0;
}

struct Nccl {
  const ImportSource& source;
  Machine machine;
  bool classes = false;  // some device states its class
  std::string last_bus;  // of the last one counted as a GPU, without classes
  size_t taken_for_nics = 0;
  std::vector<std::tuple<uint32_t, std::string, int64_t, bool>> nvlinks;  // from a GPU to an address; whether that is a switch

  void gpu(pugi::xml_node n, const std::string& bus) {
    const pugi::xml_node gpu = n.child("gpu");
    constexpr int64_t kNvLink1 = 20'000, kNvLink = 25'000, kNvLink5 = 50'000;  // MB/s of one, by compute capability
    const int sm = gpu.attribute("sm").as_int(80);
    for (const pugi::xml_node l : gpu.children("nvlink")) {
      const int64_t count = std::clamp(l.attribute("count").as_int(1), 0, 1000);
      nvlinks.emplace_back(uint32_t(machine.gpus().size()), attribute(l, "target"),
                           count * (sm >= 100 ? kNvLink5
                                    : sm < 70 ? kNvLink1
                                              : kNvLink),
                           attribute(l, "tclass").starts_with("0x0680"));
    }
    machine.add({bus, gpu.attribute("dev") ? gpu.attribute("dev").as_int(-1) : -1, "", slot_mb_s(n)});
  }

  void card(pugi::xml_node nic) {
    int64_t mbit = 0;  // of its ports
    for (const pugi::xml_node net : nic.children("net")) mbit += std::clamp(net.attribute("speed").as_int(0), 0, 10'000'000);
    machine.add_card(mbit / 8);
  }

  void pci(pugi::xml_node n, int depth) {
    if (depth > kDeepestXml) fail(source, "nested deeper than " + std::to_string(kDeepestXml));
    const std::string_view kind = attribute(n, "class");
    const std::string bus(attribute(n, "busid"));
    if (bus.empty()) fail(source, "a <pci> without a busid");
    if (n.child("gpu") || kind.starts_with("0x0302") || kind.starts_with("0x0300")) return gpu(n, bus);
    if (n.child("nic") || kind.starts_with("0x02")) return card(n.child("nic"));
    if (!classes && !n.child("pci")) {
      // Addresses of GPUs ascend; a step back is the network card.
      if (bus < last_bus) return taken_for_nics++, machine.add_card(0);
      last_bus = bus;
      return gpu(n, bus);
    }
    machine.open(Container::pci);
    for (const pugi::xml_node child : n.children("pci")) pci(child, depth + 1);
    machine.close();
  }

  /// Targets are addresses, known when all GPUs are.
  void join() {
    std::map<std::string, uint32_t> at;
    for (uint32_t g = 0; g < machine.gpus().size(); g++) at.emplace(machine.gpus()[g].bus, g);
    for (const auto& [from, target, mb_s, to_switch] : nvlinks) {
      if (mb_s == 0) continue;
      if (to_switch) machine.add_nvlink(from, kNone, mb_s);
      else if (const auto it = at.find(target); it != at.end()) machine.add_nvlink(from, it->second, mb_s);
    }
  }
};

bool any_class(pugi::xml_node n, int depth) {
  if (n.attribute("class") || n.child("gpu")) return true;
  for (const pugi::xml_node child : n.children())
    if (depth < kDeepestXml && any_class(child, depth + 1)) return true;
  return false;
}

}  // namespace

bool is_nccl(std::string_view text) { return root_of(text) == "system"; }

Imported read_nccl(Sources sources) {
  pugi::xml_document document;
  parse_xml(sources[0], document);
  const pugi::xml_node system = document.child("system");
  if (!system.child("cpu")) fail(sources[0], "no <cpu> in <system>");
  Nccl reader{sources[0], {}, any_class(system, 0), {}, 0, {}};
  for (const pugi::xml_node cpu : system.children("cpu")) {
    reader.machine.open(Container::numa);
    for (const pugi::xml_node n : cpu.children("pci")) reader.pci(n, 1);
    for (const pugi::xml_node n : cpu.children("nic")) reader.card(n);
    reader.machine.close();
  }
  reader.join();
  Imported r = reader.machine.imported(sources[0], {}, "<pci> of class 0x0302 or 0x0300, or with a <gpu>");
  if (!reader.classes)
    r.notes.push_back("no device states its class; " + plural(reader.machine.gpus().size(), "device") +
                      " with ascending PCI addresses count as GPUs, " + std::to_string(reader.taken_for_nics) +
                      " out of that order as network cards");
  return r;
}

}  // namespace muster::import
