// The reader: a scanner for the flat objects of one line each that RecordWriter writes, some ten times as fast as a general parser.
#include <array>
#include <deque>
#include <map>
#include <optional>

#include "metrics/family.hpp"
#include "muster/config.hpp"
#include "report/records.hpp"
#include "text/json_config.hpp"
#include "topology/to_json.hpp"

namespace muster {
namespace {

constexpr int64_t kMostAmount = int64_t{1} << 53;  // milli-GPUs at once, far beyond any cluster: sums cannot overflow

/// One line. Every error names file, line and column.
class Scanner {
 public:
  Scanner(std::string_view line, std::string_view file, uint64_t number) : line_(line), file_(file), number_(number) {}

  [[noreturn]] void fail(const std::string& what) const {
    throw InputError(std::string(file_) + ":" + std::to_string(number_) + ": column " + std::to_string(at_ + 1) + ": " + what);
  }
  bool next(char c) {
    if (at_ >= line_.size() || line_[at_] != c) return false;
    at_++;
    return true;
  }
  void want(char c) {
    if (!next(c)) fail(std::string("want ") + c + (at_ < line_.size() ? std::string(", found ") + line_[at_] : std::string(", found the end of the line")));
  }
  /// Calls f(key) for every member; f reads the value.
  template <class F>
  void object(F f) {
    want('{');
    if (next('}')) return;
    do {
      const std::string_view key = string();
      want(':');
      f(key);
    } while (next(','));
    want('}');
  }
  template <class F>
  void list(F f) {
    want('[');
    if (next(']')) return;
    do f();
    while (next(','));
    want(']');
  }
  /// Valid as long as the line and this scanner's texts are.
  std::string_view string() {
    want('"');
    const size_t end = line_.find_first_of("\"\\", at_);
    if (end == std::string_view::npos) fail("a string does not end");
    if (line_[end] == '"') {
      const std::string_view s = line_.substr(at_, end - at_);
      at_ = end + 1;
      return s;
    }
    std::string& s = texts_.emplace_back();
    while (true) {
      if (at_ >= line_.size()) fail("a string does not end");
      const char c = line_[at_++];
      if (c == '"') return s;
      if (c != '\\') {
        s.push_back(c);
        continue;
      }
      if (at_ >= line_.size()) fail("a string does not end");
      switch (const char e = line_[at_++]) {
        case 'n': s.push_back('\n'); break;
        case 't': s.push_back('\t'); break;
        case '"':
        case '\\': s.push_back(e); break;
        case 'u': code(s); break;
        default: fail(std::string("records have no \\") + e);
      }
    }
  }
  Int128 integer(Int128 least, Int128 most) {
    const bool negative = next('-');
    if (at_ >= line_.size() || line_[at_] < '0' || line_[at_] > '9') fail("want a whole number");
    constexpr Int128 kRoom = (Int128{1} << 122);
    Int128 v = 0;
    while (at_ < line_.size() && line_[at_] >= '0' && line_[at_] <= '9') {
      if (v > kRoom / 10) fail("the number is too large");
      v = v * 10 + (line_[at_++] - '0');
    }
    if (negative) v = -v;
    if (v < least || v > most) fail("the number is out of its range");
    return v;
  }
  int64_t amount() { return int64_t(integer(-kMostAmount, kMostAmount)); }
  Duration duration() { return Duration(integer(0, kNever)); }
  bool peek(char c) const { return at_ < line_.size() && line_[at_] == c; }
  size_t at() const { return at_; }
  std::string_view since(size_t from) const { return line_.substr(from, at_ - from); }
  bool at_end() const { return at_ == line_.size(); }

