// NCCL's topology XML and hwloc's XML 2: PCI trees below NUMA nodes or packages.
#include <algorithm>
#include <numeric>
#include <pugixml.hpp>

#include "muster/config.hpp"
#include "text/numbers.hpp"
#include "topology/import/readers.hpp"
#include "topology/import/shape.hpp"
#include "workload/message.hpp"

namespace muster::import {
namespace {

constexpr int kDeepest = 100;
constexpr size_t kMostGpus = 16'384;

/// The name of the root element, or nothing when this is no XML.
std::string_view root_of(std::string_view text) {
  text = trim(text);
  if (text.substr(0, 3) == "\xef\xbb\xbf") text.remove_prefix(3);
  while (!text.empty() && text[0] == '<') {
    if (text.substr(0, 4) == "<!--") {
      const size_t end = text.find("-->");
      if (end == std::string_view::npos) return {};
      text = trim(text.substr(end + 3));
    } else if (text.substr(0, 2) == "<?" || text.substr(0, 2) == "<!") {
      const size_t end = text.find('>');
      if (end == std::string_view::npos) return {};
      text = trim(text.substr(end + 1));
    } else {
      return text.substr(1, std::min(text.find_first_of(" \t\r\n/>"), text.size()) - 1);
    }
  }
  return {};
}

void parse(const ImportSource& source, pugi::xml_document& document) {
  const pugi::xml_parse_result r = document.load_buffer(source.text.data(), source.text.size());
  if (r) return;
  const size_t at = std::min(size_t(std::max(r.offset, ptrdiff_t{0})), source.text.size());
  fail(source, size_t(std::count(source.text.begin(), source.text.begin() + long(at), '\n')) + 1, std::string("not well-formed XML: ") + r.description());
}

struct Gpu {
  std::string bus;
  int64_t number = -1;  ///< as the driver counts, or -1
  std::string type;
};

/// A tree of containers with GPUs in the order found; numbered by the driver when it says so for all, else by PCI address.
struct Machine {
  std::vector<Gpu> gpus;
  std::vector<Container> containers;

  size_t open(Container::Kind kind) { return containers.push_back({kind, {uint32_t(gpus.size())}}), containers.size() - 1; }
  void close(size_t c) {
    const uint32_t first = containers[c].gpus[0];
    containers[c].gpus.resize(gpus.size() - first);
    std::iota(containers[c].gpus.begin(), containers[c].gpus.end(), first);
  }

  void number_gpus() {
    std::vector<uint32_t> order(gpus.size()), number(gpus.size());
    std::iota(order.begin(), order.end(), 0U);
    const bool told = std::all_of(gpus.begin(), gpus.end(), [](const Gpu& g) { return g.number >= 0; });
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return told ? gpus[a].number < gpus[b].number : gpus[a].bus < gpus[b].bus; });
    for (uint32_t i = 0; i < order.size(); i++) number[order[i]] = i;
    for (Container& c : containers)
      for (uint32_t& g : c.gpus) g = number[g];
  }

  /// The one node of the spec; `kind` has all but the GPUs.
  Imported imported(const ImportSource& source, NodeKind kind, const std::string& what) {
    if (gpus.empty()) fail(source, "no GPU in it (" + what + ")");
    if (gpus.size() > kMostGpus) fail(source, "a node has at most 16,384 GPUs, found " + with_commas(int64_t(gpus.size())));
    number_gpus();
    NodeShape shape = node_shape(uint32_t(gpus.size()), containers);
    Imported r;
    if (shape.renumbered()) r.notes.push_back(renumbering(shape));
    r.spec.levels = {"node"};
    r.spec.levels.insert(r.spec.levels.end(), shape.levels.begin(), shape.levels.end());
    kind.gpus = uint32_t(gpus.size());
    const bool one_type = std::all_of(gpus.begin(), gpus.end(), [&](const Gpu& g) { return g.type == gpus[0].type; });
    if (one_type) kind.gpu_type = gpus[0].type;
    else r.notes.push_back("GPUs of different types in one node; the type is left out");
    kind_of(r.spec, std::move(kind));
    r.spec.top.push_back(std::move(shape.node));
    return r;
  }
};

std::string_view attribute(pugi::xml_node n, const char* name) { return n.attribute(name).as_string(); }
bool begins(std::string_view s, std::string_view with) { return s.substr(0, with.size()) == with; }

// NCCL

struct Nccl {
  const ImportSource& source;
  Machine machine;
  bool classes = false;     // some device states its class
  std::string last_bus;     // of the last one counted as a GPU, without classes
  size_t taken_for_nics = 0;

