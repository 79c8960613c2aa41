// How GPUs reach each other: NVLink, PCIe, the links between CPUs, network cards and the fabric, as flat tables.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "muster/share.hpp"
#include "muster/topology.hpp"

namespace muster {

/// A connection that jobs may share, in each direction.
struct Link {
  enum Kind : uint8_t {
    pcie,    ///< from a PCIe switch up
    cpu,     ///< from a host bridge, NUMA node or socket up
    nic,     ///< a network card
    fabric,  ///< from a leaf or spine switch up
  } kind = pcie;
  LinkRate rate;
};

/// The best ring through the GPUs of a placement, as all-reduce uses it.
struct Ring {
  /// A shared link that the ring crosses, once each way. Links of one stage carry its traffic side by side (the network cards of a node).
  struct Use {
    uint32_t link, stage;
    friend bool operator==(const Use&, const Use&) = default;
  };
  size_t level = 0;         ///< where its GPUs meet, as Links::meet says
  std::vector<GpuId> gpus;  ///< in the order of the ring
  int64_t own_mb_s = 0;     ///< narrowest link that is the job's alone: the slots of its GPUs, NVLink
  int64_t mb_s = 0;         ///< bottleneck bandwidth when nobody else is there
  Duration ns = 0;          ///< nanoseconds of its slowest hop; 0 for fewer than two GPUs
  std::vector<Use> uses;    ///< stages ascend
};

/// The links of a topology, built once: what is stated, and what is usual for the type of GPU where nothing is (docs/topology.md). The
/// topology must outlive them.
class Links {
 public:
  static constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max();  ///< bandwidth of fewer than two GPUs
  static constexpr size_t kCluster = ~size_t{0};                              ///< level of what only the whole cluster has in it

  explicit Links(const Topology& t);
  ~Links();
  Links(Links&&) noexcept;
  Links& operator=(Links&&) noexcept;

  uint32_t size() const { return uint32_t(links_.size()); }
  const Link& operator[](uint32_t link) const { return links_[link]; }
  /// "n0/switch1", "rack2", "rack2/rail5": the domain whose uplink it is; "n0/nic3".
  std::string name(uint32_t link) const;

  /// The level of the lowest domain that has all of the GPUs: an index into Topology::levels(); levels().size() for one GPU or none,
  /// kCluster for those that only the whole cluster has.
  size_t meet(GpuId a, GpuId b) const;
  size_t meet(Pieces p) const;
  /// Whether all GPUs of the placement are in one node, or one larger NVLink domain, where each reaches each by NVLink.
  bool all_by_nvlink(Pieces p) const;

  /// Fills `ring`, whose vectors are used again. A share of a GPU counts as that GPU.
  ///
  /// Behind NVLink switches every hop is NVLink. On a mesh the ring is the widest one over NVLink alone (searched on nodes of up to 10
  /// GPUs), when there is one no narrower than PCIe. Else it follows the order of the GPUs, which crosses each uplink of the tree once, and
  /// each hop takes the wider of NVLink and PCIe. Nodes, or NVLink domains of several nodes, are joined by the network cards nearest to the
  /// job's GPUs, all side by side. With rails, cards of different numbers meet above the first switch only.
  void ring(Pieces p, Ring& ring) const;
  Ring ring(Pieces p) const {
    Ring r;
    ring(p, r);
    return r;
  }
  /// Bandwidth of a ring when flows[l] rings cross link l, itself among them: an equal part of each link.
  int64_t mb_s(const Ring& ring, std::span<const uint32_t> flows) const;

 private:
  struct Tables;
  std::vector<Link> links_;
  std::unique_ptr<const Tables> tables_;
};

}  // namespace muster
