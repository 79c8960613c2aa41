// The arithmetic of the gate. No file, no JSON: reports in, rows out.
#include "report/gate.hpp"

#include <algorithm>
#include <cmath>

#include "muster/config.hpp"

namespace muster {
namespace {

/// The value of one metric in both reports of every seed.
struct Pairs {
  std::vector<double> base, now;
};

double mean(const std::vector<double>& v) {
  double sum = 0;
  for (double x : v) sum += x;
  return v.empty() ? std::nan("") : sum / double(v.size());
}

/// Whole numbers below n, equally likely, the same everywhere: splitmix64, what would favour some thrown away.
class Draws {
 public:
  explicit Draws(uint64_t seed) : state_(seed) {}
  uint64_t below(uint64_t n) {
    const uint64_t unfair = (0 - n) % n;  // 2^64 mod n
    uint64_t x = next();
    while (x < unfair) x = next();
    return x % n;
  }

 private:
  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  uint64_t state_;
};

/// An interval of the mean difference and, on the same draws, of how far it passes an allowance that grows with the base.
struct Interval {
  double low, high;              ///< of now - base
  double worse_low, better_low;  ///< lower ends of (worsening - allowance) and (bettering - allowance)
};

/// The seeds are drawn again with replacement, pairs staying together: what all seeds share cancels out. Draws depend on the number of
/// pairs and the gate's seed alone, so every metric of a comparison sees the same ones.
Interval bootstrap(const Pairs& p, double sign, double share, double amount, const Gate& gate) {
  const std::size_t n = p.base.size();
  Draws draws(gate.seed);
  std::vector<double> difference(gate.resamples), worse(gate.resamples), better(gate.resamples);
  for (std::size_t r = 0; r < gate.resamples; ++r) {
    double base = 0, delta = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t k = std::size_t(draws.below(n));
      base += p.base[k];
      delta += p.now[k] - p.base[k];
    }
    base /= double(n), delta /= double(n);
    const double allowed = std::max(share * std::abs(base), amount);
    difference[r] = delta;
    worse[r] = sign * delta - allowed;
    better[r] = -sign * delta - allowed;
  }
  const double tail = (1 - gate.confidence) / 2;
  const auto quantile = [&](std::vector<double>& v, double q) {
    const auto at = std::size_t(std::clamp(std::floor(q * double(v.size())), 0.0, double(v.size() - 1)));
    std::nth_element(v.begin(), v.begin() + std::ptrdiff_t(at), v.end());
    return v[at];
  };
  return {quantile(difference, tail), quantile(difference, 1 - tail), quantile(worse, tail), quantile(better, tail)};
}

void judge(Row& row, const Pairs& p, const Bound& bound, const Gate& gate) {
  // A report that says no direction leaves it to the gate; where both are silent only "both directions" has a meaning.
  const Better better = bound.better != Better::none ? bound.better : row.better;
  if (better == Better::none && !bound.both_directions)
    throw InputError(bound.where + ": " + row.metric +
                     " is neither better lower nor better higher; add \"both_directions\": true or \"better\"");
  const double sign = better == Better::higher ? -1 : 1;
  const double delta = row.now - row.base;
  const double allowed = std::max(bound.share * std::abs(row.base), bound.amount);
  const bool worse = sign * delta > allowed, moved = bound.both_directions && -sign * delta > allowed;
  bool sure = true;
  if (p.base.size() > 1) {
    const Interval i = bootstrap(p, sign, bound.share, bound.amount, gate);
    sure = worse ? i.worse_low > 0 : i.better_low > 0;
  }
  if (!worse && !moved) row.verdict = Row::Verdict::ok;
  else if (!sure) row.verdict = Row::Verdict::unsure;
  else row.verdict = worse ? Row::Verdict::worse : Row::Verdict::moved;
}

void pair_up(std::vector<RunReport>& base, std::vector<RunReport>& now, Comparison& c) {
  if (base.empty()) throw InputError(c.base + ": holds no report");
  if (now.empty()) throw InputError(c.now + ": holds no report");
  const auto by_seed = [](const RunReport& a, const RunReport& b) { return a.seed < b.seed; };
  for (auto* side : {&base, &now}) {
    std::stable_sort(side->begin(), side->end(), by_seed);
    for (std::size_t i = 1; i < side->size(); ++i)
      if ((*side)[i].seed == (*side)[i - 1].seed)
        throw InputError((*side)[i].file + ": seed " + std::to_string((*side)[i].seed) + " is that of " + (*side)[i - 1].file +
                         ", too; reports are paired by seed, so each side wants every seed once");
  }
  if (base.size() == 1 && now.size() == 1) {
    if (base[0].seed != now[0].seed)
      c.notes.push_back("seeds differ: " + std::to_string(base[0].seed) + " and " + std::to_string(now[0].seed));
    return;
  }
  const auto lonely = [&](const std::vector<RunReport>& some, const std::vector<RunReport>& others) {
    for (const RunReport& r : some)
      if (!std::binary_search(others.begin(), others.end(), r, by_seed))
        throw InputError(r.file + ": no report of the other side has seed " + std::to_string(r.seed) + "; both want the same seeds");
  };
  lonely(base, now);
  lonely(now, base);
}

/// A change of a trace or a topology is no change of a policy: said, not judged. The first such is enough.
void note_inputs(const std::vector<RunReport>& base, const std::vector<RunReport>& now, Comparison& c) {
  for (std::size_t i = 0; i < base.size(); ++i)
    for (const RunReport::Input& ours : base[i].inputs)
      for (const RunReport::Input& theirs : now[i].inputs) {
        // The digest decides; the same file may lie elsewhere.
        if (ours.role != theirs.role || (ours.digest == theirs.digest && (!ours.digest.empty() || ours.name == theirs.name))) continue;
        const bool same_name = ours.name == theirs.name;
        c.notes.push_back("the " + ours.role + " differs: " + ours.name +
                          (same_name ? " has other contents now" : " in " + base[i].file + ", " + theirs.name + " in " + now[i].file));
        return;
      }
}

}  // namespace

