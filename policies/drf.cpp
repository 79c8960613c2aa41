// Dominant resource fairness, and max-min fairness, which is the same with one resource.
#include "parts/filling.hpp"
#include "parts/user_queues.hpp"
#include "table.hpp"

namespace muster {

namespace {

/// The next job belongs to the user with the smallest dominant share. (Ghodsi et al., NSDI 2011, algorithm 1.)
class Drf final : public UserQueues<Drf, UserShare> {
 public:
  explicit Drf(const PolicyInput& in)
      : UserQueues(in, make_placer(in.parameters.find("place") ? in.parameters.find("place")->as_text() : "pack", in)),
        shares_(in, Weights(in.parameters, sharers_.names(in.workload))) {
    const Config* share = in.parameters.find("share");
    next_ = share && share->as_text() == "next";
    const Config* tell = in.parameters.find("tell");
    tell_ = tell && tell->as_text() == "steps";
    if (tell_) waits_.resize(users());
  }

  void begin(const View&, Plan&) { counted_ = false; }
  UserShare key(const View& now, uint32_t u, JobId head) const {
    if (!next_) return shares_.share(u);
    Resources with = shares_.held(u);
    with += amounts(now, head);
    return shares_.share(u, with);
  }
  void took(const View&, uint32_t u, JobId, const Resources& r) { shares_.take(u, r); }
  void gave(const View&, uint32_t u, JobId, const Resources& r) { shares_.give(u, r); }
  void chose(const View& now, Plan& plan, uint32_t u, JobId j, bool fits) {
    if (tell_) tell(now, plan, u, j, fits);
  }

 private:
  /// A note under construction: its texts live as long as it does.
  class Note {
   public:
    Note& number(std::string name, int64_t v) { return add(std::move(name), v, {}); }
    Note& text(std::string name, std::string v) { return v.empty() ? *this : add(std::move(name), 0, std::move(v)); }
    void to(Plan& plan, std::string_view kind) const {
      std::vector<NoteField> fields;
      for (const Field& f : fields_) fields.push_back({f.name, f.number, f.text});
      plan.note(kind, std::span<const NoteField>(fields));
    }

   private:
    struct Field {
      std::string name;
      int64_t number;
      std::string text;
    };
    Note& add(std::string name, int64_t v, std::string text) {
      fields_.push_back({std::move(name), v, std::move(text)});
      return *this;
    }
    std::vector<Field> fields_;
  };

  std::string name(const View& now, uint32_t u) const { return std::string(sharers_.name(now, u)); }

  /// What the textbook writes down at a step: each user's share, who is chosen, what is left.
  void tell(const View& now, Plan& plan, uint32_t chosen, JobId j, bool fits) {
    if (!counted_) count(now);
    counted_ = true;
    if (step_++ == 0) {
      for (uint32_t u = 0; u < users(); u++)
        if (head(u) != kNone) tell_task(now, plan, u);
      tell_filling(now, plan);
    }
    for (uint32_t u = 0; u < users(); u++) {
      Note n;
      n.number("step", step_)
          .text("user", name(now, u))
          .text("share", key(now, u, head(u) == kNone ? j : head(u)).text())
          .number("waiting", waits_[u]);
      for (const Shares::Kind& k : shares_.kinds()) n.number("held." + k.name, shares_.held(u)[k.kind]);
      n.to(plan, "share_user");
    }
    Resources left;
    for (const Shares::Kind& k : shares_.kinds()) left[k.kind] = k.installed;
    for (uint32_t u = 0; u < users(); u++) left -= shares_.held(u);
    if (fits) left -= amounts(now, j), waits_[chosen]--;
    Note n;
    n.number("step", step_).text("user", name(now, chosen)).text("job", std::string(now.name(j))).number("fits", fits);
    if (fits) {
      Resources with = shares_.held(chosen);
      with += amounts(now, j);
      n.text("share_after", shares_.share(chosen, with).text());
    }
    for (const Shares::Kind& k : shares_.kinds()) n.number("left." + k.name, left[k.kind]);
    n.to(plan, "share_step");
  }

