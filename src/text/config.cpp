#include "muster/config.hpp"

#include "text/numbers.hpp"

namespace muster {
namespace {

using Kind = Config::Kind;

std::string found(const Config& c) {
  switch (c.kind) {
    case Kind::none: return "nothing";
    case Kind::text: return in_quotes(c.value);
    case Kind::number:
    case Kind::boolean: return c.value.size() > 60 ? c.value.substr(0, 60) + "..." : c.value;
    case Kind::list: return "a list";
    case Kind::object: return "an object";
  }
  return {};
}

[[noreturn]] void want(const Config& c, const std::string& what) {
  throw InputError((c.where.empty() ? "" : c.where + ": ") + "want " + what + ", found " + found(c));
}

/// A value that came from a command line is text of whatever type is wanted; one from a file has a type.
bool is(const Config& c, Kind kind) { return c.kind == kind || (c.kind == Kind::text && (c.where.empty() || c.where.starts_with("--"))); }

}  // namespace

Config& Config::set(std::string_view name, Config v) {
  if (kind != Kind::object) *this = Config{Kind::object, {}, {}, where};
  for (auto& [key, old] : fields)
    if (key == name) return old = std::move(v);
  return fields.emplace_back(std::string(name), std::move(v)).second;
}

Config Config::text(std::string v, std::string where) { return Config{Kind::text, std::move(v), {}, std::move(where)}; }

std::string_view Config::as_text() const {
  if (kind != Kind::text) want(*this, "a text");
  return value;
}

int64_t Config::as_integer(int64_t least, int64_t most) const {
  const auto n = is(*this, Kind::number) ? whole_number(value) : std::nullopt;
  if (!n || *n < least || *n > most) {
    if (most == std::numeric_limits<int64_t>::max())
      want(*this, least == std::numeric_limits<int64_t>::min() ? "a whole number" : "a whole number from " + with_commas(least));
    want(*this, "a whole number from " + with_commas(least) + " to " + with_commas(most));
  }
  return *n;
}

int64_t Config::as_millionths(int64_t least, int64_t most) const {
  const auto n = is(*this, Kind::number) ? scaled_decimal(value, 1'000'000, Round::nearest) : std::nullopt;
  const auto text = [](int64_t millionths) {
    std::string s = with_commas(millionths / 1'000'000), rest = std::to_string(1'000'000 + millionths % 1'000'000).substr(1);
    while (!rest.empty() && rest.back() == '0') rest.pop_back();
    return rest.empty() ? s : s + "." + rest;
  };
  if (!n || *n < least || *n > most) want(*this, "a number from " + text(least) + " to " + text(most));
  return *n;
}

std::vector<int64_t> Config::as_integers(int64_t least, int64_t most) const {
  std::vector<int64_t> out;
  if (kind == Kind::list) {
    for (const auto& [none, c] : fields) out.push_back(c.as_integer(least, most));
    return out;
  }
  if (!is(*this, Kind::list)) want(*this, "a list of whole numbers");
  for (size_t at = 0, end = 0; end != value.size(); at = end + 1) {
    end = std::min(value.find(',', at), value.size());
    const auto n = whole_number(std::string_view(value).substr(at, end - at));
    if (!n || *n < least || *n > most)
      want(*this, "whole numbers from " + with_commas(least) + " to " + with_commas(most) + " with commas between");
    out.push_back(*n);
  }
  return out;
}

bool Config::as_boolean() const {
  if (!is(*this, Kind::boolean) || (value != "true" && value != "false")) want(*this, "true or false");
  return value == "true";
}

Duration Config::as_duration() const {
  if (kind != Kind::text && kind != Kind::number) want(*this, "a duration (\"360 s\", \"1h30m\", or a number of seconds)");
  try {
    return parse_duration(value);
  } catch (const InputError& e) { throw InputError((where.empty() ? "" : where + ": ") + e.what()); }
}

void Config::only(std::span<const std::string_view> known) const {
  if (kind != Kind::object) want(*this, "an object");
  for (const auto& [key, v] : fields) {
    bool ok = false;
    for (std::string_view k : known) ok |= k == key;
    if (ok) continue;
    std::string text = (v.where.empty() ? "" : v.where + ": ") + "unknown key " + in_quotes(key);
    if (const std::string near = nearest_name(key, known); !near.empty()) {
      text += "; did you mean " + near + "?";
    } else {
      text += "; known are";
      for (size_t i = 0; i < known.size(); i++) text += (i ? ", " : " ") + std::string(known[i]);
    }
    throw InputError(text);
  }
}

}  // namespace muster
