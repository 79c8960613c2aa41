#include "workload/generate.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "muster/random.hpp"
#include "text/numbers.hpp"

namespace muster {
namespace {

constexpr uint64_t kMostJobs = 100'000'000;
constexpr double kHoursOfWeek = 168;

[[noreturn]] void want(const Config& c, const std::string& what) {
  const bool scalar = c.kind == Config::Kind::number || c.kind == Config::Kind::text || c.kind == Config::Kind::boolean;
  throw InputError(c.where + ": want " + what + (scalar ? ", found " + in_quotes(c.value) : ""));
}

void only(const Config& c, std::initializer_list<std::string_view> known) { c.only({known.begin(), known.size()}); }

/// A number with at most six digits behind the point: so that it is the same double everywhere.
double decimal(const Config& c, double least, double most) {
  const auto millionths = c.kind == Config::Kind::number ? scaled_decimal(c.value, 1'000'000, Round::down) : std::nullopt;
  if (millionths && millionths != scaled_decimal(c.value, 1'000'000, Round::up)) want(c, "at most six digits behind the point");
  const double v = millionths ? double(*millionths) / 1e6 : least - 1;
  if (!millionths || v < least || v > most)
    want(c, "a number from " + with_commas(int64_t(least)) + " to " + with_commas(int64_t(most)));
  return v;
}

double decimal(const Config& object, std::string_view name, double fallback, double least, double most) {
  const Config* c = object.find(name);
  return c ? decimal(*c, least, most) : fallback;
}

/// Whole values with weights.
class Choice {
 public:
  void add(int64_t value, double weight) {
    values_.push_back(value);
    sums_.push_back((sums_.empty() ? 0 : sums_.back()) + weight);
  }
  bool empty() const { return values_.empty(); }
  double total() const { return sums_.empty() ? 0 : sums_.back(); }
  int64_t pick(Random& r) const {
    const double u = r.unit() * sums_.back();
    const size_t i = size_t(std::upper_bound(sums_.begin(), sums_.end(), u) - sums_.begin());
    return values_[std::min(i, values_.size() - 1)];
  }

 private:
  std::vector<int64_t> values_;
  std::vector<double> sums_;
};

/// {"1": 0.7, "8": 0.3}
Choice choice(const Config& c, int64_t least, int64_t most) {
  if (c.kind != Config::Kind::object || c.fields.empty()) want(c, "an object of values and weights, as in {\"1\": 0.7, \"8\": 0.3}");
  Choice out;
  for (const auto& [name, weight] : c.fields) {
    const auto v = whole_number(name);
    if (!v || *v < least || *v > most) throw InputError(weight.where + ": want a value from " + with_commas(least) + " to " + with_commas(most));
    out.add(*v, decimal(weight, 0, 1e9));
  }
  if (out.total() <= 0) want(c, "a weight above 0");
  return out;
}

/// {"count": 20, "zipf": 1.1} or {"names": ["prod", "dev"], "zipf": 1}: names, the n-th with weight n^-zipf.
struct Group {
  std::vector<std::string> names;
  Choice choice;

