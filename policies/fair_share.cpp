// Fair share by past usage that fades with a half-life.
#include "parts/decay.hpp"
#include "parts/fraction.hpp"
#include "parts/user_queues.hpp"
#include "table.hpp"

namespace {

/// Usage over weight, compared exactly.
struct UsageShare {
  muster::Int128 usage = 0;
  int64_t weight = 1;  ///< 0: after everybody who has a weight; below 0: nobody
  friend constexpr bool operator==(const UsageShare& a, const UsageShare& b) {
    return (a.weight > 0) == (b.weight > 0) &&
           (a.weight > 0 ? a.usage * b.weight == b.usage * a.weight : a.usage == b.usage && a.weight == b.weight);
  }
  friend constexpr bool operator<(const UsageShare& a, const UsageShare& b) {
    if (a.weight > 0 && b.weight > 0) return a.usage * b.weight < b.usage * a.weight;
    return a.weight != b.weight ? a.weight > b.weight : a.usage < b.usage;
  }
};

}  // namespace

template <> struct std::numeric_limits<UsageShare> {
  static constexpr UsageShare max() noexcept { return {0, -1}; }
};

namespace muster {

namespace {

/// What one of each kind is charged a second, in a common unit: whole numbers.
struct Prices {
  Resources of;  ///< by the kind's own unit: a milli-GPU, a milli-CPU, a MiB, one

  Prices(const PolicyInput& in) {
    const Config* c = in.parameters.find("charge");
    const std::vector<std::string>& names = in.topology.resource_names();
    const std::string where = c && !c->where.empty() ? c->where + ": " : "";
    std::vector<Fraction> prices(names.size());
    const auto set = [&](std::string_view name, const std::string& price) {
      size_t k = 0;
      while (k < names.size() && names[k] != name) k++;
      if (k == names.size()) {
        const std::string near = nearest_name(name, std::vector<std::string_view>(names.begin(), names.end()));
        throw InputError(where + "the cluster has no resource \"" + std::string(name) + "\"" +
                         (near.empty() ? "" : "; did you mean " + near + "?"));
      }
      const auto p = Fraction::parse(price);
      if (!p || p->num() > 1'000'000 || p->den() > 1'000'000)
        throw InputError(where + "want a charge of at most 1,000,000, as in gpu=1,cpu=0.05, found \"" + price + "\"");
      prices[k] = *p;
    };
    if (!c) {
      set("gpu", "1");
    } else if (c->kind == Config::Kind::object) {
      for (const auto& [name, v] : c->fields) set(name, v.value);
    } else {
      std::string_view rest = c->as_text();
      do {
        const size_t comma = std::min(rest.find(','), rest.size());
        const std::string_view entry = rest.substr(0, comma);
        const size_t equals = std::min(entry.find('='), entry.size());
        set(entry.substr(0, equals), equals < entry.size() ? std::string(entry.substr(equals + 1)) : "1");
        rest.remove_prefix(std::min(comma + 1, rest.size()));
      } while (!rest.empty());
    }
    Fraction common = 1;
    bool any = false;
    for (size_t k = 0; k < names.size(); k++) {
      prices[k] = prices[k] / (k == kMem ? 1024 : k <= kCpu ? kMilli : 1);  // by one GiB, GPU, CPU
      common = common * (prices[k] * common).den();
      any |= !prices[k].zero();
    }
    if (!any) throw InputError(where + "nothing is charged");
    for (size_t k = 0; k < names.size(); k++) {
      const Fraction p = prices[k] * common;
      if (p.num() > 1'000'000'000) throw InputError(where + "these charges have no common unit; rounder numbers help");
      of[k] = int64_t(p.num());
    }
  }
  Int128 operator()(const Resources& r) const {
    Int128 sum = 0;
    for (size_t k = 0; k < kMaxKinds; k++) sum += Int128{of[k]} * r[k];
    return sum;
  }
};

/// The next job belongs to the user with the least faded usage by weight.
class FairShare final : public UserQueues<FairShare, UsageShare> {
 public:
  explicit FairShare(const PolicyInput& in)
      : UserQueues(in, make_placer(in.parameters.find("place") ? in.parameters.find("place")->as_text() : "pack", in)),
        weights_(in.parameters, sharers_.names(in.workload)),
        prices_(in),
        decay_(half_life(in.parameters)),
        accounts_(users()) {
    const Config* period = in.parameters.find("period");
    period_ = period ? period->as_duration() : 300 * kSecond;
    for (const int64_t w : weights_.value)
      if (w > 1'000'000) throw InputError("weights with a common denominator are at most 1,000,000 here");
    const Config* blocked = in.parameters.find("blocked");
    stops_ = !blocked || blocked->as_text() == "stop";
  }

