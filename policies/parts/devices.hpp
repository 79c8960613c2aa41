// Which GPUs inside a node.
#pragma once
#include "muster/node_layout.hpp"
#include "parts/part.hpp"

namespace muster {

/// How GPUs are chosen among the free ones of a node. docs/placers.md has the rules.
enum class Devices : uint8_t {
  lowest,   ///< lowest numbers
  closest,  ///< inside the lowest domain that holds them, the fullest such; else the fewest domains
  spread,   ///< one after the other from the domain that has the most free
};

/// The parameter of placers that says it.
inline constexpr PartParameter kDevicesParameter{
    "devices", "", "which GPUs inside a node: lowest, closest or spread; without it closest where the placer looks below nodes, else lowest"};
/// Names of the choices.
std::span<const PartInfo> device_choices();
Devices devices_called(std::string_view name);

/// Takes `k` GPUs of node `n` out of `free` (a bit a GPU, 64 a word), at least as many as asked, and puts them into `chosen` (as many words).
class DevicePicker {
 public:
  DevicePicker(const Topology& t, Devices how) : topology_(t), how_(how), numa_(t.numa_level()), layouts_(t) {}
  Devices how() const { return how_; }
  void set(Devices how) { how_ = how; }
  void pick(NodeId n, std::span<uint64_t> free, uint32_t k, std::span<uint64_t> chosen) { pick_inside(topology_.node_level(), 0, n, free, k, chosen); }
  /// The same inside domain `d` (of the node's, from 0) of `level`, at or below the node.
  void pick_inside(size_t level, uint32_t d, NodeId n, std::span<uint64_t> free, uint32_t k, std::span<uint64_t> chosen);
  /// The same for one task, whose GPUs are to lie in as few NUMA domains as an empty node would need for them, `single`: in one. Of several
  /// domains that hold them the one with the fewest free; where they need more, those with the most free. False, and nothing is taken, when
  /// they cannot lie so.
  bool pick_aligned(bool single, size_t level, uint32_t d, NodeId n, std::span<uint64_t> free, uint32_t k, std::span<uint64_t> chosen);
  /// Domain (of the node's, from 0) of `level`, below the node, with the fewest free GPUs that are at least `k`; among equals the one whose
  /// enclosing domains have the fewest, from below; then the lowest. kNone: there is none.
  uint32_t best_domain(size_t level, NodeId n, std::span<const uint64_t> free, uint32_t k);

 private:
  struct Bits {
    const NodeLayout& layout;
    std::span<uint64_t> free, chosen;
  };
  static uint32_t best_part(const NodeLayout& y, size_t level, size_t outer_level, uint32_t outer, std::span<const uint64_t> free, uint32_t k);
  void pick_in(const Bits& b, size_t level, uint32_t d, uint32_t k) const;
  static void lowest(const Bits& b, const NodePart& d, uint32_t k);
  static void closest(const Bits& b, size_t level, uint32_t d, uint32_t k);
  static void spread(const Bits& b, size_t level, uint32_t d, uint32_t k);
  const Topology& topology_;
  Devices how_;
  size_t numa_;  // level of NUMA domains
  NodeLayouts layouts_;
};

}  // namespace muster