  void tell_task(const View& now, Plan& plan, uint32_t u) {
    const Resources& asks = amounts(now, head(u));
    Note n;
    n.text("user", name(now, u)).text("weight", Fraction(shares_.weights().value[u], shares_.weights().scale).text());
    for (const Shares::Kind& k : shares_.kinds()) {
      n.number("asks." + k.name, asks[k.kind]);
      n.text("share." + k.name, Fraction(asks[k.kind], k.of).text());
    }
    const Shares::Kind& d = shares_.kinds()[shares_.dominant(asks)];
    n.text("dominant", d.name).text("share", Fraction(asks[d.kind], d.of).text());
    n.to(plan, "share_task");
  }

  /// What each would get if tasks could be divided, with the first task of each as the pattern of all it has.
  void tell_filling(const View& now, Plan& plan) {
    std::vector<int64_t> capacity;
    for (const Shares::Kind& k : shares_.kinds()) capacity.push_back(k.installed);
    std::vector<Filler> fillers(users());
    for (uint32_t u = 0; u < users(); u++) {
      Filler& f = fillers[u];
      f.uses.resize(capacity.size());
      if (head(u) == kNone) {
        f.speed = 0;
        continue;
      }
      const Resources& asks = amounts(now, head(u));
      for (size_t k = 0; k < capacity.size(); k++) f.uses[k] = asks[shares_.kinds()[k].kind];
      const Shares::Kind& d = shares_.kinds()[shares_.dominant(asks)];
      const int64_t w = shares_.weights().value[u];
      f.last = w == 0;
      f.most = waits_[u];
      // A level is what is compared: a dominant share, or an amount, divided by the weight. Who asks nothing needs no filling.
      f.speed = asks[d.kind] ? Fraction(d.of, asks[d.kind]) * (w ? Fraction(w, shares_.weights().scale) : Fraction(1)) : Fraction(0);
    }
    const Filled filled = fill(capacity, fillers);
    for (size_t r = 0; r < filled.rounds.size(); r++) {
      const FillRound& round = filled.rounds[r];
      Note n;
      n.number("round", int64_t(r + 1)).text("level", round.level.text());
      std::string names[3];
      const auto join = [](std::string& s, std::string_view one) { (s += s.empty() ? "" : ",") += one; };
      for (const uint32_t u : round.satisfied) join(names[0], name(now, u));
      for (const uint32_t u : round.stopped) join(names[1], name(now, u));
      for (const size_t k : round.full) join(names[2], shares_.kinds()[k].name);
      n.text("satisfied", names[0]).text("stopped", names[1]).text("full", names[2]);
      n.to(plan, "fill_round");
    }
    for (uint32_t u = 0; u < users(); u++) {
      Note n;
      n.text("user", name(now, u)).text("tasks", filled.units[u].text());
      Fraction share = 0;
      for (size_t k = 0; k < capacity.size(); k++) {
        const Fraction got = filled.units[u] * fillers[u].uses[k], part = got / shares_.kinds()[k].of;
        n.text("gets." + shares_.kinds()[k].name, got.text());
        if (share < part) share = part;
      }
      n.text("share", share.text());
      n.to(plan, "fill_user");
    }
    Note n;
    for (size_t k = 0; k < capacity.size(); k++) n.text("left." + shares_.kinds()[k].name, (Fraction(capacity[k]) - filled.used[k]).text());
    n.to(plan, "fill_left");
  }

  void count(const View& now) {
    std::fill(waits_.begin(), waits_.end(), 0);
    for (JobId j = waiting().first(); j != kNone; j = waiting().next(j + 1)) waits_[sharers_.of(now.job(j))]++;
  }

  Shares shares_;
  bool next_, tell_;
  bool counted_ = false;
  int64_t step_ = 0;
  std::vector<int64_t> waits_;  // jobs, by user; for notes
};

}  // namespace

std::vector<Parameter> drf_parameters() {
  return {resources_parameter(),
          measure_parameter(),
          weights_parameter(),
          sharers_parameter(),
          no_fit_parameter("skip"),
          {"share", "held", "the share compared: of what is held, or with the next job added", {"held", "next"}},
          slot_parameter("place", "pack", "which nodes a job gets", placers()),
          {"tell", "nothing", "steps: notes in the records, each step as a textbook writes it", {"nothing", "steps"}}};
}

std::unique_ptr<Policy> make_drf(const PolicyInput& in) {
  check_parameters(in.parameters, drf_parameters());
  return std::make_unique<Drf>(in);
}

}  // namespace muster
