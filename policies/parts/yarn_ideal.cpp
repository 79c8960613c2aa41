// Ideal assignment: who should hold how much.
#include <algorithm>

#include "parts/yarn_capacity.hpp"

namespace muster::yarn {

std::strong_ordering Calculator::compare(const Resources& total, const Resources& a, const Resources& b) const {
  if (!dominant) return a[kinds[0]] <=> b[kinds[0]];
  std::vector<Ratio> x, y;
  for (const size_t k : kinds) {
    if (total[k] <= 0) continue;
    x.push_back({a[k], total[k]}), y.push_back({b[k], total[k]});
  }
  std::sort(x.begin(), x.end(), [](Ratio p, Ratio q) { return q < p; });
  std::sort(y.begin(), y.end(), [](Ratio p, Ratio q) { return q < p; });
  for (size_t i = 0; i < x.size(); i++)
    if (const auto c = x[i] <=> y[i]; c != 0) return c;
  return std::strong_ordering::equal;
}

Ratio Calculator::divide(const Resources& total, const Resources& a, const Resources& b) const {
  if (!dominant) return {a[kinds[0]], b[kinds[0]]};
  const auto largest = [&](const Resources& r) {
    size_t best = kNone;
    for (const size_t k : kinds)
      if (total[k] > 0 && (best == kNone || Ratio{r[best], total[best]} < Ratio{r[k], total[k]})) best = k;
    return best;
  };
  const size_t i = largest(a), j = largest(b);
  return {Int128(a[i]) * total[j], Int128(b[j]) * total[i]};
}

Resources Calculator::scaled(const Resources& r, Ratio by) const {
  Resources out;
  for (const size_t k : kinds) out[k] = scaled(r[k], by);
  return out;
}

Resources Calculator::scaled_down(const Resources& r, Ratio by) const {
  Resources out;
  for (const size_t k : kinds) out[k] = by.times_down(r[k]);
  return out;
}

bool Calculator::any_above_zero(const Resources& r) const {
  if (!dominant) return r[kinds[0]] > 0;
  return std::any_of(kinds.begin(), kinds.end(), [&](size_t k) { return r[k] > 0; });
}

namespace {

Resources plus(Resources a, const Resources& b) { return a += b; }
Resources minus(Resources a, const Resources& b) { return a -= b; }
Resources least(const Resources& a, const Resources& b) {
  Resources r;
  for (size_t k = 0; k < kMaxKinds; k++) r[k] = std::min(a[k], b[k]);
  return r;
}
Resources most(const Resources& a, const Resources& b) {
  Resources r;
  for (size_t k = 0; k < kMaxKinds; k++) r[k] = std::max(a[k], b[k]);
  return r;
}

class Assignment {
 public:
  Assignment(std::span<const Queue> queues, const Calculator& c, const Resources& allowed, bool with_reserved, bool balance)
      : queues_(queues),
        c_(c),
        allowed_(allowed),
        with_reserved_(with_reserved),
        balance_(balance),
        children_(queues.size()),
        extra_(queues.size()),
        untouchable_(queues.size()),
        preemptable_(queues.size()) {
    out_.assigned.resize(queues.size());
    out_.preempt.resize(queues.size());
    for (uint32_t q = 0; q < queues.size(); q++)
      if (queues[q].parent != kNone) children_[queues[q].parent].push_back(q);
    pending_.resize(queues.size()), pending_less_reserved_.resize(queues.size());
    for (uint32_t q = uint32_t(queues.size()); q-- > 0;) {
      if (queues[q].leaf)
        pending_[q] = queues[q].pending, pending_less_reserved_[q] = most(minus(queues[q].pending, queues[q].reserved), {});
      if (queues[q].parent == kNone) continue;
      pending_[queues[q].parent] += pending_[q], pending_less_reserved_[queues[q].parent] += pending_less_reserved_[q];
    }
  }
  Ideal run() {
    for (uint32_t q = uint32_t(queues_.size()); q-- > 0;) extras(q);
    for (uint32_t q = 0; q < queues_.size(); q++) {
      if (queues_[q].parent == kNone) out_.assigned[q] = queues_[q].guaranteed;
      if (!children_[q].empty()) divide(q);
    }
    return std::move(out_);
  }

