// Which GPUs inside a node.
#pragma once
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
  DevicePicker(const Topology& t, Devices how) : topology_(t), how_(how) {}
  Devices how() const { return how_; }
  void set(Devices how) { how_ = how; }
  void pick(NodeId n, std::span<uint64_t> free, uint32_t k, std::span<uint64_t> chosen) const;
  /// The same inside the domain `d` of `level`, at or below the node.
  void pick_inside(size_t level, uint32_t d, std::span<uint64_t> free, uint32_t k, std::span<uint64_t> chosen) const;
  /// Domain of `level`, below the node, with the fewest free GPUs that are at least `k` in node `n`; among equals the one whose enclosing
  /// domains have the fewest, from below; then the lowest. kNone: there is none.
  uint32_t best_domain(size_t level, NodeId n, std::span<const uint64_t> free, uint32_t k) const { return best_domain_in(level, n, topology_.node_level(), n, free, k); }

 private:
  struct Bits {
    NodeId node;
    std::span<uint64_t> free, chosen;
  };
  uint32_t count(NodeId n, std::span<const uint64_t> free, const Domain& d) const;
  uint32_t best_domain_in(size_t level, NodeId n, size_t outer_level, uint32_t outer, std::span<const uint64_t> free, uint32_t k) const;
  std::pair<uint32_t, uint32_t> domains_of(size_t level, const Domain& outer) const;
  void lowest(const Bits& b, const Domain& d, uint32_t k) const;
  void closest(const Bits& b, size_t level, uint32_t d, uint32_t k) const;
  void spread(const Bits& b, size_t level, uint32_t d, uint32_t k) const;
  const Topology& topology_;
  Devices how_;
};

}  // namespace muster
