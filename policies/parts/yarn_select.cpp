// Which containers go.
#include <algorithm>
#include <map>
#include <set>

#include "parts/yarn_capacity.hpp"

namespace muster::yarn {

namespace {

constexpr int64_t kMillion = 1'000'000;

class Selection {
 public:
  Selection(std::span<const Queue> queues, std::span<const App> apps, const Calculator& c, const Settings& s)
      : queues_(queues), apps_(apps), c_(c), s_(s) {
    for (const Queue& q : queues)
      if (q.parent == kNone) total_ += q.guaranteed;
    allowance_ = c.scaled_down(total_, {s.per_round, kMillion});
  }

  void between_queues(bool balance, Ideal* out) {
    const Ideal ideal = ideal_assignment(queues_, c_, allowance_, false, balance);
    for (uint32_t q = 0; q < queues_.size(); q++)
      if (queues_[q].leaf && !off(q)) one_queue(q, ideal.preempt[q]);
    if (out) *out = ideal;
  }

  void inside_queues() {
    for (uint32_t q = 0; q < queues_.size(); q++)
      if (queues_[q].leaf && !off(q)) inside(q);
  }

  std::vector<Chosen> chosen() const { return order_; }

 private:
  bool off(uint32_t q) const {
    for (; q != kNone; q = queues_[q].parent)
      if (queues_[q].off) return true;
    return false;
  }
  bool taken(uint32_t app, uint32_t c) const { return set_.count({app, c}) > 0; }
  Resources selected_of(uint32_t app) const {
    Resources sum;
    for (auto i = set_.lower_bound({app, 0}); i != set_.end() && i->app == app; ++i) sum += apps_[app].containers[i->container].size;
    return sum;
  }
  bool within_allowance(const Resources& r) const {
    return std::all_of(c_.kinds.begin(), c_.kinds.end(), [&](size_t k) { return r[k] <= allowance_[k]; });
  }
  void take(uint32_t app, uint32_t c) {
    set_.insert({app, c});
    order_.push_back({app, c});
    allowance_ -= apps_[app].containers[c].size;
  }
  /// Takes a container when that lowers what is still to be had.
  bool try_take(uint32_t app, uint32_t c, Resources& need) {
    const Container& x = apps_[app].containers[c];
    if (taken(app, c) || !c_.any_above_zero(need) || !within_allowance(x.size)) return false;
    Resources before, after;
    for (const size_t k : c_.kinds) before[k] = std::max<int64_t>(need[k], 0), after[k] = std::max<int64_t>(need[k] - x.size[k], 0);
    if (!c_.less(total_, after, before)) return false;
    need -= x.size;
    take(app, c);
    return true;
  }
  bool met(const Resources& need) const { return !c_.less(total_, Resources{}, need); }

  void one_queue(uint32_t q, const Resources& preempt) {
    const Queue& queue = queues_[q];
    if (!c_.less(total_, c_.scaled_down(queue.guaranteed, {kMillion + s_.ignored, kMillion}), queue.used)) return;  // the dead zone
    Resources need = c_.scaled(preempt, {s_.natural, kMillion});
    for (const uint32_t a : queue.apps) need -= selected_of(a);
    std::vector<Chosen> masters;
    Resources masters_size;
    for (auto a = queue.apps.rbegin(); a != queue.apps.rend() && !met(need); ++a) {
      const auto& list = apps_[*a].containers;
      for (const bool reserved : {true, false})
        for (uint32_t c = uint32_t(list.size()); c-- > 0 && !met(need);) {
          if (list[c].reserved != reserved) continue;
          if (list[c].master) {
            masters.push_back({*a, c});
            masters_size += list[c].size;
          } else {
            try_take(*a, c, need);
          }
        }
    }
    // Masters go last, and never below what the queue's masters may hold.
    const Resources spared = c_.scaled_down(queue.guaranteed, {queue.am_millionths, kMillion});
    for (const Chosen& m : masters) {
      if (met(need) || !c_.less(total_, spared, masters_size)) break;
      if (try_take(m.app, m.container, need)) masters_size -= apps_[m.app].containers[m.container].size;
    }
  }

  /// What is known of an application or user while a queue is looked through.
  struct Account {
    Resources used, used_no_master, selected, masters;
    Resources ideal, demand, gives, given;
  };
  static Resources plus(Resources a, const Resources& b) { return a += b; }
  static Resources minus(Resources a, const Resources& b) { return a -= b; }
  static Resources least(const Resources& a, const Resources& b) {
    Resources r;
    for (size_t k = 0; k < kMaxKinds; k++) r[k] = std::min(a[k], b[k]);
    return r;
  }
  static Resources positive(const Resources& a) {
    Resources r;
    for (size_t k = 0; k < kMaxKinds; k++) r[k] = std::max<int64_t>(a[k], 0);
    return r;
  }