  void pci(pugi::xml_node n, int depth) {
    if (depth > kDeepest) fail(source, "nested deeper than " + std::to_string(kDeepest));
    const pugi::xml_node gpu = n.child("gpu");
    const std::string_view kind = attribute(n, "class");
    const std::string bus(attribute(n, "busid"));
    if (bus.empty()) fail(source, "a <pci> without a busid");
    if (gpu || begins(kind, "0x0302") || begins(kind, "0x0300")) {
      return machine.gpus.push_back({bus, gpu.attribute("dev") ? gpu.attribute("dev").as_int(-1) : -1, ""});
    }
    if (!classes && !n.child("pci") && !n.child("nic")) {
      // Addresses of GPUs ascend; a step back is the network card.
      if (bus < last_bus) return void(taken_for_nics++);
      last_bus = bus;
      return machine.gpus.push_back({bus, -1, ""});
    }
    const size_t c = machine.open(Container::pci);
    for (const pugi::xml_node child : n.children("pci")) pci(child, depth + 1);
    machine.close(c);
  }
};

bool any_class(pugi::xml_node n, int depth) {
  if (n.attribute("class") || n.child("gpu")) return true;
  for (const pugi::xml_node child : n.children())
    if (depth < kDeepest && any_class(child, depth + 1)) return true;
  return false;
}

// hwloc

struct Hwloc {
  const ImportSource& source;
  Machine machine;
  int64_t cpus = 0, memory = 0;

  void object(pugi::xml_node n, int depth) {
    if (depth > kDeepest) fail(source, "nested deeper than " + std::to_string(kDeepest));
    const std::string_view type = attribute(n, "type");
    if (type == "PU") cpus++;
    if (type == "NUMANode") memory += std::max(0LL, n.attribute("local_memory").as_llong());
    if (type == "PCIDev" && device(n)) return;
    constexpr size_t kNone = ~size_t{0};
    size_t c = kNone;
    if (type == "Package") c = machine.open(Container::socket);
    else if (type == "Group" || type == "Die") c = machine.open(Container::numa);
    else if (type == "Bridge") c = machine.open(begins(attribute(n, "bridge_type"), "0-") ? Container::bridge : Container::pci);
    for (const pugi::xml_node child : n.children("object")) object(child, depth + 1);
    if (c != kNone) machine.close(c);
  }

  /// Adds the device when it is a GPU: a 3D controller, or a display that a compute runtime or NVML knows.
  bool device(pugi::xml_node n) {
    const std::string_view type = attribute(n, "pci_type");
    Gpu gpu{std::string(attribute(n, "pci_busid")), -1, ""};
    bool known = begins(type, "0302");
    for (const pugi::xml_node os : n.children("object")) {
      const std::string_view name = attribute(os, "name");
      for (const std::string_view stem : {"nvml", "cuda", "rsmi"})
        if (begins(name, stem)) {
          known = true;
          const auto number = whole_number(name.substr(stem.size()));
          if (number && gpu.number < 0) gpu.number = *number;
          for (const pugi::xml_node info : os.children("info"))
            if (attribute(info, "name") == "GPUModel" && gpu.type.empty()) gpu.type = attribute(info, "value");
        }
    }
    if (known) machine.gpus.push_back(std::move(gpu));
    return known;
  }
};

}  // namespace

bool is_nccl(std::string_view text) { return root_of(text) == "system"; }
bool is_hwloc(std::string_view text) { return root_of(text) == "topology"; }

Imported read_nccl(Sources sources) {
  pugi::xml_document document;
  parse(sources[0], document);
  const pugi::xml_node system = document.child("system");
  if (!system.child("cpu")) fail(sources[0], "no <cpu> in <system>");
  Nccl reader{sources[0], {}, any_class(system, 0), {}, 0};
  for (const pugi::xml_node cpu : system.children("cpu")) {
    const size_t c = reader.machine.open(Container::numa);
    for (const pugi::xml_node n : cpu.children("pci")) reader.pci(n, 1);
    reader.machine.close(c);
  }
  Imported r = reader.machine.imported(sources[0], {}, "<pci> of class 0x0302 or 0x0300, or with a <gpu>");
  if (!reader.classes)
    r.notes.push_back("no device states its class; " + plural(reader.machine.gpus.size(), "device") + " with ascending PCI addresses count as GPUs, " +
                      std::to_string(reader.taken_for_nics) + " out of that order as network cards");
  return r;
}

Imported read_hwloc(Sources sources) {
  pugi::xml_document document;
  parse(sources[0], document);
  const pugi::xml_node topology = document.child("topology");
  if (!topology.attribute("version")) fail(sources[0], "hwloc XML of version 1; want version 2 (export it with hwloc 2)");
  Hwloc reader{sources[0], {}};
  for (const pugi::xml_node n : topology.children("object")) reader.object(n, 1);
  NodeKind kind;
  if (reader.cpus > 0) kind.capacity[kCpu] = reader.cpus * kMilli, kind.limits_cpu = true;
  if (reader.memory > 0) kind.capacity[kMem] = reader.memory >> 20U, kind.limits_mem = true;
  return reader.machine.imported(sources[0], std::move(kind), "a PCIDev of type 0302, or with an OSDev nvml, cuda or rsmi");
}

}  // namespace muster::import