 private:
  // \u00XX of a control character, or a byte that was no UTF-8 as \udcXX.
  void code(std::string& s) {
    unsigned v = 0;
    for (int i = 0; i < 4; i++) {
      const char c = at_ < line_.size() ? line_[at_++] : '\0';
      if (c >= '0' && c <= '9') v = v << 4 | unsigned(c - '0');
      else if (c >= 'a' && c <= 'f') v = v << 4 | unsigned(c - 'a' + 10);
      else fail("want four hexadecimal digits after \\u");
    }
    if (v < 0x80) s.push_back(char(v));
    else if (v >= 0xDC80 && v <= 0xDCFF) s.push_back(char(v - 0xDC00));
    else fail("records have no such \\u");
  }

  std::string_view line_, file_;
  uint64_t number_;
  size_t at_ = 0;
  std::deque<std::string> texts_;
};

/// Names of an enum as to_text writes them.
template <class E>
struct EnumNames {
  explicit EnumNames(unsigned n) {
    for (unsigned i = 0; i < n; i++) names.push_back(to_text(E(i)));
  }
  std::optional<E> find(std::string_view name) const {
    for (size_t i = 0; i < names.size(); i++)
      if (names[i] == name) return E(i);
    return std::nullopt;
  }
  std::vector<std::string_view> names;
};

/// Dense ids of names, in the order in which they first appear.
class Interned {
 public:
  uint32_t operator()(Names& names, std::string_view s) {
    const auto found = ids_.find(s);
    if (found != ids_.end()) return found->second;
    const uint32_t id = names.add(s);
    ids_.emplace(s, id);
    return id;
  }

 private:
  std::map<std::string, uint32_t, std::less<>> ids_;
};

class RecordReader {
 public:
  RecordReader(std::string_view text, std::string_view file, std::span<Observer* const> observers)
      : text_(text), file_(file), observers_(observers) {}

  Recording read() {
    header(next_line("its first line, the header, is missing"));
    for (Observer* o : observers_) o->begin(out_.header);
    while (!over_) {
      const std::string_view line = next_line("it was cut: its last line says \"end_of_run\"");
      Scanner s(line, file_, number_);
      record(s);
    }
    if (!text_.empty()) fail_line(number_ + 1, "something follows the end of the run");
    return std::move(out_);
  }

 private:
  [[noreturn]] void fail_line(uint64_t number, const std::string& what) const {
    throw InputError(std::string(file_) + ":" + std::to_string(number) + ": " + what);
  }

  std::string_view next_line(const char* missing) {
    number_++;
    const size_t end = text_.find('\n');
    if (end == std::string_view::npos) fail_line(number_, std::string("the file is not whole; ") + missing);
    const std::string_view line = text_.substr(0, end);
    text_.remove_prefix(end + 1);
    return line;
  }

