#include "workload/ideal.hpp"

#include <algorithm>

#include "muster/fits.hpp"

namespace muster {
namespace {

/// GPUs [from, from + n) of a node as pieces, the task counted on the first.
void add(std::vector<Piece>& out, NodeId node, uint32_t from, uint32_t n, uint8_t group) {
  bool first = true;
  for (uint32_t w = from / 64; n > 0; w++) {
    const uint32_t begin = std::max(from, w * 64) - w * 64, count = std::min(n, 64 - begin);
    const uint64_t mask = (count == 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1) << begin;
    const bool same = !out.empty() && out.back().node == node && out.back().group == group && out.back().word == w;
    if (!same) out.push_back(Piece::whole(node, 0, 0, uint8_t(w), group));
    out.back().what |= mask, out.back().tasks = uint16_t(out.back().tasks + first);
    from += count, n -= count, first = false;
  }
}

}  // namespace

std::vector<Piece> ideal_placement(const BestLevel& best, const Topology& t, const Shape& s, uint32_t gpus) {
  Shape wanted = s;  // an elastic job with as many tasks as have so many GPUs
  if (s.groups.size() == 1 && s.groups[0].gpus && s.nodes != Nodes::whole && gpus != s.total_gpus) {
    wanted.groups[0].min_tasks = wanted.groups[0].max_tasks = gpus / s.groups[0].gpus;
    wanted.total_gpus = gpus;
  }
  if (wanted.nodes == Nodes::each) wanted.nodes = Nodes::any;  // a wish to be apart has its price
  const size_t level = best.of(wanted);
  const uint32_t domain = best.domain_of(wanted, level);
  GpuId begin = 0, end = t.gpus();
  NodeId from = 0, to = t.nodes();
  if (domain != kNone) {
    const Domain& d = t.domains(level)[domain];
    begin = d.gpu_begin, end = d.gpu_end, from = d.node_begin, to = level <= t.node_level() ? d.node_end : d.node_begin + 1;
  }
  std::vector<Piece> out;
  Shape one;
  one.groups.resize(1);
  NodeId n = from;
  const auto first_of = [&](NodeId node) { return std::max(begin, t.first_gpu(node)) - t.first_gpu(node); };
  const auto end_of = [&](NodeId node) { return std::min(end, t.first_gpu(node) + t.gpus_of(node)) - t.first_gpu(node); };
  uint32_t at = n < to ? first_of(n) : 0;
  for (uint8_t g = 0; g < wanted.groups.size(); g++) {
    one.groups[0] = wanted.groups[g];
    one.groups[0].min_tasks = one.groups[0].max_tasks = 1;
    const bool whole = wanted.nodes == Nodes::whole;
    uint32_t left = whole ? wanted.total_gpus : wanted.groups[g].max_tasks;  // GPUs, or tasks
    while (left > 0) {
      const uint32_t each = whole ? std::min(left, n < to ? end_of(n) : 0) : wanted.groups[g].gpus;
      if (n < to && at + each <= end_of(n) && each > 0 && (whole || at > first_of(n) || never_fits(one, t, n, n + 1) == Reason::none)) {
        add(out, n, at, each, g);
        left -= whole ? each : 1;
        at += each;
        if (!whole) continue;
      }
      if (wanted.groups[g].gpus == 0 && !whole) break;  // tasks without a GPU lie anywhere
      if (++n >= to) return {};
      at = first_of(n);
    }
  }
  return out;
}

}  // namespace muster