  Group(const Config& c, std::string_view prefix) {
    only(c, {"count", "names", "zipf"});
    if (const Config* list = c.find("names")) {
      if (list->kind != Config::Kind::list || list->fields.empty()) want(*list, "a list of names");
      for (const auto& [_, name] : list->fields) {
        names.emplace_back(name.as_text());
        const bool plain = !names.back().empty() && names.back()[0] != '#' && names.back().find_first_of(",\"\r\n") == std::string::npos;
        if (!plain) want(name, "a name without comma, quote and line end");
      }
    } else {
      const Config* count = c.find("count");
      if (!count) want(c, "a count or names");
      const int64_t n = count->as_integer(1, 1'000'000);
      for (int64_t i = 1; i <= n; i++) names.push_back(std::string(prefix) + std::to_string(i));
    }
    const double s = decimal(c, "zipf", 0, 0, 10);
    for (size_t i = 0; i < names.size(); i++) choice.add(int64_t(i), portable_exp(-s * portable_log(double(i + 1))));
  }
};

/// Lengths of jobs, in seconds.
class Durations {
 public:
  explicit Durations(const Config& c) {
    only(c, {"median", "sigma", "least", "most", "per_gpus", "quantiles"});
    const auto seconds = [&](std::string_view name, double fallback) {
      const Config* d = c.find(name);
      return d ? double(d->as_duration()) / 1e6 : fallback;
    };
    least_ = std::max(seconds("least", 1), 1.0), most_ = seconds("most", 1e8);
    if (most_ < least_ || most_ > 1e9) want(c, "a most of at least the least and at most 1,000,000,000 s");
    if (const Config* q = c.find("quantiles")) {
      if (c.find("median") || c.find("sigma")) want(c, "either median and sigma or quantiles");
      if (q->kind != Config::Kind::list || q->fields.size() < 2) want(*q, "a list of at least two [share, duration] pairs");
      for (const auto& [_, pair] : q->fields) {
        if (pair.kind != Config::Kind::list || pair.fields.size() != 2) want(pair, "a pair [share, duration]");
        const double share = decimal(pair.fields[0].second, 0, 1), d = double(pair.fields[1].second.as_duration()) / 1e6;
        if (!quantiles_.empty() && (share <= quantiles_.back().first || d < quantiles_.back().second)) want(pair, "pairs that grow");
        quantiles_.emplace_back(share, d);
      }
      if (quantiles_.front().first != 0 || quantiles_.back().first != 1) want(*q, "shares from 0 to 1");
    } else {
      if (!c.find("median")) want(c, "a median, or quantiles");
      const double median = seconds("median", 0);
      if (median < 1) want(*c.find("median"), "a duration of at least 1 s");
      log_median_ = portable_log(median);
      sigma_ = decimal(c, "sigma", 0, 0, 10);
    }
    if (const Config* p = c.find("per_gpus")) {
      if (p->kind != Config::Kind::object) want(*p, "an object of GPUs and factors, as in {\"8\": 3}");
      for (const auto& [name, factor] : p->fields) {
        const auto gpus = whole_number(name);
        if (!gpus || *gpus < 0) throw InputError(factor.where + ": want a number of GPUs");
        factors_.emplace_back(*gpus, decimal(factor, 0, 1e6));
      }
      std::sort(factors_.begin(), factors_.end());
    }
  }
  /// Of a job with that many GPUs: the factor of the largest listed number that is not above it counts.
  int64_t draw(Random& r, int64_t gpus) const {
    double d = 0;
    if (quantiles_.empty()) {
      d = portable_exp(std::clamp(log_median_ + sigma_ * r.normal(), -30.0, 30.0));
    } else {
      const double u = r.unit();
      size_t i = 1;
      while (quantiles_[i].first <= u && i + 1 < quantiles_.size()) i++;
      const auto [a, x] = quantiles_[i - 1];
      const auto [b, y] = quantiles_[i];
      d = x + (y - x) * (u - a) / (b - a);
    }
    double factor = 1;
    for (const auto& [n, f] : factors_)
      if (n <= gpus) factor = f;
    return int64_t(std::clamp(d * factor, least_, most_) + 0.5);
  }

 private:
  double least_ = 1, most_ = 0, log_median_ = 0, sigma_ = 0;
  std::vector<std::pair<double, double>> quantiles_;  // share, seconds
  std::vector<std::pair<int64_t, double>> factors_;
};

/// When jobs come: a Poisson process whose rate follows the hour of the day and the day of the week. Time 0 is a Monday, 00:00.
class Arrivals {
 public:
  explicit Arrivals(const Config& c) {
    only(c, {"per_hour", "load", "gpus", "hours", "weekdays"});
    load_ = decimal(c, "load", 0, 0, 1000), per_hour_ = decimal(c, "per_hour", 0, 0, 1e9);
    if ((load_ > 0) == (per_hour_ > 0)) want(c, "either per_hour or load, above 0");
    const Config* gpus = c.find("gpus");
    if (load_ > 0 && !gpus) want(c, "gpus beside load");
    if (load_ <= 0 && gpus) want(*gpus, "gpus only beside load");
    if (gpus) gpus_ = double(gpus->as_integer(1, int64_t{1} << 31));
    const auto hours = profile(c, "hours", 24), days = profile(c, "weekdays", 7);
    double total = 0;
    for (size_t h = 0; h < 168; h++) total += hours[h % 24] * days[h / 24];
    if (total <= 0) want(c, "a profile with a weight above 0");
    for (size_t h = 0; h < 168; h++) sums_[h + 1] = sums_[h] + hours[h % 24] * days[h / 24] / total * kHoursOfWeek;
    sums_[168] = kHoursOfWeek;
  }
  /// Turns the points of a process with rate 1 into seconds, in place. `gpu_seconds`: what all jobs ask together.
  void place(std::vector<double>& points, double gpu_seconds) const {
    if (points.empty()) return;
    const double n = double(points.size());
    double scale = per_hour_ > 0 ? 1 / per_hour_ : 0;  // mean hours a job
    double from = 0;
    if (load_ > 0 && points.size() > 1) {
      // offered load = asked / (GPUs x (last - first) x n / (n - 1)), solved for the span; the first job comes at 0
      const double span = gpu_seconds / (gpus_ * load_) * (n - 1) / n / 3600;
      from = points.front();
      scale = mean_hours(span) / (points.back() - from);
    }
    for (double& p : points) p = real_hours((p - from) * scale) * 3600;
  }

