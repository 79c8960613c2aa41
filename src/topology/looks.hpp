// Which domains of a topology look alike, so that equal neighbours can be drawn once.
#pragma once
#include <string>
#include <vector>

#include "muster/topology.hpp"

namespace muster {

/// The children of every domain are an interval of the level below, since domains are numbered depth first.
class Looks {
 public:
  explicit Looks(const Topology& t);

  /// Children of domain `i` of level `l`, as an interval of the level below.
  uint32_t begin(size_t l, uint32_t i) const { return l + 1 < levels_ ? first_child_[l][i] : 0; }
  uint32_t end(size_t l, uint32_t i) const { return l + 1 < levels_ ? first_child_[l][i + 1] : 0; }
  /// The first domain from `i` on, before `to`, that looks other than `i`.
  uint32_t next(size_t l, uint32_t i, uint32_t to) const {
    uint32_t n = i + 1;
    while (n < to && looks_[l][n] == looks_[l][i]) n++;
    return n;
  }
  /// Names of the stated network cards ("nic0 nic1") that hang at a domain at or below the node.
  std::string cards(size_t l, uint32_t i) const;

 private:
  const Topology& t_;
  size_t levels_;
  std::vector<std::vector<uint32_t>> first_child_;  // by level and domain, one more at the end
  std::vector<std::vector<uint32_t>> looks_;        // by level: equal numbers, equal subtrees
};

/// "rack3" and "n12" speak for themselves; "socket left".
std::string short_name(const Topology& t, size_t l, uint32_t i);
/// What a node has: "8 x A100, 80 GiB each, 64 CPUs, 512 GiB".
std::string node_text(const Topology& t, NodeId n);
/// The NVLink that is stated, a line a kind: "nvlink: all pairs, 300 GB/s a GPU"; "nvlink: 0-1x2 2-3, 25 GB/s a link". Empty: none is.
std::vector<std::string> nvlink_lines(const Topology& t);
/// MB/s as "1.25 GB/s".
std::string gb_s(int64_t mb_s);

}  // namespace muster
