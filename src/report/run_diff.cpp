#include "report/run_diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "muster/config.hpp"
#include "report/gate.hpp"
#include "text/json_config.hpp"
#include "text/numbers.hpp"

namespace muster {
namespace {

/// One line of a recording, or none when it has ended.
struct Event {
  Config json;
  Time at = 0;
  std::string what, reason, state, job, pieces;  // empty: does not have it
};

struct Side {
  std::string_view text;  // all of it
  std::string name;
  std::size_t at = 0;  // where the parting line begins
};

std::string_view first_line(std::string_view text) { return text.substr(0, text.find('\n')); }

std::string field(const Config& c, std::string_view name) {
  const Config* f = c.find(name);
  return f ? f->value : std::string();
}

Event read_event(std::string_view line, const std::string& where) {
  Event e;
  e.json = parse_json_config(line, where);
  if (e.json.kind != Config::Kind::object) throw InputError(where + ": is no record");
  if (const Config* at = e.json.find("at_us")) e.at = at->as_integer(0, kNever);
  e.what = field(e.json, "what"), e.reason = field(e.json, "reason"), e.state = field(e.json, "state");
  e.job = field(e.json, "job"), e.pieces = field(e.json, "pieces");
  return e;
}

/// A value in one line, for a message.
std::string flat(const Config* c) {
  if (!c) return "-";
  if (c->kind != Config::Kind::list && c->kind != Config::Kind::object) return c->value;
  std::string s;
  for (const Config::Field& f : c->fields)
    s += (s.empty()                                  ? ""
          : f.first.empty() && c->fields.size() == 2 ? "="
                                                     : ", ") +
         (f.first.empty() ? "" : f.first + " ") + flat(&f.second);
  return s;
}

std::string shortened(std::string s, std::size_t most) {
  if (s.size() > most) s = s.substr(0, most) + "...";
  return s;
}

Config read_header(const Side& s) {
  Config c;
  try {
    c = parse_json_config(first_line(s.text), s.name + ":1");
  } catch (const InputError&) {  // told below: what JSON lacks does not matter in a file that is something else
  }
  if (c.kind != Config::Kind::object || field(c, "schema") != "muster-records-1")
    throw InputError(s.name + ":1: want the header of a records.jsonl, with \"schema\": \"muster-records-1\"");
  return c;
}

std::string header_differences(const Config& a, const Config& b) {
  std::string s;
  const auto each = [&](const Config& one, bool both) {
    for (const Config::Field& f : one.fields) {
      const Config *ours = a.find(f.first), *theirs = b.find(f.first);
      if (both != (ours && theirs)) continue;
      const std::string left = flat(ours), right = flat(theirs);
      if (left != right) s += fmt::format("header  {}: {} | {}\n", f.first, shortened(left, 120), shortened(right, 120));
    }
  };
  each(a, true);
  each(a, false);
  each(b, false);
  return s;
}

/// The text a job is known by: its name in the trace, from its submit record.
std::string job_name(const Side& s, const std::string& job) {
  const std::string key = fmt::format("\"what\":\"submit\",\"job\":{},", job);
  const std::size_t found = s.text.find(key);
  if (found == std::string_view::npos) return "job #" + job;
  const std::size_t begin = s.text.rfind('\n', found) + 1;
  return "job " + one_line(field(parse_json_config(first_line(s.text.substr(begin)), s.name), "id"));
}

std::string because(const Event& e) { return e.reason.empty() || e.reason == "none" ? "" : ", reason " + e.reason; }

std::string told(const Side& s, const Event& e) {
  if (e.json.find("end_of_run")) return "the run ends";
  std::string text = e.job.empty() ? e.what : job_name(s, e.job) + ": " + e.what;
  if (!e.pieces.empty()) text += " " + e.pieces;
  if (!e.state.empty()) text += " (" + e.state + ")";
  if (const Config* kind = e.json.find("kind")) text += " " + kind->value;
  return text + because(e);
}

/// What becomes of a job on this side in the instant of the parting, else why it waits since before.
std::string fate(const Side& s, const std::string& job, Time at) {
  std::string_view rest = s.text.substr(s.at);
  while (!rest.empty()) {
    const std::string_view line = first_line(rest);
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    const Event e = read_event(line, s.name);
    if (e.at > at) break;
    if (e.job == job) return told(s, e);
  }
  const std::string name = job_name(s, job);
  const std::size_t last = s.text.substr(0, s.at).rfind(fmt::format(",\"job\":{},", job));
  if (last == std::string_view::npos) return name + ": not yet submitted";
  const std::size_t begin = s.text.rfind('\n', last) + 1;
  const Event e = read_event(first_line(s.text.substr(begin)), s.name);
  return fmt::format("{}: as before, {} since {}{}", name, e.state, format_duration(e.at), because(e));
}

}  // namespace

RunDiff diff_runs(std::string_view a, const std::string& a_name, std::string_view b, const std::string& b_name) {
  Side left{a, a_name}, right{b, b_name};
  RunDiff d;
  const std::string headers = header_differences(read_header(left), read_header(right));
  // Behind the headers.
  const std::size_t a_begin = std::min(a.size(), first_line(a).size() + 1), b_begin = std::min(b.size(), first_line(b).size() + 1);
  const std::optional<Parting> parting = first_difference(a.substr(a_begin), b.substr(b_begin));
  d.text = headers;
  if (!parting) {
    d.text += headers.empty() ? "the runs are equal to the byte\n" : "every record is the same; only the headers differ\n";
    return d;
  }
  d.parts = true;
  const auto offset = [&](std::string_view text, std::size_t begin) {
    for (std::size_t i = 1; i < parting->line && begin < text.size(); ++i) begin = text.find('\n', begin) + 1;
    return begin;
  };
  left.at = offset(a, a_begin), right.at = offset(b, b_begin);
  const std::size_t line = parting->line + 1;
  struct Told {
    Side& side;
    const std::optional<std::string>& line;
    std::optional<Event> event;
  };
  Told sides[] = {{left, parting->a, {}}, {right, parting->b, {}}};
  Time at = kNever;
  for (Told& t : sides)
    if (t.line) {
      t.event = read_event(first_line(*t.line), fmt::format("{}:{}", t.side.name, line));
      at = std::min(at, t.event->at);
    }
  // Records are in order of time, so nothing before the earlier of the two can differ.
  d.text += fmt::format("the runs part at line {}, record {}, {} after the first submit ({}.{:06} s)\n", line, line - 1,
                        format_duration(at), at / kSecond, at % kSecond);
  for (const Told& t : sides) {
    const Told& other = &t == &sides[0] ? sides[1] : sides[0];
    d.text += t.side.name + "\n";
    if (!t.event) {
      d.text += "  ends here: the file was cut short\n";
      continue;
    }
    const std::string when = t.event->at == at ? "" : fmt::format(" (only at {})", format_duration(t.event->at));
    d.text += "  " + told(t.side, *t.event) + when + "\n";
    if (other.event && !other.event->job.empty() && other.event->job != t.event->job)
      d.text += "  " + fate(t.side, other.event->job, at) + "\n";
    d.text += "  " + shortened(std::string(first_line(*t.line)), 400) + "\n";
  }
  return d;
}

}  // namespace muster