  void header(std::string_view line) {
    static constexpr std::array<std::string_view, 14> kKnown{"schema",       "metrics",       "version",   "policy",      "parameters", "seed", "until_us", "inputs", "rows",
                                                             "dropped_rows", "origin_us", "origin_text", "jobs",       "topology"};
    if (line.substr(0, 10) != "{\"schema\":") fail_line(1, "no file of records: it does not begin with {\"schema\":");
    const Config c = parse_json_config(line, file_);
    const auto field = [&](std::string_view name) -> const Config& {
      const Config* f = c.find(name);
      if (!f) fail_line(1, "\"" + std::string(name) + "\" is missing in the header");
      return *f;
    };
    if (const std::string_view schema = field("schema").as_text(); schema != "muster-records-1")
      fail_line(1, "the schema is " + std::string(schema) + "; this version reads muster-records-1");
    c.only(kKnown);
    Header& h = out_.header;
    h.policy = field("policy").as_text();
    const auto pairs = [&](std::string_view name, auto add) {
      for (const auto& [none, pair] : field(name).fields) {
        if (pair.fields.size() != 2) throw InputError(pair.where + ": want a pair");
        add(std::string(pair.fields[0].second.as_text()), pair.fields[1].second);
      }
    };
    constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
    pairs("parameters", [&](std::string name, const Config& v) { h.parameters.emplace_back(std::move(name), v.as_text()); });
    pairs("inputs", [&](std::string name, const Config& v) { h.inputs.emplace_back(std::move(name), v.as_text()); });
    pairs("dropped_rows", [&](std::string name, const Config& v) { h.dropped_rows.emplace_back(std::move(name), uint64_t(v.as_integer(0, kMost))); });
    if (const Config* metrics = c.find("metrics"))
      for (const auto& [none, name] : metrics->fields) {
        parse_families(name.as_text());
        h.metrics.emplace_back(name.as_text());
      }
    Scanner seed(field("seed").value, file_, 1);
    h.seed = uint64_t(seed.integer(0, ~uint64_t{0}));
    if (const Config* until = c.find("until_us")) h.until = until->as_integer(0, kMost);
    h.rows = uint64_t(field("rows").as_integer(0, kMost));
    const size_t jobs = size_t(field("jobs").as_integer(0, kNone - 1));
    // Every job has a line, so a larger number is a lie, and memory is not to be spent on it. Jobs after the cut of a run have none.
    if (jobs > text_.size() && h.until == kNever) fail_line(1, "more jobs than the file has room for");
    out_.topology = std::make_unique<Topology>(topology_from_record(field("topology")));
    out_.workload = std::make_unique<Workload>();
    Workload& w = *out_.workload;
    w.jobs.resize(jobs), w.truths.resize(jobs);
    models_(w.models, {});
    w.origin = field("origin_us").as_integer(std::numeric_limits<int64_t>::min(), kMost);
    w.origin_text = field("origin_text").as_text();
    w.costs.clear();
    h.topology = out_.topology.get();
    h.workload = out_.workload.get();
    seen_.resize(jobs);
  }

  struct Pending {
    Record record;
    size_t pieces_from = 0, pieces = 0, fields_from = 0, fields = 0;  // in pieces_ and fields_
  };

  void record(Scanner& s) {
    Record r;
    Submit submit;
    bool has_what = false, has_at = false, end_of_run = false;
    Int128 count = -1;
    Pending pending;
    s.object([&](std::string_view key) {
      if (key == "at_us") r.at = s.duration(), has_at = true, begin_instant(s, r.at), pending = {r, pieces_.size(), 0, fields_.size(), 0};
      else if (key == "end_of_run") end_of_run = word(s, "true");
      else if (!has_at) s.fail("want \"at_us\" first");
      else if (key == "what") r.what = enumerator(s, whats_), has_what = true;
      else if (key == "job") r.job = JobId(s.integer(0, Int128(seen_.size()) - 1));
      else if (key == "state") r.state = enumerator(s, states_);
      else if (key == "reason") r.reason = enumerator(s, reasons_);
      else if (key == "held_mgpu") r.held = s.amount();
      else if (key == "waiting") r.waiting = int32_t(s.integer(-1, 1));
      else if (key == "computed_mgpu_us") r.computed = s.integer(0, Int128{1} << 96);
      else if (key == "lost_mgpu_us") r.lost = s.integer(0, Int128{1} << 96);
      else if (key == "capacity_mgpu") r.capacity = s.amount();
      else if (key == "lost_us") r.lost_time = s.duration();
      else if (key == "grace_us") r.grace = s.duration();
      else if (key == "speed_ppm") r.speed = s.duration();
      else if (key == "pieces") pieces(s);
      else if (key == "time") r.time = &times_.emplace_back(time(s));
      else if (key == "kind") r.kind = keep(s.string());
      else if (key == "fields") note_fields(s);
      else if (key == "records") count = s.integer(0, kNever);
      else if (r.what != What::submit || !submit.read(s, key)) s.fail("records have no \"" + std::string(key) + "\" here");
    });
    if (!s.at_end()) s.fail("something follows the object");
    if (!has_at) s.fail("\"at_us\" is missing");
    if (end_of_run) {
      flush();
      if (count != Int128(out_.records)) s.fail("the end of the run counts other records than the file has");
      if (submitted_ != ended_) s.fail("of " + std::to_string(submitted_) + " jobs submitted " + std::to_string(ended_) + " have ended");
      for (Observer* o : observers_) o->finish(r.at);
      over_ = true;
      return;
    }
    if (!has_what) s.fail("\"what\" is missing");
    check(s, r);
    if (r.what == What::submit) add_job(s, r, submit);
    pending.record = r;
    pending.pieces = pieces_.size() - pending.pieces_from;
    pending.fields = fields_.size() - pending.fields_from;
    pending_.push_back(pending);
    out_.records++;
  }

