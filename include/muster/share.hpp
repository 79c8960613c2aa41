// Placements: spans of small fixed-size pieces.
#pragma once
#include <bit>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "muster/types.hpp"

namespace muster {

class Topology;

/// What a piece holds of its node.
enum class Share : uint8_t {
  whole,  ///< whole GPUs, by mask; no GPU at all for CPU-only tasks
  mig,    ///< one MIG instance: GPU, first memory slice, slices
  mps,    ///< one MPS client: GPU, per cent of its threads, MiB
  slice,  ///< one time slice: GPU, thousandths, MiB
};

/// One node's part of a placement: whole GPUs by mask, or one share of one GPU. 16 bytes. GPUs are numbered inside the node; a node with
/// more than 64 has one piece a group of 64 (`word`), tasks counted on its first piece.
struct Piece {
  NodeId node = 0;
  uint16_t tasks = 0;
  uint8_t word = 0;       ///< which 64 GPUs of the node `what` speaks of
  Share share : 3 = Share::whole;
  uint8_t group : 5 = 0;  ///< task group
  uint64_t what = 0;      ///< whole: mask; else gpu | first << 8 | size << 16 | MiB << 32

  static Piece whole(NodeId n, uint16_t tasks, uint64_t mask, uint8_t word = 0, uint8_t group = 0) {
    Piece p;
    p.node = n, p.tasks = tasks, p.word = word, p.group = group & 31, p.what = mask;
    return p;
  }
  static Piece part(Share s, NodeId n, unsigned gpu, unsigned first, unsigned size, uint32_t mib, uint8_t group = 0) {
    Piece p;
    p.node = n, p.tasks = 1, p.word = uint8_t(gpu >> 6), p.share = s, p.group = group & 31;
    p.what = (gpu & 63) | uint64_t(first) << 8 | uint64_t(size) << 16 | uint64_t(mib) << 32;
    return p;
  }
  unsigned gpu() const { return word * 64u + unsigned(what & 255); }  ///< of a share
  unsigned first() const { return what >> 8 & 255; }
  unsigned size() const { return what >> 16 & 65535; }                ///< slices, per cent or thousandths
  uint32_t mib() const { return uint32_t(what >> 32); }
  /// GPUs of its word that it touches.
  uint64_t mask() const { return share == Share::whole ? what : uint64_t{1} << (what & 63); }
  /// Milli-GPUs held; a memory slice of a MIG instance counts as an eighth.
  int64_t milli() const {
    switch (share) {
      case Share::whole: return std::popcount(what) * kMilli;
      case Share::mig: return int64_t{size()} * kMilli / 8;
      case Share::mps: return int64_t{size()} * kMilli / 100;
      case Share::slice: return size();
    }
    return 0;
  }
  /// Whole GPUs held.
  unsigned gpus() const { return share == Share::whole ? unsigned(std::popcount(what)) : 0; }
  friend bool operator==(const Piece& a, const Piece& b) {
    return a.node == b.node && a.tasks == b.tasks && a.word == b.word && a.share == b.share && a.group == b.group && a.what == b.what;
  }
};
static_assert(sizeof(Piece) == 16);

/// A placement, in tree order.
using Pieces = std::span<const Piece>;

/// Tasks in a placement.
inline unsigned tasks_of(Pieces p) {
  unsigned n = 0;
  for (const Piece& q : p) n += q.tasks;
  return n;
}
/// Whole GPUs in a placement.
inline unsigned gpus_of(Pieces p) {
  unsigned n = 0;
  for (const Piece& q : p) n += q.gpus();
  return n;
}
/// "n1/gpu0-3,n2/gpu0": runs of whole GPUs; "n1/gpu0@2g:2" a MIG instance (size, first slice), "n1/gpu0:250m" a share, "n1" no GPU.
/// `tasks` of a piece are shown as "n1*3" when they are not one.
std::string to_text(const Topology& t, Pieces p);
/// The inverse of to_text. Throws InputError for an unknown node or GPU, or text it does not know.
std::vector<Piece> parse_pieces(const Topology& t, std::string_view text);

}  // namespace muster