  void inside(uint32_t q) {
    const Queue& queue = queues_[q];
    if (queue.apps.size() < 2 || c_.less(total_, queue.used, c_.scaled_down(queue.guaranteed, {s_.intra_threshold, kMillion}))) return;
    std::map<uint32_t, Account> users;
    std::vector<Account> of(apps_.size());
    Resources reassignable = queue.used;
    Resources budget = c_.scaled_down(queue.guaranteed, {s_.intra_most, kMillion});
    for (const uint32_t a : queue.apps) {
      Account &x = of[a], &u = users[apps_[a].user];
      for (const Container& c : apps_[a].containers) {
        if (c.reserved) continue;
        x.used += c.size;
        (c.master ? x.masters : x.used_no_master) += c.size;
      }
      x.selected = selected_of(a);
      u.used += x.used, u.used_no_master += x.used_no_master, u.masters += x.masters, u.selected += x.selected;
      reassignable -= plus(x.selected, x.masters);
      budget -= x.selected;
    }
    budget = positive(least(budget, allowance_));
    std::vector<uint32_t> down = queue.apps;  // the most important first
    std::stable_sort(down.begin(), down.end(), [&](uint32_t a, uint32_t b) { return apps_[a].priority > apps_[b].priority; });

    for (const uint32_t a : down) {
      Account &x = of[a], &u = users[apps_[a].user];
      if (!c_.less(total_, Resources{}, reassignable)) break;
      const Resources limit = positive(minus(minus(queue.user_limit, u.masters), u.given));
      const Resources wants = minus(plus(x.used_no_master, apps_[a].pending), x.selected);
      x.ideal = least(c_.smaller(total_, reassignable, c_.smaller(total_, wants, limit)), reassignable);
      x.demand = positive(minus(x.ideal, minus(x.used_no_master, x.selected)));
      u.given += x.ideal;
      reassignable -= x.ideal;
    }
    for (auto a = down.rbegin(); a != down.rend(); ++a) {
      Account& x = of[*a];
      Resources spare = minus(minus(minus(x.used, x.ideal), x.selected), x.masters);
      if (!s_.priority_first)
        for (const size_t k : c_.kinds) spare[k] -= 1;  // the smallest allocation
      x.gives = least(positive(spare), budget);
      budget -= x.gives;
      x.given = {};
    }
    std::set<uint32_t> bitten;  // users whose room for equals is used up
    for (const uint32_t d : down) {
      Resources& demand = of[d].demand;
      for (auto g = down.rbegin(); g != down.rend() && c_.any_above_zero(demand); ++g) {
        if (*g == d) continue;
        Account &x = of[*g], &u = users[apps_[*g].user];
        Resources room = minus(x.gives, x.given);
        if (!c_.any_above_zero(room)) continue;
        const bool same_user = apps_[*g].user == apps_[d].user;
        const Resources limit = minus(queue.user_limit, u.masters);
        const bool below = c_.less(total_, u.used_no_master, limit);
        if (same_user && apps_[*g].priority >= apps_[d].priority) continue;
        if (!same_user && !s_.priority_first && below) continue;
        if (!same_user && apps_[*g].priority == apps_[d].priority && !below) {
          const Resources cap = bitten.count(apps_[*g].user) ? Resources{} : positive(minus(minus(u.used_no_master, u.selected), limit));
          if (c_.less(total_, cap, room)) room = cap, bitten.insert(apps_[*g].user);
        }
        const Resources moved = c_.smaller(total_, room, demand);
        x.given += moved;
        demand -= moved;
      }
    }
    for (auto a = down.rbegin(); a != down.rend(); ++a) {
      Resources need = of[*a].given;
      Account& u = users[apps_[*a].user];
      const auto& list = apps_[*a].containers;
      for (uint32_t c = uint32_t(list.size()); c-- > 0;) {
        if (!std::all_of(c_.kinds.begin(), c_.kinds.end(), [&](size_t k) { return need[k] > 0; })) break;
        if (list[c].master || list[c].reserved || taken(*a, c)) continue;
        if (!s_.priority_first && !c_.less(total_, queue.user_limit, minus(minus(u.used, u.selected), list[c].size))) continue;
        if (try_take(*a, c, need)) u.selected += list[c].size;
      }
    }
  }

  std::span<const Queue> queues_;
  std::span<const App> apps_;
  const Calculator& c_;
  const Settings& s_;
  Resources total_, allowance_;
  std::set<Chosen> set_;
  std::vector<Chosen> order_;
};

}  // namespace

std::vector<Chosen> select_containers(std::span<const Queue> queues, std::span<const App> apps, const Calculator& calculator,
                                      const Settings& settings, Ideal* last_ideal) {
  Selection s(queues, apps, calculator, settings);
  s.between_queues(false, last_ideal);
  if (settings.balance) s.between_queues(true, last_ideal);
  if (settings.intra) s.inside_queues();
  return s.chosen();
}

}  // namespace muster::yarn