  struct Submit {
    std::string_view id, user, queue, fate, apart, groups, model;
    Shape shape;
    Job job;
    JobTruth truth{kNever, 0, Fate::done};
    LifeCosts costs;
    Communication talk;

    bool read(Scanner& s, std::string_view key) {
      if (key == "id") id = s.string();
      else if (key == "user") user = s.string();
      else if (key == "queue") queue = s.string();
      else if (key == "gpus") shape.total_gpus = uint32_t(s.integer(0, kNone));
      else if (key == "nodes") shape.nodes = Nodes(s.integer(0, int(Nodes::whole)));
      else if (key == "groups") {
        const size_t from = s.at();
        s.list([&] { group(s); });
        groups = s.since(from);
      }
      else if (key == "required_level") shape.required_level = s.string();
      else if (key == "preferred_level") shape.preferred_level = s.string();
      else if (key == "anti_affinity") apart = s.string();
      else if (key == "numa") {
        const auto numa = parse_numa(s.string());
        if (!numa) s.fail("no NUMA alignment is called so");
        shape.numa = *numa;
      }
      else if (key == "estimate_us") job.estimate = s.duration();
      else if (key == "time_limit_us") job.time_limit = s.duration();
      else if (key == "deadline_us") job.deadline = Time(s.integer(std::numeric_limits<int64_t>::min(), kNever));
      else if (key == "earliest_start_us") job.earliest_start = Time(s.integer(std::numeric_limits<int64_t>::min(), kNever));
      else if (key == "priority") job.priority = int32_t(s.integer(std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()));
      else if (key == "work_us") truth.work = s.duration();
      else if (key == "fate") fate = s.string();
      else if (key == "checkpoint_interval_us") costs.checkpoint_interval = s.duration();
      else if (key == "checkpoint_cost_us") costs.checkpoint_cost = s.duration();
      else if (key == "start_cost_us") costs.start_cost = s.duration();
      else if (key == "restart_cost_us") costs.restart_cost = s.duration();
      else if (key == "gives_back_after_us") costs.gives_back_after = s.duration();
      else if (key == "gradient_bytes") talk.gradient_bytes = s.duration();
      else if (key == "compute_us") talk.compute = s.duration();
      else if (key == "model") model = s.string();
      else if (key == "sensitivity_ppm") talk.sensitivity = s.duration();
      else return false;
      return true;
    }

    static void label(Scanner& s, TaskGroup& g) {
      try {
        g.labels.push_back(parse_label_wish(s.string()));
      } catch (const InputError& e) { s.fail(e.what()); }
    }

    void group(Scanner& s) {
      TaskGroup& g = shape.groups.emplace_back();
      s.object([&](std::string_view key) {
        if (key == "min") g.min_tasks = uint32_t(s.integer(0, kNone));
        else if (key == "max") g.max_tasks = uint32_t(s.integer(0, kNone));
        else if (key == "gpus") g.gpus = uint32_t(s.integer(0, kNone));
        else if (key == "gpu_mem_mib") g.gpu_mem_mib = s.duration();
        else if (key == "gpu_types") s.list([&] { g.gpu_types.emplace_back(s.string()); });
        else if (key == "driver") g.driver = s.string();
        else if (key == "cuda") g.cuda = s.string();
        else if (key == "labels") s.list([&] { label(s, g); });
        else if (key == "amounts") {
          size_t k = 0;
          s.list([&] {
            if (k == kMaxKinds) s.fail("more than " + std::to_string(kMaxKinds) + " amounts");
            g.per_task[k++] = s.duration();
          });
        } else s.fail("groups have no \"" + std::string(key) + "\"");
      });
      if (g.min_tasks != g.max_tasks) shape.fixed = false;
    }
  };

