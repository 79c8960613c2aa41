// Against an equal split: who got less than its part of the cluster while it wanted it, and who saw others hold more while it waited.
#include <map>

#include "metrics/family.hpp"
#include "metrics/user_counts.hpp"
#include "metrics/window.hpp"

namespace muster {
namespace {

class EqualSplit : public Family {
 public:
  void begin(const Header& h) override {
    counts_.begin(h);
    if (h.topology) gpus_ = int64_t{h.topology->gpus()} * kMilli;
    users_.resize(counts_.users().size());
    if (h.workload)
      for (const Job& j : h.workload->jobs) users_[j.tenant].there = true;
    for (const User& u : users_) parts_ += u.there;
    for (uint32_t u = 0; u < users_.size(); u++) move(u, 1);
  }
  void see(std::span<const Record> records) override {
    for (const Record& r : records) {
      const uint32_t u = counts_.of(r);
      if (u == kNone) continue;
      if (r.at != since_) advance(r.at);
      settle(u, r.at);
      move(u, -1);
      counts_.see(r);
      move(u, 1);
    }
  }
  void finish(Time at) override {
    advance(at);
    for (uint32_t u = 0; u < users_.size(); u++) settle(u, at);
  }
  void report(Report& out) override {
    size_t violated = 0;
    double worst = 0;
    for (const User& u : users_) {
      if (u.received >= u.entitled) continue;
      violated++;
      worst = std::max(worst, 1 - double(u.received) / double(u.entitled));
    }
    const auto null = std::numeric_limits<double>::quiet_NaN();
    out.add("sharing_incentive_violations", parts_ ? double(violated) / double(parts_) : null, "1", Better::lower);
    out.add("sharing_incentive_worst", parts_ ? worst : null, "1", Better::lower);
    out.add("envy", divide(envious_, waited_), "1", Better::lower);
  }

 private:
  struct User {
    bool there = false;
    Time since = 0;
    Int128 entitled = 0, received = 0;  // milli-GPU x ticks, times the number of users: nothing is rounded
  };
  /// What it wanted of its part, and what it had, since its last record.
  void settle(uint32_t u, Time t) {
    User& user = users_[u];
    const auto& c = counts_.users()[u];
    const Int128 d = t - user.since;
    user.entitled += std::min<Int128>(Int128{c.held + c.wanted} * parts_, gpus_) * d;
    user.received += Int128{c.held} * parts_ * d;
    user.since = t;
  }
  /// Takes a user out of, or puts it into, the order of holdings.
  void move(uint32_t u, int64_t by) {
    const auto& c = counts_.users()[u];
    Class& k = holdings_[c.held];
    k.users += by;
    if (c.waiting > 0) k.waiting += by, waiting_ += by;
    if (k.users == 0) holdings_.erase(c.held);
  }
  void advance(Time t) {
    const Int128 d = t - since_;
    if (waiting_ > 0 && !holdings_.empty()) {
      waited_ += waiting_ * d;
      envious_ += (waiting_ - holdings_.rbegin()->second.waiting) * d;
    }
    since_ = t;
  }
  struct Class {
    int64_t users = 0, waiting = 0;
  };
  UserCounts counts_;
  std::vector<User> users_;
  int64_t parts_ = 0, gpus_ = 0, waiting_ = 0;
  std::map<int64_t, Class> holdings_;  // by milli-GPUs held
  Time since_ = 0;
  Int128 waited_ = 0, envious_ = 0;
};

}  // namespace

std::unique_ptr<Family> make_equal_split() { return std::make_unique<EqualSplit>(); }

}  // namespace muster
