#include "workload/events.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "muster/config.hpp"
#include "workload/csv.hpp"
#include "workload/intern.hpp"
#include "workload/message.hpp"
#include "workload/numbers.hpp"

namespace muster {
namespace {

using Kind = ScriptedEvent::Kind;

constexpr std::array<std::string_view, 9> kKinds{"down", "up", "drain", "undrain", "add", "remove", "quota", "priority", "cancel"};
constexpr std::array<std::string_view, 4> kColumns{"time", "kind", "target", "value"};
constexpr Time kLatest = Time{1} << 61;

std::string near(std::string_view word, std::span<const std::string_view> known) {
  const std::string s = nearest_name(word, known);
  return s.empty() ? "" : "; did you mean " + s + "?";
}

/// The names of a row's parts, looked up; messages come without a place.
class Targets {
 public:
  Targets(const Topology& t, const Workload& w) : t_(t), w_(w) {}

  void devices(std::string_view name, bool gpus_too, ScriptedEvent& e) const {
    if (const NodeId n = t_.find_node(name); n != kNone) {
      e.node_begin = n, e.node_end = n + 1;
      return;
    }
    for (size_t level = 0; level < t_.levels().size(); level++) {
      if (level == t_.node_level()) continue;
      for (const auto& d : t_.domains(level)) {
        if (d.name != name) continue;
        if (level < t_.node_level()) {
          e.node_begin = d.node_begin, e.node_end = d.node_end;
        } else {
          if (!gpus_too) throw InputError(quoted(name) + " is part of a node: want a node or a domain of nodes");
          e.gpu_begin = d.gpu_begin, e.gpu_end = d.gpu_end;
        }
        return;
      }
    }
    if (const auto slash = name.rfind("/gpu"); slash != name.npos) {
      const NodeId n = t_.find_node(name.substr(0, slash));
      int64_t i = 0;
      if (n != kNone && parse_plain(name.substr(slash + 4), i)) {
        if (i >= int64_t{t_.gpus_of(n)}) throw InputError(quoted(name) + ": the node has " + std::to_string(t_.gpus_of(n)) + " GPUs");
        if (!gpus_too) throw InputError(quoted(name) + " is a GPU: want a node or a domain of nodes");
        e.gpu_begin = t_.first_gpu(n) + GpuId(i), e.gpu_end = e.gpu_begin + 1;
        return;
      }
    }
    std::vector<std::string_view> known;
    for (size_t level = 0; level < t_.levels().size(); level++)
      for (size_t i = 0; i < t_.domains(level).size() && known.size() < kMostKnown; i++) known.push_back(t_.domains(level)[i].name);
    throw InputError("no node or domain is called " + quoted(name) + near(name, known));
  }

  QueueId queue(std::string_view name) const {
    std::vector<std::string_view> known;
    for (QueueId q = 0; q < w_.queues.size(); q++) {
      if (w_.queues[q] == name) return q;
      if (known.size() < kMostKnown) known.push_back(w_.queues[q]);
    }
    throw InputError("no job's queue is called " + quoted(name) + near(name, known));
  }

  JobId job(std::string_view name) {
    if (!jobs_) {
      jobs_.emplace();
      for (JobId j = 0; j < w_.names.size(); j++) jobs_->find_or_add(hash_text(w_.names[j]), j, [](uint32_t) { return false; });
    }
    const uint32_t none = uint32_t(w_.names.size());
    IdTable& table = *jobs_;
    const JobId j = table.find_or_add(hash_text(name), none, [&](uint32_t i) { return i < none && w_.names[i] == name; });
    if (j != none) return j;
    std::vector<std::string_view> known;
    for (JobId i = 0; i < w_.names.size() && i < kMostKnown; i++) known.push_back(w_.names[i]);
    throw InputError("no job has the id " + quoted(name) + near(name, known));
  }