 private:
  static std::vector<double> profile(const Config& c, std::string_view name, size_t n) {
    const Config* list = c.find(name);
    if (!list) return std::vector<double>(n, 1.0);
    if (list->kind != Config::Kind::list || list->fields.size() != n) want(*list, "a list of " + std::to_string(n) + " weights");
    std::vector<double> out;
    for (const auto& [_, weight] : list->fields) out.push_back(decimal(weight, 0, 1e9));
    return out;
  }
  /// Hours of the clock to hours of the mean rate, and back.
  double mean_hours(double t) const {
    const double week = double(int64_t(t / kHoursOfWeek)), left = t - week * kHoursOfWeek;
    const size_t h = std::min(size_t(left), size_t{167});
    return week * kHoursOfWeek + sums_[h] + (sums_[h + 1] - sums_[h]) * (left - double(h));
  }
  double real_hours(double m) const {
    const double week = double(int64_t(m / kHoursOfWeek)), left = m - week * kHoursOfWeek;
    const size_t h = size_t(std::upper_bound(sums_.begin() + 1, sums_.end() - 1, left) - sums_.begin()) - 1;
    const double width = sums_[h + 1] - sums_[h];
    return week * kHoursOfWeek + double(h) + (width > 0 ? std::min((left - sums_[h]) / width, 1.0) : 0);
  }

  double load_ = 0, per_hour_ = 0, gpus_ = 1;
  std::array<double, 169> sums_{};
};

/// Rows of text, fast.
class Writer {
 public:
  explicit Writer(size_t rows) { text_.reserve(rows * 48); }
  void word(std::string_view s) { text_ += s, text_ += ','; }
  void number(int64_t v) {
    std::array<char, 24> buffer;
    text_.append(buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), v).ptr);
    text_ += ',';
  }
  void end() { text_.back() = '\n'; }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

}  // namespace