 private:
  bool off(uint32_t q) const {
    for (; q != kNone; q = queues_[q].parent)
      if (queues_[q].off) return true;
    return false;
  }
  /// What of a queue's excess may be touched at all. Children come after their parents, so they are done first.
  void extras(uint32_t q) {
    const Resources none;
    extra_[q] = most(minus(queues_[q].used, queues_[q].guaranteed), none);
    if (queues_[q].leaf) {
      (off(q) ? untouchable_ : preemptable_)[q] = extra_[q];
      return;
    }
    Resources below;
    for (const uint32_t k : children_[q]) below += preemptable_[k];
    preemptable_[q] = least(below, extra_[q]);
    untouchable_[q] = most(minus(extra_[q], below), none);
  }
  /// Hands out what `parent` should have among its children.
  void divide(uint32_t parent) {
    const Resources total = out_.assigned[parent], none;
    std::vector<uint32_t> owners, others;
    for (const uint32_t k : children_[parent]) (c_.less(total, none, queues_[k].guaranteed) ? owners : others).push_back(k);
    Resources left = total;
    fixpoint(total, owners, left, false);
    if (!others.empty() && c_.less(total, none, left)) fixpoint(total, others, left, true);
    Resources needed;
    for (const uint32_t k : children_[parent])
      if (c_.less(total, out_.assigned[k], queues_[k].used)) needed += minus(queues_[k].used, out_.assigned[k]);
    Ratio scale{1, 1};
    if (c_.less(total, allowed_, needed)) scale = c_.divide(total, allowed_, needed);
    for (const uint32_t k : children_[parent]) {
      const Queue& q = queues_[k];
      const Resources wanted = plus(q.used, pending_[k]);
      const Resources& keeps = c_.larger(total, c_.smaller(total, wanted, q.guaranteed), out_.assigned[k]);
      if (c_.less(total, keeps, q.used)) out_.preempt[k] = c_.scaled_down(minus(q.used, keeps), scale);
    }
  }
  /// Who is the further below its guarantee: ideal / guaranteed; those without a guarantee last.
  std::strong_ordering need(const Resources& total, uint32_t a, uint32_t b) const {
    const Resources none;
    const bool x = c_.less(total, none, queues_[a].guaranteed), y = c_.less(total, none, queues_[b].guaranteed);
    if (x && y)
      return c_.divide(total, out_.assigned[a], queues_[a].guaranteed) <=> c_.divide(total, out_.assigned[b], queues_[b].guaranteed);
    return x == y ? std::strong_ordering::equal : x ? std::strong_ordering::less : std::strong_ordering::greater;
  }
  void fixpoint(const Resources& total, const std::vector<uint32_t>& list, Resources& left, bool equal_parts) {
    const Resources none;
    std::vector<uint32_t> active;
    for (const uint32_t k : list) {
      const Queue& q = queues_[k];
      out_.assigned[k] = c_.less(total, q.guaranteed, q.used) ? plus(least(q.guaranteed, q.used), untouchable_[k]) : q.used;
      left -= out_.assigned[k];
      if (c_.less(total, out_.assigned[k], plus(q.used, pending_[k]))) active.push_back(k);
    }
    while (!active.empty() && c_.less(total, none, left)) {
      Resources owned;
      for (const uint32_t k : active) owned += queues_[k].guaranteed;
      std::vector<uint32_t> turn = {active[0]};  // all with the smallest ideal / guaranteed
      for (size_t i = 1; i < active.size(); i++) {
        const std::strong_ordering o = need(total, active[i], turn[0]);
        if (o < 0) turn = {active[i]};
        else if (o == 0) turn.push_back(active[i]);
      }
      const Resources offer_of = left;
      const int64_t members = int64_t(active.size());
      for (const uint32_t k : turn) {
        if (!c_.less(total, none, left)) break;
        Resources offer;
        for (const size_t r : c_.kinds) {
          const Ratio part = equal_parts ? Ratio{1, members} : owned[r] > 0 ? Ratio{queues_[k].guaranteed[r], owned[r]} : Ratio{0, 1};
          offer[r] = std::min(c_.scaled(offer_of[r], part), left[r]);
        }
        const Resources taken = accept(total, k, offer);
        out_.assigned[k] += taken;
        left = most(minus(left, taken), none);
        if (!c_.less(total, none, taken)) active.erase(std::find(active.begin(), active.end(), k));
      }
    }
  }
  Resources accept(const Resources& total, uint32_t k, const Resources& offer) const {
    const Queue& q = queues_[k];
    const Resources none, &ideal = out_.assigned[k];
    const Resources& pending = with_reserved_ ? pending_[k] : pending_less_reserved_[k];
    // The vectors are compared whole, by the calculator; what comes out is no more than was offered of any kind.
    Resources taken = least(most(minus(q.most, ideal), none), c_.smaller(total, offer, minus(plus(q.used, pending), ideal)));
    // Leaves at or above their guarantee are never balanced against each other.
    if (q.leaf && !balance_) taken = c_.smaller(total, taken, c_.larger(total, minus(c_.larger(total, q.used, q.guaranteed), ideal), none));
    taken = least(taken, offer);
    return most(taken, none);
  }

  std::span<const Queue> queues_;
  const Calculator& c_;
  const Resources& allowed_;
  bool with_reserved_, balance_;
  std::vector<std::vector<uint32_t>> children_;
  std::vector<Resources> extra_, untouchable_, preemptable_;
  std::vector<Resources> pending_, pending_less_reserved_;  // of a queue and all below
  Ideal out_;
};

}  // namespace

Ideal ideal_assignment(std::span<const Queue> queues, const Calculator& calculator, const Resources& allowed, bool with_reserved,
                       bool balance) {
  return Assignment(queues, calculator, allowed, with_reserved, balance).run();
}

}  // namespace muster::yarn