 private:
  static constexpr size_t kMostKnown = 10'000;  // names that a mistyped one is compared with
  const Topology& t_;
  const Workload& w_;
  std::optional<IdTable> jobs_;
};

Duration duration(std::string_view s) {
  Duration d = 0;
  const Parsed p = parse_number(s, {kSecond, 1}, Rounding::nearest, kLatest, d);
  if (p == Parsed::ok) return d;
  if (p == Parsed::negative) throw InputError(quoted(s) + " is negative");
  if (p == Parsed::too_large) throw InputError(quoted(s) + " is too large");
  d = parse_duration(s);
  if (d > kLatest) throw InputError(quoted(s) + " is too large");
  return d;
}

Time time_of(std::string_view s, const Workload& w) {
  const bool dates = !w.origin_text.empty();
  if (looks_like_date(s)) {
    if (!dates) throw InputError(quoted(s) + " is a date, while the trace counts from zero");
    Time t = 0;
    if (!parse_date(s, t)) throw InputError(quoted(s) + " is not a date (YYYY-MM-DD hh:mm:ss, from 1970)");
    return t - w.origin;
  }
  return dates ? duration(s) : duration(s) - w.origin;
}

int64_t whole(std::string_view s, int64_t least, int64_t most) {
  const bool minus = s.substr(0, 1) == "-";
  int64_t v = 0;
  const Parsed p = parse_number(minus ? s.substr(1) : s, {}, Rounding::exact, int64_t{1} << 61, v);
  if (minus) v = -v;
  if (p != Parsed::ok || v < least || v > most)
    throw InputError("want a whole number from " + std::to_string(least) + " to " + std::to_string(most) + ", found " + quoted(s));
  return v;
}

}  // namespace

std::vector<ScriptedEvent> read_events(std::string_view text, std::string_view file, const Topology& t, const Workload& w) {
  if (text.substr(0, 3) == "\xef\xbb\xbf") text.remove_prefix(3);
  const auto head = text.substr(0, text.find('\n'));
  CsvReader reader(text, find_separator(head.substr(0, 65'536)));
  const auto place = [&] { return std::string(file) + ":" + std::to_string(reader.line()) + ": "; };
  if (!reader.next()) throw InputError(std::string(file) + ": is empty: want a header line with time, kind, target, value");
  if (reader.fault()) throw InputError(place() + "the header " + reader.fault());
  std::array<size_t, kColumns.size()> at{};
  at.fill(~size_t{0});
  for (size_t i = 0; i < reader.fields().size(); i++) {
    const auto name = trim(reader.fields()[i]);
    const auto* it = std::find(kColumns.begin(), kColumns.end(), name == "time_s" ? std::string_view("time") : name);
    if (it == kColumns.end()) throw InputError(place() + "no column of events is called " + quoted(name) + near(name, kColumns));
    if (at[size_t(it - kColumns.begin())] != ~size_t{0}) throw InputError(place() + "column " + std::string(*it) + " is there twice");
    at[size_t(it - kColumns.begin())] = i;
  }
  for (size_t i = 0; i < 3; i++)
    if (at[i] == ~size_t{0}) throw InputError(place() + "there is no column " + std::string(kColumns[i]));
  const size_t columns = reader.fields().size();

  Targets targets(t, w);
  std::vector<ScriptedEvent> events;
  while (reader.next()) {
    if (reader.fault()) throw InputError(place() + "the row " + reader.fault());
    const auto fields = reader.fields();
    if (fields.size() < columns) throw InputError(place() + "the row has fewer fields than the header");
    for (size_t i = columns; i < fields.size(); i++)
      if (!trim(fields[i]).empty()) throw InputError(place() + "the row has more fields than the header");
    size_t column = 0;
    const auto field = [&](size_t i) {
      column = i;
      return at[i] == ~size_t{0} ? std::string_view{} : trim(fields[at[i]]);
    };
    try {
      ScriptedEvent e;
      e.at = time_of(field(0), w);
      const auto kind = field(1);
      const auto* it = std::find(kKinds.begin(), kKinds.end(), kind);
      if (it == kKinds.end()) throw InputError("want one of down, up, drain, undrain, add, remove, quota, priority, cancel, found " + quoted(kind) + near(kind, kKinds));
      e.kind = Kind(it - kKinds.begin());
      const auto target = field(2);
      if (target.empty() && e.kind != Kind::quota) throw InputError("is empty");
      switch (e.kind) {
        case Kind::quota: e.queue = targets.queue(target); break;
        case Kind::priority:
        case Kind::cancel: e.job = targets.job(target); break;
        default: targets.devices(target, e.kind == Kind::down || e.kind == Kind::up, e);
      }
      const auto value = field(3);
      if (e.kind == Kind::quota) {
        e.value = whole(value, 0, int64_t{1} << 31);
      } else if (e.kind == Kind::priority) {
        e.value = whole(value, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max());
      } else if (e.kind == Kind::drain) {
        e.value = value.empty() ? kNever : duration(value);
      } else if (!value.empty()) {
        throw InputError(std::string(kind) + " takes no value, found " + quoted(value));
      }
      events.push_back(e);
    } catch (const InputError& error) {
      throw InputError(place() + "column " + std::string(kColumns[column]) + ": " + error.what());
    }
  }
  std::stable_sort(events.begin(), events.end(), [](const ScriptedEvent& a, const ScriptedEvent& b) { return a.at < b.at; });
  for (auto& e : events) e.at = std::max(e.at, Time{0});
  return events;
}

}  // namespace muster
