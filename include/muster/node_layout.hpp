// How the domains below the node lie inside a node.
#pragma once
#include <bit>
#include <span>
#include <vector>

#include "muster/topology.hpp"

namespace muster {

/// A domain at or below the node's level, as GPUs of its node.
struct NodePart {
  uint32_t from = 0, to = 0;  ///< its GPUs, numbered inside the node
  uint32_t parent = 0;        ///< place in the level above
  uint64_t mask = 0;          ///< those of the 64 that `from` is among
};

/// All domains of a node, level by level from the node's own down. Nodes that look alike share one, so that what is asked of it over and over
/// stays at hand.
class NodeLayout {
 public:
  struct Level {
    std::vector<NodePart> parts;
    std::vector<uint32_t> of_gpu;  ///< place in parts
  };
  size_t levels() const { return levels_.size(); }
  /// Another number for each layout of a topology.
  uint32_t number() const { return number_; }
  /// Level 0 is the node's.
  const Level& operator[](size_t level) const { return levels_[level]; }
  /// Domains of `level` inside a domain of a higher one.
  std::span<const NodePart> parts_in(size_t level, const NodePart& outer) const {
    const NodePart* first = levels_[level].parts.data();
    return {first + levels_[level].of_gpu[outer.from], first + levels_[level].of_gpu[outer.to - 1] + 1};
  }

 private:
  friend class NodeLayouts;
  std::vector<Level> levels_;
  uint32_t number_ = 0;
};

/// The bits of word `w` that are GPUs [from, to).
inline uint64_t bits_between(uint32_t w, uint32_t from, uint32_t to) {
  if (to <= w * 64 || from >= (w + 1) * 64) return 0;
  uint64_t m = ~uint64_t{0};
  if (from > w * 64) m &= ~uint64_t{0} << (from - w * 64);
  if (to < (w + 1) * 64) m &= (uint64_t{1} << (to - w * 64)) - 1;
  return m;
}
/// How many GPUs of `p` are among `gpus` (a bit a GPU, 64 a word, all words of the node).
inline uint32_t count_in(const NodePart& p, std::span<const uint64_t> gpus) {
  if (p.from / 64 == (p.to - 1) / 64) return uint32_t(std::popcount(gpus[p.from / 64] & p.mask));
  uint32_t sum = 0;
  for (uint32_t w = p.from / 64; w * 64 < p.to; w++) sum += uint32_t(std::popcount(gpus[w] & bits_between(w, p.from, p.to)));
  return sum;
}

/// The layouts of a topology's nodes.
class NodeLayouts {
 public:
  explicit NodeLayouts(const Topology& t) : topology_(t), layout_of_(t.nodes(), kNone) {}
  /// Drawn up when the first node that looks so is asked for. Good until the next call.
  const NodeLayout& of(NodeId n) { return layout_of_[n] == kNone ? draw(n) : layouts_[layout_of_[n]]; }

 private:
  const NodeLayout& draw(NodeId n);
  const Topology& topology_;
  std::vector<NodeLayout> layouts_;
  std::vector<std::vector<uint32_t>> keys_;  // by layout: the ends of its domains, level by level
  std::vector<uint32_t> layout_of_;          // by node; kNone: not looked at yet
};

}  // namespace muster