  void add_job(Scanner& s, const Record& r, Submit& submit) {
    Workload& w = *out_.workload;
    if (w.tags.size() == 0) tags_(w.tags, {});
    if (submit.shape.groups.empty()) s.fail("\"groups\" is missing");
    while (w.names.size() < r.job) w.names.add({});
    w.names.add(submit.id);
    submit.job.submit = r.at;
    submit.job.tenant = tenants_(w.tenants, submit.user);
    submit.job.queue = queues_(w.queues, submit.queue);
    if (submit.fate == "failed") submit.truth.fate = Fate::failed;
    else if (submit.fate == "cancelled") submit.truth.fate = Fate::cancelled;
    else if (!submit.fate.empty()) s.fail("fate is failed or cancelled");
    std::string key(submit.groups);
    submit.shape.apart = tags_(w.tags, submit.apart);
    const Shape& shape = submit.shape;
    for (const std::string& level : {shape.required_level, shape.preferred_level}) key += std::to_string(level.size()) + level;
    for (const uint32_t n : {uint32_t(shape.nodes), shape.total_gpus, shape.apart, uint32_t(shape.numa)}) key += std::to_string(n) + ' ';
    const auto [at, fresh] = shapes_.emplace(std::move(key), ShapeId(w.shapes.size()));
    if (fresh) w.shapes.push_back(std::move(submit.shape));
    if (!submit.model.empty()) submit.talk.model = models_(w.models, submit.model);
    if (w.costs.empty() || w.costs.back() != submit.costs || w.communication.back() != submit.talk)
      w.costs.push_back(submit.costs), w.communication.push_back(submit.talk);
    submit.job.shape = at->second;
    submit.truth.costs = uint32_t(w.costs.size() - 1);
    w.jobs[r.job] = submit.job;
    w.truths[r.job] = submit.truth;
  }

  /// What observers rely on.
  void check(Scanner& s, const Record& r) {
    held_ += r.held, installed_ += r.capacity;
    if (held_ < 0 || held_ > kMostAmount) s.fail("the GPUs held by all jobs are below zero or beyond measure");
    if (installed_ < -kMostAmount || installed_ > kMostAmount) s.fail("the GPUs installed are beyond measure");
    const bool of_job = r.what == What::submit || r.what == What::end;
    if (r.job == kNone) {
      if (of_job || r.waiting != 0) s.fail("\"job\" is missing");
      return;
    }
    uint8_t& seen = seen_[r.job];
    if (r.what == What::submit) {
      if (seen != 0) s.fail("the job was submitted before");
      if (r.job < out_.workload->names.size()) s.fail("jobs are not submitted in order");
      seen = 1, submitted_++;
    } else if (seen == 0) {
      s.fail("the job was not submitted yet");
    }
    if (r.what == What::end) {
      if (seen == 2) s.fail("the job ended before");
      if (!ended(r.state)) s.fail("an end whose state is none");
      if (!r.time) s.fail("\"time\" is missing");
      if (Int128(r.time->total()) != Int128(r.at) - out_.workload->jobs[r.job].submit) s.fail("the parts of the job's time are not its time from submit to end");
      seen = 2, ended_++;
    }
  }

  void pieces(Scanner& s) {
    try {
      const std::vector<Piece> p = parse_pieces(*out_.topology, s.string());
      pieces_.insert(pieces_.end(), p.begin(), p.end());
    } catch (const InputError& e) {
      s.fail(e.what());
    }
  }

