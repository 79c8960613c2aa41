// One machine as XML describes it: PCI containers, the GPUs and network cards in them, NVLink between GPUs.
#pragma once
#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "topology/import/readers.hpp"
#include "topology/import/shape.hpp"

namespace muster::import {

struct MachineGpu {
  std::string bus;
  int64_t number = -1;  ///< as the driver counts, or -1
  std::string type;
  int64_t slot_mb_s = 0;  ///< 0: not stated
};

/// A tree of containers with GPUs in the order found; numbered by the driver when it says so for all, else by PCI address.
class Machine {
 public:
  void open(Container::Kind kind);
  void close();
  void add(MachineGpu gpu) { gpus_.push_back(std::move(gpu)); }
  /// A network card in the innermost open container; 0 MB/s: not stated.
  void add_card(int64_t mb_s) { cards_.push_back({open_.empty() ? kNone : open_.back(), mb_s}); }
  /// NVLinks of that many MB/s together between the GPUs found `a`-th and `b`-th, or from `a` to a switch (kNone). Either end may state it.
  void add_nvlink(uint32_t a, uint32_t b, int64_t mb_s) { nvlinks_.push_back({a, b, mb_s}); }

  const std::vector<MachineGpu>& gpus() const { return gpus_; }

  /// The one node; `kind` has all but the GPUs and links, `what` says how a GPU is known, for the message when there is none.
  Imported imported(const ImportSource& source, NodeKind kind, const std::string& what);

 private:
  struct Card {
    uint32_t container;
    int64_t mb_s;
  };
  struct NvLink {
    uint32_t a, b;
    int64_t mb_s;
  };
  NodeLinks links(const std::vector<uint32_t>& number) const;

  std::vector<MachineGpu> gpus_;
  std::vector<Container> containers_;
  std::vector<uint32_t> parent_, open_;  // of containers; open ones
  std::vector<Card> cards_;
  std::vector<NvLink> nvlinks_;
};

/// The name of the root element, or nothing when this is no XML.
std::string_view root_of(std::string_view text);
void parse_xml(const ImportSource& source, pugi::xml_document& document);
std::string_view attribute(pugi::xml_node n, const char* name);
constexpr int kDeepestXml = 100;

}  // namespace muster::import