  /// Brings everybody's usage to the last tick, or to now.
  void begin(const View& now, Plan& plan) {
    const Time tick = period_ ? now.now() / period_ * period_ : now.now();
    if (tick > seen_) {
      for (uint32_t u = 0; u < users(); u++) {
        Account& a = accounts_[u];
        if (a.usage == 0 && a.rate == 0) continue;
        settle(a, tick);
        a.seen = a.usage;
        if (head(u) != kNone) refresh(now, u);
      }
      seen_ = tick;
    }
    // A head that does not fit may not be the head after the next tick.
    if (stops_ && period_ && waiting().first() != kNone) plan.wake_at(now.now() / period_ * period_ + period_);
  }
  UsageShare key(const View&, uint32_t u, JobId) const { return {accounts_[u].seen, weights_.value[u]}; }
  void took(const View& now, uint32_t u, JobId, const Resources& r) { change(now, u, prices_(r)); }
  void gave(const View& now, uint32_t u, JobId, const Resources& r) { change(now, u, -prices_(r)); }

 private:
  struct Account {
    Int128 usage = 0;  ///< at `at`, faded
    Int128 seen = 0;   ///< at the last tick: what is compared
    Int128 rate = 0;   ///< what runs now is charged, a tick
    Time at = 0;
  };
  static Duration half_life(const Config& parameters) {
    const Config* c = parameters.find("half_life");
    if (!c) return 7 * 86'400 * kSecond;
    if (c->value == "none") return kNever;
    const Duration d = c->as_duration();
    if (d <= 0) throw InputError((c->where.empty() ? "" : c->where + ": ") + "half_life: want a time above 0, or none");
    return d;
  }
  void settle(Account& a, Time t) {
    if (t <= a.at) return;
    const Decay::Step s = decay_.over(t - a.at);
    a.usage = Decay::left(a.usage, s.factor) + a.rate * s.worth;
    a.at = t;
  }
  void change(const View& now, uint32_t u, Int128 by) {
    settle(accounts_[u], now.now());
    accounts_[u].rate += by;
  }

  Weights weights_;
  Prices prices_;
  Decay decay_;
  std::vector<Account> accounts_;
  Duration period_;
  Time seen_ = 0;
  bool stops_;
};

}  // namespace

std::vector<Parameter> fair_share_parameters() {
  return {{"charge", "gpu", "what is charged for, as in gpu=1,cpu=0.05: by one GPU, CPU, GiB or named resource", {}},
          {"half_life", "7d", "after which usage counts half, or none", {}},
          {"period", "5m", "how often usage is looked at; 0: at every pass", {}},
          weights_parameter(),
          sharers_parameter(),
          no_fit_parameter("stop"),
          slot_parameter("place", "pack", "which nodes a job gets", placers())};
}

std::unique_ptr<Policy> make_fair_share(const PolicyInput& in) {
  check_parameters(in.parameters, fair_share_parameters());
  PolicyInput mine = in;
  if (!mine.parameters.find("blocked")) mine.parameters.set("blocked", Config::text("stop"));
  return std::make_unique<FairShare>(mine);
}

}  // namespace muster