bool Row::differs() const { return std::isnan(base) != std::isnan(now) || (!std::isnan(base) && base != now) || low != 0 || high != 0; }

std::size_t Comparison::gated_rows() const {
  return std::size_t(std::count_if(rows.begin(), rows.end(), [](const Row& r) { return r.bound != nullptr; }));
}

std::size_t Comparison::failures() const {
  return std::size_t(std::count_if(rows.begin(), rows.end(), [](const Row& r) { return r.failed(); }));
}

Comparison compare(const std::string& base_name, std::vector<RunReport> base, const std::string& new_name, std::vector<RunReport> now,
                   const Gate* gate) {
  const Gate judge_by = gate ? Gate{{}, gate->confidence, gate->resamples, gate->seed, gate->least_seeds} : Gate{};
  Comparison c;
  c.base = base_name, c.now = new_name, c.gated = gate != nullptr, c.confidence = judge_by.confidence;
  pair_up(base, now, c);
  note_inputs(base, now, c);
  c.pairs = base.size();
  if (c.pairs < judge_by.least_seeds)
    throw InputError(new_name + ": " + std::to_string(c.pairs) + (c.pairs == 1 ? " seed" : " seeds") + ", and the gate wants at least " +
                     std::to_string(judge_by.least_seeds));
  if (c.pairs > 1 && c.pairs < 5)
    c.notes.push_back("an interval from " + std::to_string(c.pairs) + " seeds says little; five or more are better");

  // Every name that occurs, in order of first appearance.
  std::vector<std::string_view> names;
  std::vector<const Metric*> metric;
  for (const auto* side : {&base, &now})
    for (const RunReport& r : *side)
      for (const Metric& m : r.report.metrics)
        if (std::find(names.begin(), names.end(), m.name) == names.end()) names.push_back(m.name), metric.push_back(&m);
  if (gate)
    for (const Bound& b : gate->bounds)
      if (std::find(names.begin(), names.end(), b.metric) == names.end()) {
        const std::string near = nearest_name(b.metric, names);
        throw InputError(b.where + ": no report has a metric of this name" + (near.empty() ? "" : "; did you mean " + near + "?"));
      }

  for (std::size_t i = 0; i < names.size(); ++i) {
    Row row;
    row.metric = names[i], row.unit = metric[i]->unit, row.better = metric[i]->better;
    if (gate)
      for (const Bound& b : gate->bounds)
        if (b.metric == names[i]) row.bound = &b;
    Pairs p;
    std::string lacks, null;  // the first report that does
    bool in_base = true, in_now = true;
    for (std::size_t k = 0; k < base.size(); ++k)
      for (const bool is_base : {true, false}) {
        const RunReport& r = is_base ? base[k] : now[k];
        const Metric* m = r.report.find(names[i]);
        (is_base ? p.base : p.now).push_back(m ? m->value : std::nan(""));
        if (!m) (is_base ? in_base : in_now) = false;
        if (!m && lacks.empty()) lacks = r.file;
        if (m && std::isnan(m->value) && null.empty()) null = r.file;
        if (m && (m->better != row.better || m->unit != row.unit))
          throw InputError(r.file + ": /metrics/" + row.metric + ": its unit or direction differs from that of " + base[0].file);
      }
    row.base = mean(p.base), row.now = mean(p.now);
    row.change = row.base == 0 ? std::nan("") : (row.now - row.base) / std::abs(row.base);
    const bool numbers = !std::isnan(row.base) && !std::isnan(row.now);
    if (numbers && c.pairs > 1) {
      const Interval interval = bootstrap(p, 1, 0, 0, judge_by);
      row.interval = true, row.low = interval.low, row.high = interval.high;
    }
    if (!row.bound) row.verdict = !in_base ? Row::Verdict::fresh : !in_now ? Row::Verdict::gone : Row::Verdict::ungated;
    else if (!lacks.empty()) row.verdict = Row::Verdict::missing, row.why = lacks + " does not have it";
    else if (!numbers) row.verdict = Row::Verdict::undefined, row.why = "it is null in " + null;
    else judge(row, p, *row.bound, judge_by);
    c.rows.push_back(std::move(row));
  }
  return c;
}

std::optional<Parting> first_difference(std::string_view a, std::string_view b) {
  if (a == b) return std::nullopt;
  Parting p;
  const auto take = [](std::string_view& s) -> std::optional<std::string> {
    if (s.empty()) return std::nullopt;
    const std::size_t end = s.find('\n');
    // The line end is kept while comparing: a missing last newline is a difference, too.
    const std::size_t length = end == std::string_view::npos ? s.size() : end + 1;
    std::string line(s.substr(0, length));
    s.remove_prefix(length);
    return line;
  };
  // Equal beginnings are skipped at once; a records file may have millions of lines.
  const auto at =
      std::size_t(std::mismatch(a.begin(), a.begin() + std::ptrdiff_t(std::min(a.size(), b.size())), b.begin()).first - a.begin());
  const std::size_t start = at == 0 ? 0 : a.rfind('\n', at - 1) == std::string_view::npos ? 0 : a.rfind('\n', at - 1) + 1;
  p.line = 1 + std::size_t(std::count(a.begin(), a.begin() + std::ptrdiff_t(start), '\n'));
  a.remove_prefix(start), b.remove_prefix(start);
  p.a = take(a), p.b = take(b);
  return p;
}

}  // namespace muster
