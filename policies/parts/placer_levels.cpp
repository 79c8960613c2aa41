// Placing inside one domain of a level: required, or preferred and then ever higher.
#include <algorithm>

#include "parts/placer.hpp"

namespace muster {

uint64_t Placer::tasks_of(const Request& t) {
  uint64_t tasks = 0;
  for (const TaskGroup& g : t.shape.groups) tasks += t.most ? g.max_tasks : g.min_tasks;
  return tasks;
}

bool Placer::place(const Request& t) {
  numa_ = t.ask.all.aligned.empty() || t.relax.numa ? Numa::none : t.shape.numa;
  // Placers that score nodes do so whatever the alignment; a task that would like it takes the best its node has.
  must_align_ = numa_ == Numa::restricted || numa_ == Numa::single || (numa_ == Numa::best_effort && !chooses());
  if (place_by_level(t)) return true;
  if (numa_ != Numa::best_effort || !must_align_) return false;
  must_align_ = false;
  return place_by_level(t);
}

bool Placer::place_by_level(const Request& t) {
  const Ask& a = t.ask;
  lo_ = index_->begin(), hi_ = index_->end(), inside_ = kNone;
  apart_ = t.relax.apart ? 0 : t.shape.apart;
  const uint32_t required = t.relax.level ? kNone : a.required;
  if (required == kNone && a.preferred == kNone) return place_within(t, false);
  if (required == topology_.levels().size()) return false;
  uint32_t level = a.preferred;  // higher numbers are lower levels
  if (level == kNone || (required != kNone && level < required)) level = required;
  const bool one_node = t.shape.nodes == Nodes::one || (t.shape.nodes != Nodes::whole && tasks_of(t) == 1);
  for (;; level--) {
    if (place_at(t, level)) return true;
    if (level == required) return false;
    if (level == topology_.node_level() && one_node) return false;  // no wider domain has a node that holds it
    if (level == 0) break;
  }
  lo_ = index_->begin(), hi_ = index_->end(), inside_ = kNone;
  return place_within(t, false);
}

/// Inside one domain of `level`.
bool Placer::place_at(const Request& t, size_t level) {
  const uint32_t gpus = t.sum().gpus;
  const LevelIndex& levels = index_->levels();
  if (gpus > levels.largest(level)) return false;
  const size_t node_level = topology_.node_level();
  if (level < node_level) {
    const bool most_first = emptiest_domain_first();
    domains_.clear();
    for (uint32_t d = 0; d < topology_.domains(level).size(); d++)
      if (const int64_t free = levels.free(level, d); free >= gpus) domains_.emplace_back(most_first ? -free : free, d);
    const auto later = [](const auto& x, const auto& y) { return y < x; };
    std::make_heap(domains_.begin(), domains_.end(), later);
    for (; !domains_.empty(); domains_.pop_back()) {
      std::pop_heap(domains_.begin(), domains_.end(), later);
      const Domain& d = topology_.domains(level)[domains_.back().second];
      lo_ = std::max(index_->begin(), d.node_begin), hi_ = std::min(index_->end(), d.node_end);
      if (lo_ < hi_ && place_within(t, false)) return true;
    }
    return false;
  }
  if (t.shape.nodes == Nodes::whole || (t.shape.nodes == Nodes::each && tasks_of(t) > 1)) return false;
  lo_ = index_->begin(), hi_ = index_->end();
  return level == node_level || gpus == 0 || t.sum().need[kGpu] ? place_within(t, true) : place_below(t, level);
}

/// Inside one domain of `level`, below the node.
bool Placer::place_below(const Request& t, size_t level) {
  const LevelIndex& levels = index_->levels();
  const Want* w = &t.sum();
  if (!t.relax.none()) w = &(relaxed_ = relaxed(*w, t.relax));
  const bool aligned = must_align_ && !w->aligned.empty(), picky = w->amounts || !w->typed.empty() || apart_ || aligned;
  for (uint32_t c = levels.count_from(level, w->gpus); c != kNone; c = levels.count_from(level, c + 1))
    for (uint32_t f = levels.free_from(level, c, 0); f != kNone; f = levels.free_from(level, c, f + 1))
      for (NodeId n = levels.node_from(level, c, f, lo_); n < hi_; n = levels.node_from(level, c, f, n + 1)) {
        if (picky && !holds(n, *w)) continue;
        used_.clear(), slices_.clear(), chosen_.clear(), out_.clear();
        mask_.clear();
        for (unsigned word = 0; word < cluster_->words(n); word++) mask_.push_back(cluster_->free_now(n, word));
        inside_level_ = level, inside_ = devices_.best_domain(level, n, mask_, w->gpus);
        if (aligned && !align_all(n, *w, level, inside_)) continue;
        return place_one(t, n);
      }
  return false;
}

}  // namespace muster