  TimeParts time(Scanner& s) {
    TimeParts t;
    Int128 sum = 0;
    const auto part = [&](Duration& d) { sum += d = s.duration(); };
    s.object([&](std::string_view key) {
      if (key == "queue_first_us") part(t.queue_first);
      else if (key == "requeue_us") part(t.requeue);
      else if (key == "start_first_us") part(t.start_first);
      else if (key == "work_us") part(t.work);
      else if (key == "checkpoint_us") part(t.checkpoint);
      else if (key == "drain_us") part(t.drain);
      else if (key == "restart_us") part(t.restart);
      else if (key == "lost_us") part(t.lost);
      else s.fail("a job's time has no \"" + std::string(key) + "\"");
    });
    if (sum > kNever) s.fail("the job's time is too long");
    return t;
  }

  void note_fields(Scanner& s) {
    s.object([&](std::string_view key) {
      NoteField f;
      f.name = keep(key);
      if (s.peek('"')) f.text = keep(s.string());
      else f.number = int64_t(s.integer(std::numeric_limits<int64_t>::min(), kNever));
      fields_.push_back(f);
    });
  }

  bool word(Scanner& s, std::string_view w) {
    for (char c : w) s.want(c);
    return true;
  }

  template <class E>
  E enumerator(Scanner& s, const EnumNames<E>& names) {
    const std::string_view text = s.string();
    if (const auto e = names.find(text)) return *e;
    const std::string near = nearest_name(text, names.names);
    s.fail("\"" + std::string(text) + "\" is not known" + (near.empty() ? std::string() : "; did you mean " + near + "?"));
  }

  std::string_view keep(std::string_view s) { return texts_.emplace_back(s); }

  // Observers see the records of an instant together. What they point to lives until then.
  void begin_instant(const Scanner& s, Time at) {
    if (at < at_) s.fail("time goes back");
    if (at > at_) flush();
    at_ = at;
  }
  void flush() {
    if (pending_.empty()) return;
    batch_.clear();
    for (const Pending& p : pending_) {
      batch_.push_back(p.record);
      batch_.back().pieces = Pieces(pieces_).subspan(p.pieces_from, p.pieces);
      batch_.back().fields = std::span<const NoteField>(fields_).subspan(p.fields_from, p.fields);
    }
    for (Observer* o : observers_) o->see(batch_);
    pending_.clear(), pieces_.clear(), fields_.clear(), times_.clear(), texts_.clear();
  }

  std::string_view text_, file_;
  std::span<Observer* const> observers_;
  Recording out_;
  EnumNames<What> whats_{unsigned(What::wake) + 1};
  EnumNames<State> states_{unsigned(State::unfinished) + 1};
  EnumNames<Reason> reasons_{unsigned(Reason::policy) + 1};
  Interned tenants_, queues_, tags_, models_;
  std::map<std::string, ShapeId> shapes_;  // by what a submit record says of it
  std::vector<uint8_t> seen_;  // by job: 1 submitted, 2 ended
  uint64_t number_ = 0, submitted_ = 0, ended_ = 0;
  Time at_ = 0;
  int64_t held_ = 0, installed_ = 0;
  bool over_ = false;
  std::vector<Pending> pending_;
  std::vector<Record> batch_;
  std::vector<Piece> pieces_;
  std::vector<NoteField> fields_;
  std::deque<TimeParts> times_;
  std::deque<std::string> texts_;
};

}  // namespace

Recording::Recording() = default;
Recording::~Recording() = default;
Recording::Recording(Recording&&) noexcept = default;
Recording& Recording::operator=(Recording&&) noexcept = default;

Recording read_records(std::string_view text, std::string_view file, std::span<Observer* const> observers) {
  return RecordReader(text, file, observers).read();
}

}  // namespace muster
