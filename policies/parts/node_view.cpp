#include "parts/node_view.hpp"

#include <algorithm>
#include <limits>

namespace muster {

NodeView::NodeView(CellForest& forest, int32_t id, const std::vector<std::vector<int32_t>>& full, int32_t node_level, bool opportunistic)
    : forest_(forest), opportunistic_(opportunistic) {
  const int32_t top = int32_t(full.size()) - 1;
  for (int32_t l = std::min(node_level, top); l >= 1; l--)
    for (int32_t c : full[size_t(l)]) {
      while (forest[c].level < node_level && forest[c].parent != kNoCell) c = forest[c].parent;
      if (forest[c].view >= 0) continue;
      Cell& cell = forest.edit(c);
      cell.view = id, cell.slot = int32_t(nodes_.size());
      Node n;
      n.cell = c, n.leaves = int32_t(leaves_.size());
      const auto kind = std::find(kind_leaves_.begin(), kind_leaves_.end(), cell.leaves);
      n.kind = int32_t(kind - kind_leaves_.begin());
      if (kind == kind_leaves_.end()) kind_leaves_.push_back(cell.leaves);
      most_ = std::max(most_, cell.leaves);
      nodes_.push_back(n);
      const std::function<void(int32_t)> gather = [&](int32_t x) {
        if (forest[x].level == 1) leaves_.push_back(x);
        for (int32_t i = 0; i < forest[x].children; i++) gather(forest[x].first + i);
      };
      gather(c);
      letter_.push_back(cell.slot);
    }
  kinds_ = int32_t(kind_leaves_.size());
  const auto classes = size_t(2) * size_t(most_ + 1) * size_t(opportunistic ? most_ + 1 : 1);
  lists_.resize(classes * size_t(std::max(kinds_, 1)));
  stamps_.resize(classes);
  filled_ = JournaledSet(lists_.size());
  cursor_.assign(lists_.size(), -1);
  dirty_.resize(nodes_.size());
}

bool NodeView::bad(const Node& n) const {
  const Cell& c = forest_[n.cell];
  if (opportunistic_) return c.bad != 0;
  return c.bound != kNoCell && forest_[c.bound].bad;
}

bool NodeView::is_suggested(const Node& n, const std::vector<char>& suggested) const {
  if (suggested.empty()) return true;
  const Cell& c = forest_[n.cell];
  const int32_t x = opportunistic_ ? n.cell : c.bound;
  return x == kNoCell || suggested[size_t(forest_.info(x).node)];
}

int32_t NodeView::class_of(const Node& n) const {
  const Cell& c = forest_[n.cell];
  const int32_t half = bad(n) ? most_ + 1 : 0;
  if (!opportunistic_) return half + most_ - c.used;
  return (half + most_ - c.opportunistic) * (most_ + 1) + c.used - c.opportunistic;
}

void NodeView::insert(int32_t slot, bool front) {
  Node& n = nodes_[size_t(slot)];
  const int32_t list = n.cls * kinds_ + n.kind;
  Ends& e = lists_[size_t(list)];
  Stamps& s = stamps_[size_t(n.cls)];
  if (front) {
    journal().set(s.front, s.front - 1);
    journal().set(n.stamp, s.front);
  } else {
    journal().set(n.stamp, s.back);
    journal().set(s.back, s.back + 1);
  }
  if (e.head < 0) filled_.insert(journal(), list);
  journal().set(n.prev, front ? -1 : e.tail);
  journal().set(n.next, front ? e.head : -1);
  if (e.head < 0) {
    journal().set(e.head, slot);
    journal().set(e.tail, slot);
  } else if (front) {
    journal().set(nodes_[size_t(e.head)].prev, slot);
    journal().set(e.head, slot);
  } else {
    journal().set(nodes_[size_t(e.tail)].next, slot);
    journal().set(e.tail, slot);
  }
}

void NodeView::remove(int32_t slot) {
  const Node& n = nodes_[size_t(slot)];
  const int32_t list = n.cls * kinds_ + n.kind;
  Ends& e = lists_[size_t(list)];
  if (n.prev >= 0) journal().set(nodes_[size_t(n.prev)].next, n.next);
  else journal().set(e.head, n.next);
  if (n.next >= 0) journal().set(nodes_[size_t(n.next)].prev, n.prev);
  else journal().set(e.tail, n.prev);
  if (e.head < 0) filled_.erase(journal(), list);
}

std::vector<int32_t> NodeView::order() const {
  if (by_letter_) return letter_;
  std::vector<int32_t> all(nodes_.size());
  for (size_t i = 0; i < all.size(); i++) all[i] = int32_t(i);
  std::sort(all.begin(), all.end(), [&](int32_t a, int32_t b) { return before(a, b); });
  return all;
}

/// The rule itself: a stable sort of the list as it stands.
void NodeView::sort_by_letter(const std::vector<char>& suggested) {
  std::vector<int32_t> all = order();
  std::stable_sort(all.begin(), all.end(), [&](int32_t a, int32_t b) {
    const Node &x = nodes_[size_t(a)], &y = nodes_[size_t(b)];
    if (bad(x) != bad(y)) return bad(y);
    const bool sx = is_suggested(x, suggested), sy = is_suggested(y, suggested);
    if (sx != sy) return sx;
    return class_of(x) < class_of(y);
  });
  for (int32_t i = 0; i < dirty_count_; i++) journal().set(nodes_[size_t(dirty_[size_t(i)])].dirty, 0);
  journal().set(dirty_count_, 0);
  if (!suggested.empty()) {
    journal().set(by_letter_, 1);
    for (size_t i = 0; i < all.size(); i++) journal().set(letter_[i], all[i]);
    return;
  }
  for (int32_t list = filled_.first(); list >= 0; list = filled_.next(list + 1)) {
    journal().set(lists_[size_t(list)].head, -1);
    journal().set(lists_[size_t(list)].tail, -1);
    filled_.erase(journal(), list);
  }
  for (Stamps& s : stamps_) journal().set(s.front, 0), journal().set(s.back, 0);
  for (const int32_t slot : all) {
    journal().set(nodes_[size_t(slot)].cls, class_of(nodes_[size_t(slot)]));
    insert(slot, false);
  }
  journal().set(by_letter_, 0);
}

void NodeView::sort() {
  constexpr int32_t kFar = 1 << 30;  // stamps start anew before they overflow
  if (by_letter_) return sort_by_letter({});
  if (dirty_count_ == 0) return;
  moved_.clear();
  for (int32_t i = 0; i < dirty_count_; i++) {
    Node& n = nodes_[size_t(dirty_[size_t(i)])];
    journal().set(n.dirty, 0);
    if (class_of(n) == n.cls) continue;
    moved_.push_back(dirty_[size_t(i)]);
    if (stamps_[size_t(n.cls)].back > kFar || stamps_[size_t(n.cls)].front < -kFar) return sort_by_letter({});
  }
  journal().set(dirty_count_, 0);
  std::sort(moved_.begin(), moved_.end(), [&](int32_t a, int32_t b) { return before(a, b); });
  cursors_.clear();
  for (const int32_t slot : moved_) {
    Node& n = nodes_[size_t(slot)];
    remove(slot);
    const int32_t cls = class_of(n);
    if (cls > n.cls) {
      cursors_.push_back(slot);  // to the front, last one first
      journal().set(n.cls, cls);
    } else {
      journal().set(n.cls, cls);
      insert(slot, false);
    }
  }
  for (size_t i = cursors_.size(); i-- > 0;) insert(cursors_[i], true);
  cursors_.clear();
}

/// First node at or after (cls, stamp) with `size` leaves free at priority `q`, or -1.
int32_t NodeView::next_fit(int32_t cls, int32_t stamp, int32_t size, int32_t q) {
  const bool plain = q == kOpportunistic;
  const int32_t width = opportunistic_ ? most_ + 1 : 1;
  for (int32_t list = filled_.next(cls * kinds_); list >= 0;) {
    const int32_t c = list / kinds_;
    const int32_t a = most_ - c / width % (most_ + 1), used = opportunistic_ ? a + c % width : a;
    int32_t best = -1;
    for (; list >= 0 && list / kinds_ == c; list = filled_.next(list + 1)) {
      const int32_t leaves = kind_leaves_[size_t(list % kinds_)];
      if (plain ? leaves - used < size : leaves < size) continue;
      int32_t& at = cursor_[size_t(list)];
      if (at < 0) at = lists_[size_t(list)].head, cursors_.push_back(list);
      const int32_t from = c == cls ? stamp : std::numeric_limits<int32_t>::min();
      while (at >= 0 && nodes_[size_t(at)].stamp < from) at = nodes_[size_t(at)].next;
      int32_t found = at;
      if (!plain)  // sizes ascend, so what is too small now stays so
        while (found >= 0 && leaves - forest_.used_from(nodes_[size_t(found)].cell, q) < size) found = nodes_[size_t(found)].next;
      if (found < 0) continue;
      if (best < 0 || nodes_[size_t(found)].stamp < nodes_[size_t(best)].stamp) best = found;
    }
    if (best >= 0) return best;
  }
  return -1;
}

NodeView::Found NodeView::find(const std::vector<int32_t>& sizes, int32_t q, const std::vector<char>& suggested,
                               std::vector<int32_t>& out) {
  out.clear();
  if (!suggested.empty()) {
    sort_by_letter(suggested);
    size_t i = 0;
    int32_t taken = 0;
    for (const int32_t size : sizes) {
      for (;; i++, taken = 0) {
        if (i == letter_.size()) return Found::nothing;
        const Cell& c = forest_[nodes_[size_t(letter_[i])].cell];
        if (c.leaves - forest_.used_from(nodes_[size_t(letter_[i])].cell, q) - taken >= size) break;
      }
      const Node& n = nodes_[size_t(letter_[i])];
      if (bad(n)) return Found::bad;
      if (!is_suggested(n, suggested)) return Found::not_suggested;
      out.push_back(n.cell);
      taken += size;
    }
    return Found::yes;
  }
  sort();
  for (const int32_t list : cursors_) cursor_[size_t(list)] = -1;
  cursors_.clear();
  Found result = Found::yes;
  int32_t at = -1, free = 0;
  for (const int32_t size : sizes) {
    if (at < 0 || free < size) {
      at = at < 0 ? next_fit(0, std::numeric_limits<int32_t>::min(), size, q)
                  : next_fit(nodes_[size_t(at)].cls, nodes_[size_t(at)].stamp + 1, size, q);
      if (at < 0) {
        result = Found::nothing;
        break;
      }
      const int32_t c = nodes_[size_t(at)].cell;
      free = forest_[c].leaves - forest_.used_from(c, q);
    }
    if (bad(nodes_[size_t(at)])) {
      result = Found::bad;
      break;
    }
    out.push_back(nodes_[size_t(at)].cell);
    free -= size;
  }
  for (const int32_t list : cursors_) cursor_[size_t(list)] = -1;
  cursors_.clear();
  return result;
}

}  // namespace muster
