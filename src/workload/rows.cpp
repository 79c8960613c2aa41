#include "workload/rows.hpp"

#include <algorithm>
#include <numeric>

#include "muster/config.hpp"
#include "text/numbers.hpp"
#include "workload/message.hpp"

namespace muster {
namespace {

// Bounds that keep every sum of a run in its type: a submit time and all durations together stay below 2^63 ticks, and an amount times the
// tasks of a job below 2^63.
constexpr Time kLatest = Time{1} << 61;
constexpr Duration kLongest = Duration{1} << 61;
constexpr Int128 kLongestTotal = Int128{1} << 62;
constexpr int64_t kMostAmount = int64_t{1} << 62;
constexpr int64_t kMostCount = ~uint32_t{0};
constexpr int64_t kMostGradient = int64_t{1} << 50;  // bytes
constexpr int64_t kMostSensitivity = 1000 * kFullSpeed;
constexpr size_t kExamples = 5;

/// The parts of `s` between separators, blanks around them and empty ones left out.
template <class F> void for_each_part(std::string_view s, char separator, F f) {
  while (!s.empty()) {
    const size_t end = std::min(s.find(separator), s.size());
    if (const auto part = trim(s.substr(0, end)); !part.empty()) f(part);
    s.remove_prefix(std::min(end + 1, s.size()));
  }
}

std::vector<LabelWish> parse_labels(std::string_view s) {
  std::vector<LabelWish> labels;
  for_each_part(s, ';', [&](std::string_view part) { labels.push_back(parse_label_wish(part)); });
  return labels;
}

}  // namespace

Rows::Rows(Columns columns, const TraceOptions& options, std::string_view file, TraceResult& result)
    : columns_(std::move(columns)), options_(options), file_(file), result_(result) {
  const auto any = [&](std::initializer_list<Field> fields) {
    return std::any_of(fields.begin(), fields.end(), [&](Field f) { return columns_.has(f); });
  };
  has_wishes_ = !columns_.amounts.empty() || any({Field::gpu_type, Field::driver, Field::cuda, Field::labels, Field::locality,
                                                  Field::preferred_level, Field::anti_affinity, Field::numa});
  plain_request_ = !has_wishes_ && !any({Field::gpu_milli, Field::min_tasks, Field::nodes, Field::cpus, Field::memory, Field::spread});
  has_claims_ = any({Field::estimate, Field::time_limit, Field::deadline, Field::earliest_start, Field::priority});
  has_costs_ = any({Field::checkpoint_interval, Field::checkpoint_cost, Field::start_cost, Field::restart_cost, Field::gives_back_after});
  has_communication_ = any({Field::gradient, Field::compute, Field::model, Field::sensitivity});
  const auto describe = [&](Why why, std::string_view reason, std::string_view phrase) {
    left_out_[size_t(why)].reason = reason, left_out_[size_t(why)].phrase = phrase;
  };
  describe(Why::malformed, "malformed", "that cannot be read");
  describe(Why::empty, "no_value", "without a value");
  describe(Why::no_duration, "no_duration", "without a duration");
  describe(Why::not_a_number, "not_a_number", "with what is no number");
  describe(Why::negative, "negative", "with a negative value");
  describe(Why::too_large, "too_large", "with too large a value");
  describe(Why::contradiction, "contradiction", "with a contradiction");
  describe(Why::duplicate_id, "duplicate_id", "with the id of a job above");
  describe(Why::unsupported, "unsupported", "with what is not modelled");
  describe(Why::cpu_only, "cpu_only", "without a GPU");
  describe(Why::zero_duration, "zero_duration", "of 0 s");
  Workload& w = result_.workload;
  if (!columns_.has(Field::tenant)) id_of(w.tenants, tenants_, {});
  if (!columns_.has(Field::queue)) id_of(w.queues, queues_, {});
  id_of(texts_, text_ids_, {});
  id_of(w.tags, tags_, {});
  for (const auto& a : columns_.amounts) w.resources.push_back(a.resource);
  if (has_communication_) id_of(w.models, model_ids_, {}), w.communication.emplace_back();
  result_.facts.ids = columns_.has(Field::id);
}

void Rows::add(std::span<const std::string_view> fields, uint64_t line, const char* fault) {
  result_.rows++;
  fields_ = fields;
  const size_t want = columns_.names.size();
  if (fault) return leave_out({Why::malformed, Field::none, fault}, line);
  if (fields.size() < want) return leave_out({Why::malformed, Field::none, "has fewer fields than the header"}, line);
  for (size_t i = want; i < fields.size(); i++)
    if (!trim(fields[i]).empty()) return leave_out({Why::malformed, Field::none, "has more fields than the header"}, line);
  try {
    row(line);
  } catch (const Bad& bad) {
    leave_out(bad, line);
  }
}

void Rows::leave_out(const Bad& bad, uint64_t line) {
  LeftOut& l = left_out_[size_t(bad.why)];
  l.count++;
  if (l.examples.size() == kExamples && !options_.strict) return;
  std::string message = std::string(file_);
  message.append(":").append(std::to_string(line)).append(": ");
  if (bad.field == Field::none) {
    message += "the row " + std::string(bad.what);
  } else {
    const uint32_t column = bad.column != Columns::kAbsent ? bad.column : columns_.at[size_t(bad.field)];
    message += "column " + printable(columns_.names[column]);
    if (const auto value = trim(fields_[column]); !value.empty()) message += ": " + quoted(value);
    message += " " + std::string(bad.what);
  }
  if (options_.strict && bad.why < Why::cpu_only) throw InputError(message);
  if (l.examples.size() < kExamples) l.examples.push_back(message + "; row left out");
}

void Rows::refuse(Parsed p, Field f, const char* want) const {
  switch (p) {
    case Parsed::negative: throw Bad{Why::negative, f, "is negative"};
    case Parsed::too_large: throw Bad{Why::too_large, f, "is too large"};
    case Parsed::not_whole: throw Bad{Why::not_a_number, f, "is not a whole number"};
    case Parsed::empty: throw Bad{Why::empty, f, "is empty"};
    // What begins with a digit was meant as a time or a number; of a word it says enough that it is none.
    default: {
      const auto s = trim(field(f));
      throw Bad{Why::not_a_number, f, !s.empty() && s[0] >= '0' && s[0] <= '9' ? want : "is not a number"};
    }
  }
}

/// "1h30m", "2-01:00:00": what is no number may still be a time. False when it is none.
bool Rows::with_units(std::string_view s, Scale scale, Parsed p, Duration& out) {
  if (p != Parsed::not_a_number || s.size() > 64 || s[0] < '0' || s[0] > '9') return false;
  try {
    out = parse_duration(s, scale.num);
  } catch (const InputError&) {
    return false;
  }
  return true;
}

bool Rows::amount(Field f, Rounding rounding, int64_t most, int64_t& out) const {
  const auto s = trim(field(f));
  if (s.empty()) return false;
  const Scale scale = columns_.scale[size_t(f)];
  if (scale == Scale{} && parse_plain(s, out)) {
    if (out > most) refuse(Parsed::too_large, f);
  } else if (const Parsed p = parse_number(s, scale, rounding, most, out); p != Parsed::ok) {
    refuse(p, f);
  }
  return true;
}

/// GPUs in thousandths.
bool Rows::gpus(Field f, int64_t& milli) const {
  const auto s = trim(field(f));
  if (s.empty()) return false;
  if (parse_plain(s, milli)) {
    if (milli > kMostCount) refuse(Parsed::too_large, f);
    milli *= kMilli;
  } else if (const Parsed p = parse_number(s, {kMilli, 1}, Rounding::exact, kMostCount * kMilli, milli); p == Parsed::not_whole) {
    throw Bad{Why::not_a_number, f, "is finer than a thousandth of a GPU"};
  } else if (p != Parsed::ok) {
    refuse(p, f);
  }
  return true;
}

bool Rows::instant(Field f, Time& out) const {
  const auto s = trim(field(f));
  if (s.empty()) return false;
  if (looks_like_date(s)) {
    if (!result_.facts.dates) throw Bad{Why::contradiction, f, "is a date, while rows above count from zero"};
    if (!parse_date(s, out)) throw Bad{Why::not_a_number, f, "is not a date (YYYY-MM-DD hh:mm:ss, from 1970)"};
    return true;
  }
  const Scale scale = columns_.scale[size_t(f)];
  if (parse_plain(s, out) && out < 1'000'000'000 && scale.den == 1) {
    out *= scale.num;
  } else if (const Parsed p = parse_number(s, scale, Rounding::nearest, kLatest, out); p != Parsed::ok) {
    if (!with_units(s, scale, p, out)) refuse(p, f, "is not a time (a number, 1h30m, 2-01:00:00 or a date YYYY-MM-DD hh:mm:ss)");
    if (out > kLatest) refuse(Parsed::too_large, f);
  }
  if (result_.facts.dates) throw Bad{Why::contradiction, f, "is a number, while rows above have dates"};
  return true;
}

bool Rows::span(Field f, Duration& out) const {
  const auto s = trim(field(f));
  if (s.empty()) return false;
  const Scale scale = columns_.scale[size_t(f)];
  if (parse_plain(s, out) && out < 100'000'000 && scale.den == 1) {
    out *= scale.num;
    return true;
  }
  const Parsed p = parse_number(s, scale, Rounding::nearest, kLongest, out);
  if (p == Parsed::ok) return true;
  if (!with_units(s, scale, p, out)) refuse(p, f, "is not a duration (a number, 1h30m, 2-01:00:00)");
  if (out > kLongest) refuse(Parsed::too_large, f);
  return true;
}

bool Rows::small(Field f, int32_t& out) const {
  auto s = trim(field(f));
  if (s.empty()) return false;
  const bool minus = s[0] == '-';
  if (minus) s.remove_prefix(1);
  int64_t v = 0;
  if (const Parsed p = parse_number(s, {}, Rounding::exact, std::numeric_limits<int32_t>::max(), v); p != Parsed::ok)
    refuse(p == Parsed::empty || p == Parsed::negative ? Parsed::not_a_number : p, f);
  out = int32_t(minus ? -v : v);
  return true;
}

Duration Rows::work() const {
  Duration stated = kNever;
  span(Field::duration, stated);
  Time start = 0, end = 0;
  if (columns_.has(Field::start) && columns_.has(Field::end) && instant(Field::start, start) && instant(Field::end, end)) {
    if (end < start) throw Bad{Why::contradiction, Field::end, "is before the start"};
    if (stated != kNever && std::abs(stated - (end - start)) > kSecond) result_.facts.other_durations++;
    return end - start;
  }
  return stated;
}

/// What a task asks by the column gpu_milli, of each of its `stated` milli-GPUs' devices; `stated` below 0: no other column says.
int64_t Rows::of_each_gpu(int64_t stated) const {
  int64_t milli = 0;
  if (!amount(Field::gpu_milli, Rounding::exact, kMostCount * kMilli, milli) || milli == stated) return std::max(stated, int64_t{0});
  if (stated < 0) return milli;
  if (milli == kMilli && stated % kMilli == 0 && stated > 0) return stated;
  if (stated == kMilli && milli > 0 && milli < kMilli) return milli;
  if (stated > kMilli && milli > 0 && milli < kMilli) throw Bad{Why::unsupported, Field::gpu_milli, "of each of several GPUs is not modelled"};
  throw Bad{Why::contradiction, Field::gpu_milli, "does not go with the number of GPUs"};
}

Rows::Request Rows::request() {
  Request r;
  int64_t milli = 0, tasks = 1, total = 0;
  const bool states_total = gpus(Field::gpus, total);
  const bool states_tasks = amount(Field::tasks, Rounding::exact, kMostCount, tasks);
  const bool states_each = gpus(Field::gpus_per_task, milli);
  const bool may_state = columns_.has(Field::tasks) || columns_.has(Field::gpus_per_task);
  const bool by_task = states_tasks || states_each || (may_state && !states_total);  // a row by itself: its neighbours may state other things
  if (by_task) {
    if (tasks < 1) throw Bad{Why::contradiction, Field::tasks, "is less than one task"};
    if (states_each && milli > kMostCount * kMilli / tasks) throw Bad{Why::too_large, Field::gpus_per_task, "times the tasks is too large"};
    if (!states_each && states_total) {
      const int64_t unit = total % kMilli ? 1 : kMilli;  // whole GPUs are not cut for the sake of it
      if (total / unit % tasks != 0) throw Bad{Why::contradiction, Field::gpus, "is not a multiple of the tasks"};
      milli = total / tasks;
    } else if (states_each && states_total && milli * tasks != total) {
      throw Bad{Why::contradiction, Field::gpus, "is not tasks times GPUs per task"};
    }
  } else {
    if (columns_.has(Field::gpus) && !states_total) throw Bad{Why::empty, Field::gpus, "is empty"};
    milli = total;
    r.nodes = Nodes::one;
  }
  if (columns_.has(Field::gpu_milli)) {
    milli = of_each_gpu(states_total || states_each ? milli : -1);
    if (milli > kMostCount * kMilli / tasks) throw Bad{Why::too_large, Field::gpu_milli, "times the tasks is too large"};
  }
  r.gpus = uint32_t(milli / kMilli), r.milli = uint32_t(milli % kMilli);
  if (r.milli && r.gpus)
    throw Bad{Why::contradiction, states_each ? Field::gpus_per_task : states_total ? Field::gpus : Field::gpu_milli,
              "is more than one GPU for a task, and no whole number of them"};
  r.tasks = r.min_tasks = uint32_t(tasks);
  if (plain_request_) return r;

  int64_t least = tasks, over = 0;
  if (amount(Field::min_tasks, Rounding::exact, kMostCount, least) && (least < 1 || least > tasks))
    throw Bad{Why::contradiction, Field::min_tasks, "is not from 1 to the number of tasks"};
  r.min_tasks = uint32_t(least);
  if (amount(Field::nodes, Rounding::exact, kMostCount, over)) {
    if (by_task && over > tasks) throw Bad{Why::contradiction, Field::nodes, "is more than the tasks"};
    if (by_task && over == 1 && tasks > 1) r.nodes = Nodes::one;
    if (over > 1 && r.milli) throw Bad{Why::contradiction, Field::nodes, "and a part of one GPU exclude each other"};
    if (over > 1) r.over = uint32_t(over), r.nodes = Nodes::each;
    if (by_task && over == tasks) r.over = 0;
    if (r.over && r.tasks > 1 && r.min_tasks != r.tasks) throw Bad{Why::unsupported, Field::nodes, "beside a smaller min_tasks is not modelled"};
  }
  if (amount(Field::cpus, Rounding::up, kMostAmount, r.cpus) && r.cpus > kMostAmount / tasks)
    throw Bad{Why::too_large, Field::cpus, "times the tasks is too large"};
  if (amount(Field::memory, Rounding::up, kMostAmount, r.memory) && r.memory > kMostAmount / tasks)
    throw Bad{Why::too_large, Field::memory, "times the tasks is too large"};
  if (has_wishes_) r.wish = wish(r, tasks);
  if (const auto s = trim(field(Field::spread)); s == "one-per-node") {
    if (r.nodes == Nodes::one && tasks > 1) throw Bad{Why::contradiction, Field::spread, "and one node for all tasks exclude each other"};
    if (tasks > 1) r.nodes = Nodes::each;
  } else if (!s.empty() && s != "none") {
    throw Bad{Why::unsupported, Field::spread, "is not one of one-per-node, none"};
  }
  return r;
}

/// What few rows ask for, as a number; "node" as a required level is said by r.nodes.
uint32_t Rows::wish(Request& r, int64_t tasks) {
  Wish x;
  const auto text = [&](Wish::Text which, std::string_view s) { x.text[which] = s.empty() ? 0 : id_of(texts_, text_ids_, s); };
  const auto word = [&](Field f) {
    const auto s = trim(field(f));
    return s == "none" || s == "any" ? std::string_view{} : s;
  };
  text(Wish::type, trim(field(Field::gpu_type)));
  for (const auto& [which, f] : {std::pair{Wish::driver, Field::driver}, {Wish::cuda, Field::cuda}}) {
    const auto s = trim(field(f));
    if (!s.empty() && !is_version(s)) throw Bad{Why::not_a_number, f, "is not a version (12.2, 535.104.05)"};
    text(which, s);
  }
  if (const auto s = trim(field(Field::labels)); !s.empty()) {
    try {
      parse_labels(s);
    } catch (const InputError&) { throw Bad{Why::unsupported, Field::labels, "is not a list of key=value, key!=value or key, separated by ;"}; }
    text(Wish::labels, s);
  }
  auto level = word(Field::locality);
  for (const std::string_view same : {"same-", "same ", "same_"})
    if (level.starts_with(same)) level.remove_prefix(same.size());
  if (level == "node") {
    if (r.over > 1) throw Bad{Why::contradiction, Field::locality, "and more than one node exclude each other"};
    // One task is on one node in any case; Nodes::one with a single task is kept for rows that may be cut.
    r.nodes = tasks > 1 ? Nodes::one : Nodes::any;
  } else {
    text(Wish::level, level);
  }
  text(Wish::preferred, word(Field::preferred_level));
  text(Wish::apart, trim(field(Field::anti_affinity)));
  if (const auto s = trim(field(Field::numa)); !s.empty()) {
    const auto numa = parse_numa(s);
    if (!numa) throw Bad{Why::unsupported, Field::numa, "is not one of none, best-effort, restricted, single-numa-node"};
    x.numa = *numa;
  }
  for (size_t i = 0; i < columns_.amounts.size(); i++) {
    const auto& [column, resource, scale] = columns_.amounts[i];
    const auto s = trim(fields_[column]);
    if (s.empty()) continue;
    if (const Parsed p = parse_number(s, scale, Rounding::up, kMostAmount / tasks, x.amounts[i]); p != Parsed::ok)
      throw Bad{p == Parsed::negative ? Why::negative : p == Parsed::too_large ? Why::too_large : Why::not_a_number, Field::unsupported,
                "is not a number from 0", column};
  }
  if (x == Wish{}) return 0;
  uint64_t h = uint64_t(x.numa);
  for (const uint32_t v : x.text) h = mix(h ^ v);
  for (const int64_t v : x.amounts) h = mix(h ^ uint64_t(v));
  const uint32_t next = uint32_t(wishes_.size());
  const uint32_t id = wish_ids_.find_or_add(h, next, [&](uint32_t i) { return wishes_[i] == x; });
  if (id == next) wishes_.push_back(x);
  return id;
}

/// Puts the texts of a wish into the shape; every group gets those of tasks.
void Rows::grant(const Wish& wish, Shape& s) {
  const auto text = [&](Wish::Text which) { return texts_[wish.text[which]]; };
  s.required_level = text(Wish::level), s.preferred_level = text(Wish::preferred), s.numa = wish.numa;
  if (wish.text[Wish::apart]) s.apart = id_of(result_.workload.tags, tags_, text(Wish::apart));
  for (TaskGroup& g : s.groups) {
    for_each_part(text(Wish::type), '|', [&](std::string_view type) { g.gpu_types.emplace_back(type); });
    g.driver = text(Wish::driver), g.cuda = text(Wish::cuda);
    if (wish.text[Wish::labels]) g.labels = parse_labels(text(Wish::labels));
  }
}

ShapeId Rows::shape_of(const Request& r) {
  if (last_shape_ != kNone && r == last_request_) return last_shape_;
  const uint64_t h = (uint64_t{r.gpus} << 32 | r.tasks) * 0x9e3779b97f4a7c15U ^ (uint64_t{r.min_tasks} << 32 | r.over) * 0xbf58476d1ce4e5b9U ^
                     uint64_t(r.cpus) * 0x94d049bb133111ebU ^ uint64_t(r.memory) * 0xd6e8feb86659fd93U ^ (uint64_t{r.wish} << 32 | uint64_t{r.milli} << 8 | uint64_t(r.nodes));
  auto& shapes = result_.workload.shapes;
  const uint32_t next = uint32_t(shapes.size());
  const ShapeId id = shapes_.find_or_add(mix(h), next, [&](uint32_t i) { return requests_[i] == r; });
  if (id == next) {
    Shape s;
    // A task of the group has `times` / `parts` of the row's amounts.
    const auto group = [&](uint32_t tasks, uint32_t least, uint32_t gpus, int64_t times, int64_t parts) {
      const auto share = [&](int64_t amount) { return (amount * times + parts - 1) / parts; };
      TaskGroup g;
      g.max_tasks = tasks, g.min_tasks = least, g.gpus = gpus;
      g.per_task[kGpu] = int64_t{gpus} * kMilli + r.milli;
      g.per_task[kCpu] = share(r.cpus);
      g.per_task[kMem] = share(r.memory);
      for (size_t i = 0; i < columns_.amounts.size(); i++) g.per_task[3 + i] = share(wishes_[r.wish].amounts[i]);
      s.groups.push_back(g);
    };
    s.total_gpus = r.gpus * r.tasks;
    if (r.over > 1 && r.tasks > 1) {  // what a node gets of the tasks is one task here
      const uint32_t each = r.tasks / r.over, more = r.tasks % r.over;
      if (more) group(more, more, (each + 1) * r.gpus, each + 1, 1);
      group(r.over - more, r.over - more, each * r.gpus, each, 1);
    } else if (r.over > 1) {
      const uint32_t each = r.gpus / r.over, more = r.gpus % r.over;
      if (more) group(more, more, each + 1, 1, r.over);
      group(r.over - more, r.over - more, each, 1, r.over);
    } else {
      group(r.tasks, r.min_tasks, r.gpus, 1, 1);
    }
    s.nodes = r.nodes;
    if (r.wish) grant(wishes_[r.wish], s);
    s.fixed = r.min_tasks == r.tasks;
    shapes.push_back(std::move(s));
    requests_.push_back(r);
  }
  last_request_ = r, last_shape_ = id;
  return id;
}

void Rows::claims(Job& job) const {
  span(Field::estimate, job.estimate);
  span(Field::time_limit, job.time_limit);
  if (options_.limits == Limits::ignore) job.time_limit = kNever;
  if (options_.limits == Limits::estimate) job.time_limit = std::min(job.time_limit, job.estimate);
  instant(Field::deadline, job.deadline);
  instant(Field::earliest_start, job.earliest_start);
  small(Field::priority, job.priority);
}

LifeCosts Rows::costs() const {
  LifeCosts c;
  const auto s = trim(field(Field::checkpoint_interval));
  if (s == "never")
    c.checkpoint_interval = kNever;
  else
    span(Field::checkpoint_interval, c.checkpoint_interval);
  span(Field::checkpoint_cost, c.checkpoint_cost);
  span(Field::start_cost, c.start_cost);
  c.restart_cost = c.start_cost;
  span(Field::restart_cost, c.restart_cost);
  span(Field::gives_back_after, c.gives_back_after);
  return c;
}

Communication Rows::communication() {
  Communication c;
  amount(Field::gradient, Rounding::up, kMostGradient, c.gradient_bytes);
  span(Field::compute, c.compute);
  amount(Field::sensitivity, Rounding::nearest, kMostSensitivity, c.sensitivity);
  c.model = id_of(result_.workload.models, model_ids_, trim(field(Field::model)));
  return c;
}

Fate Rows::fate() {
  std::string s;
  for (const char c : trim(field(Field::fate)).substr(0, 32)) {
    if (c == ' ') break;  // "CANCELLED by 1234"
    s += c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
  }
  const auto is = [&](std::initializer_list<const char*> words) { return std::find(words.begin(), words.end(), s) != words.end(); };
  if (s.empty() || is({"done", "completed", "complete", "success", "succeeded", "pass", "passed", "finished", "terminated"})) return Fate::done;
  if (is({"failed", "fail", "failure", "error", "timeout", "node_fail", "out_of_memory"})) return Fate::failed;
  if (is({"cancelled", "canceled", "killed"})) return Fate::cancelled;
  result_.facts.unknown_fates++;
  return Fate::done;
}

uint32_t Rows::id_of(Names& names, IdTable& table, std::string_view s) {
  const uint32_t next = uint32_t(names.size());
  const uint32_t id = table.find_or_add(hash_text(s), next, [&](uint32_t i) { return same_text(names[i], s); });
  if (id == next) names.add(s);
  return id;
}

/// Whether a job above has this id; else it is remembered under the number of the next job.
bool Rows::known_id(std::string_view id) {
  const Names& names = result_.workload.names;
  const uint32_t next = uint32_t(names.size());
  if (ids_ascend_) {
    // Ids that only grow (in length, then in order) cannot repeat: no table is needed for the usual numbered file.
    if (next == 0) return false;
    const auto last = names[next - 1];
    if (id.size() != last.size() ? id.size() > last.size() : id > last) return false;
    ids_ascend_ = false;
    for (uint32_t i = 0; i < next; i++) ids_.find_or_add(hash_text(names[i]), i, [](uint32_t) { return false; });
  }
  return ids_.find_or_add(hash_text(id), next, [&](uint32_t i) { return same_text(names[i], id); }) != next;
}

void Rows::row(uint64_t line) {
  Workload& w = result_.workload;
  TraceFacts& facts = result_.facts;
  Job job;
  JobTruth truth;
  const auto submit = trim(field(Field::submit));
  if (w.jobs.empty()) facts.dates = looks_like_date(submit);  // the first row that is used decides for all
  if (!instant(Field::submit, job.submit)) throw Bad{Why::empty, Field::submit, "is empty"};
  for (const uint32_t column : columns_.unsupported)
    if (!trim(fields_[column]).empty()) throw Bad{Why::unsupported, Field::unsupported, "is not modelled yet", column};
  const Request wish = request();
  truth.work = work();
  if (truth.work == kNever && !options_.open_ended)
    return leave_out({Why::no_duration, columns_.has(Field::duration) ? Field::duration : trim(field(Field::start)).empty() ? Field::start : Field::end, "is empty"}, line);
  if (has_claims_) claims(job);
  LifeCosts costs;
  if (has_costs_) costs = this->costs();
  Communication talk;
  if (has_communication_) talk = communication();
  const bool cpu_only = wish.gpus == 0 && wish.milli == 0;
  if (cpu_only && options_.drop_cpu_only) return leave_out({Why::cpu_only, Field::none, "asks no GPU"}, line);
  if (truth.work == 0 && options_.drop_zero_duration) return leave_out({Why::zero_duration, Field::none, "lasts 0 s"}, line);
  if (truth.work != kNever && total_ + truth.work > kLongestTotal)
    throw Bad{Why::too_large, columns_.has(Field::duration) ? Field::duration : Field::end, "makes the sum of all durations too large"};
  if (columns_.has(Field::id)) {
    const auto id = trim(field(Field::id));
    if (id.empty()) return leave_out({Why::empty, Field::id, "is empty"}, line);
    if (known_id(id)) return leave_out({Why::duplicate_id, Field::id, "is the id of a job above"}, line);
    w.names.add(id);
  } else {
    w.names.add(std::to_string(result_.rows));
  }
  // From here on the row is used.
  if (truth.work != kNever)
    total_ += truth.work;
  else
    facts.open_ended++;
  if (columns_.has(Field::fate)) truth.fate = fate();
  if (columns_.has(Field::tenant)) job.tenant = id_of(w.tenants, tenants_, trim(field(Field::tenant)));
  if (columns_.has(Field::queue)) job.queue = id_of(w.queues, queues_, trim(field(Field::queue)));
  job.shape = shape_of(wish);
  if (has_costs_ || has_communication_) {
    uint64_t h = 0;
    for (const int64_t v : {costs.checkpoint_interval, costs.checkpoint_cost, costs.start_cost, costs.restart_cost, costs.gives_back_after,
                            talk.gradient_bytes, talk.compute, int64_t{talk.model}, talk.sensitivity})
      h = mix(h ^ uint64_t(v));
    const uint32_t next = uint32_t(w.costs.size());
    const auto same = [&](uint32_t i) { return w.costs[i] == costs && (!has_communication_ || w.communication[i] == talk); };
    truth.costs = same(0) ? 0 : costs_.find_or_add(h, next, same);
    if (truth.costs == next) {
      w.costs.push_back(costs);
      if (has_communication_) w.communication.push_back(talk);
    }
  }
  facts.cpu_only += cpu_only;
  facts.zero_duration += truth.work == 0;
  if (job.submit < last_submit_) facts.unsorted++, sorted_ = false;
  last_submit_ = job.submit;
  if (job.submit < least_) least_ = job.submit, first_submit_ = submit;
  w.jobs.push_back(job);
  w.truths.push_back(truth);
}

void Rows::finish() {
  Workload& w = result_.workload;
  if (!sorted_) {
    std::vector<uint32_t> order(w.jobs.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return w.jobs[a].submit < w.jobs[b].submit; });
    std::vector<Job> jobs;
    std::vector<JobTruth> truths;
    jobs.reserve(order.size()), truths.reserve(order.size());
    for (const uint32_t i : order) jobs.push_back(w.jobs[i]), truths.push_back(w.truths[i]);
    w.jobs = std::move(jobs), w.truths = std::move(truths);
    w.names = w.names.permuted(order);
  }
  if (!w.jobs.empty()) w.origin = least_;
  if (result_.facts.dates) w.origin_text = first_submit_;
  for (auto& job : w.jobs) {
    job.submit -= w.origin;
    if (job.deadline != kNever) job.deadline -= w.origin;
    job.earliest_start = std::max(job.earliest_start - w.origin, Time{0});
  }
  for (auto& l : left_out_)
    if (l.count) result_.left_out.push_back(std::move(l));
}

}  // namespace muster