std::string generate_trace(const Config& spec, std::optional<uint64_t> jobs, std::optional<uint64_t> seed_given) {
  if (spec.kind != Config::Kind::object) want(spec, "an object");
  only(spec, {"$schema", "title", "jobs", "seed", "arrivals", "sizes", "gangs", "durations", "users", "queues", "estimates", "priorities",
              "deadlines", "fates"});
  const auto part = [&](std::string_view name) -> const Config& {
    const Config* c = spec.find(name);
    if (!c) throw InputError(spec.where + ": lacks " + std::string(name));
    if (c->kind != Config::Kind::object) want(*c, "an object");
    return *c;
  };
  const auto maybe = [&](std::string_view name) { return spec.find(name) ? &part(name) : nullptr; };
  const uint64_t n = jobs ? *jobs : spec.find("jobs") ? uint64_t(spec.find("jobs")->as_integer(1, int64_t{kMostJobs})) : 1000;
  if (n < 1 || n > kMostJobs) throw InputError("want from 1 to 100,000,000 jobs, found " + std::to_string(n));
  const Config* s = spec.find("seed");
  const uint64_t seed = seed_given ? *seed_given : s ? uint64_t(s->as_integer(0, std::numeric_limits<int64_t>::max())) : 1;

  const Arrivals arrivals(part("arrivals"));
  const Choice sizes = choice(part("sizes"), 0, 1'000'000);
  const Durations durations(part("durations"));
  std::optional<Group> users, queues;
  if (const Config* c = maybe("users")) users.emplace(*c, "u");
  if (const Config* c = maybe("queues")) queues.emplace(*c, "q");

  double gang_share = 0, gang_least = 1;
  Choice gang_tasks, gang_gpus;
  if (const Config* c = maybe("gangs")) {
    only(*c, {"share", "tasks", "gpus_per_task", "least"});
    gang_share = decimal(*c, "share", 0, 0, 1), gang_least = decimal(*c, "least", 1, 0, 1);
    for (const auto name : {"tasks", "gpus_per_task"})
      if (!c->find(name)) throw InputError(c->where + ": lacks " + name);
    gang_tasks = choice(*c->find("tasks"), 1, 1'000'000), gang_gpus = choice(*c->find("gpus_per_task"), 0, 1024);
  }
  const Config* e = maybe("estimates");
  double estimate_share = 0, estimate_most = 1, estimate_step = 60;
  if (e) {
    only(*e, {"share", "most", "step"});
    estimate_share = decimal(*e, "share", 1, 0, 1), estimate_most = decimal(*e, "most", 3, 1, 1000);
    if (const Config* step = e->find("step")) estimate_step = std::max(double(step->as_duration()) / 1e6, 1.0);
  }
  Choice priorities;
  if (const Config* c = maybe("priorities")) priorities = choice(*c, -1'000'000, 1'000'000);
  const Config* d = maybe("deadlines");
  double deadline_share = 0, slack_least = 1, slack_most = 3;
  if (d) {
    only(*d, {"share", "least", "most"});
    deadline_share = decimal(*d, "share", 1, 0, 1), slack_least = decimal(*d, "least", 1, 0, 1000);
    slack_most = decimal(*d, "most", 3, 0, 1000);
    if (slack_most < slack_least) want(*d, "a most of at least the least");
  }
  const Config* f = maybe("fates");
  double failed = 0, cancelled = 0;
  if (f) {
    only(*f, {"failed", "cancelled"});
    failed = decimal(*f, "failed", 0, 0, 1), cancelled = decimal(*f, "cancelled", 0, 0, 1);
    if (failed + cancelled > 1) want(*f, "shares that sum to at most 1");
  }

  Random arrive(seed, "arrivals"), size(seed, "sizes"), last(seed, "durations"), gang(seed, "gangs"), user(seed, "users"),
      queue(seed, "queues"), guess(seed, "estimates"), rank(seed, "priorities"), due(seed, "deadlines"), fate(seed, "fates");
  struct Row {
    int32_t tasks, least, gpus;
    int64_t seconds;
  };
  std::vector<Row> rows(n);
  std::vector<double> points(n);
  double point = 0, gpu_seconds = 0;
  for (uint64_t i = 0; i < n; i++) {
    Row& r = rows[i];
    r.tasks = r.least = 1, r.gpus = int32_t(sizes.pick(size));
    if (gang_share > 0 && gang.unit() < gang_share) {
      r.tasks = int32_t(gang_tasks.pick(gang)), r.gpus = int32_t(gang_gpus.pick(gang));
      r.least = std::max(int32_t(double(r.tasks) * gang_least), 1);
    }
    const int64_t gpus = int64_t{r.tasks} * r.gpus;
    r.seconds = durations.draw(last, gpus);
    gpu_seconds += double(gpus) * double(r.seconds);
    point += arrive.exponential();
    points[i] = point;
  }
  arrivals.place(points, gpu_seconds);
  if (points.back() > 1e11) throw InputError(spec.where + ": the jobs arrive over more than 3,000 years");

  Writer out(n);
  out.word("job_id");
  if (users) out.word("user");
  if (queues) out.word("queue");
  out.word("submit_s");
  if (gang_share > 0)
    out.word("tasks"), out.word("min_tasks"), out.word("gpus_per_task");
  else
    out.word("gpus");
  out.word("run_s");
  if (e) out.word("estimate_s");
  if (!priorities.empty()) out.word("priority");
  if (d) out.word("deadline_s");
  if (f) out.word("fate");
  out.end();
  for (uint64_t i = 0; i < n; i++) {
    const Row& r = rows[i];
    const int64_t submit = int64_t(points[i]);
    const double seconds = double(r.seconds);
    out.number(int64_t(i + 1));
    if (users) out.word(users->names[size_t(users->choice.pick(user))]);
    if (queues) out.word(queues->names[size_t(queues->choice.pick(queue))]);
    out.number(submit);
    if (gang_share > 0) out.number(r.tasks), out.number(r.least);
    out.number(r.gpus);
    out.number(r.seconds);
    if (e) {
      const bool given = guess.unit() < estimate_share;
      const double v = seconds * (1 + (estimate_most - 1) * guess.unit());
      const int64_t steps = int64_t(v / estimate_step) + 1;  // up to the next step
      if (given)
        out.number(int64_t(double(steps) * estimate_step));
      else
        out.word("");
    }
    if (!priorities.empty()) out.number(priorities.pick(rank));
    if (d) {
      const bool given = due.unit() < deadline_share;
      const double slack = slack_least + (slack_most - slack_least) * due.unit();
      if (given)
        out.number(submit + int64_t(seconds * slack + 0.5));
      else
        out.word("");
    }
    if (f) {
      const double u = fate.unit();
      out.word(u < failed ? "failed" : u < failed + cancelled ? "cancelled" : "done");
    }
    out.end();
  }
  return out.take();
}

}  // namespace muster
