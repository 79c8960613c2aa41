// A parsed configuration value, free of any JSON library.
#pragma once
#include <string>
#include <string_view>
#include <span>
#include <utility>
#include <vector>

#include "muster/types.hpp"

namespace muster {

/// A value of a JSON file or a --set: object, list, or a scalar kept as text. Where it stands (file and JSON pointer) comes along for messages.
struct Config {
  enum class Kind : uint8_t { none, text, number, boolean, list, object } kind = Kind::none;
  std::string value;                                   ///< of a scalar
  struct Field;
  std::vector<Field> fields;                           ///< of an object in order; of a list with empty names
  std::string where;                                   ///< "quota.json: /queues/3/weight"

  bool given() const { return kind != Kind::none; }
  const Config* find(std::string_view name) const;
  /// Sets or replaces a field; makes this an object.
  Config& set(std::string_view name, Config v);
  static Config text(std::string v, std::string where = {});

  // Each throws InputError, with where, what is allowed and what was found.
  std::string_view as_text() const;
  int64_t as_integer(int64_t least, int64_t most) const;
  /// Millionths of a decimal number ("0.5", "1e-3"), to the nearest; `least` and `most` are in millionths too.
  int64_t as_millionths(int64_t least, int64_t most) const;
  /// A list of whole numbers; on a command line with commas between.
  std::vector<int64_t> as_integers(int64_t least, int64_t most) const;
  bool as_boolean() const;
  Duration as_duration() const;  ///< "360 s", "1h30m", or a number of seconds
  /// Throws InputError naming the first field that is not in `known`, with the nearest name.
  void only(std::span<const std::string_view> known) const;
};

struct Config::Field {
  Field(std::string name, Config value) : first(std::move(name)), second(std::move(value)) {}
  std::string first;
  Config second;
};

inline const Config* Config::find(std::string_view name) const {
  for (const auto& [key, v] : fields)
    if (key == name) return &v;
  return nullptr;
}

/// A parameter of a policy, part or model.
struct Parameter {
  std::string name;
  std::string fallback;              ///< default, as text
  std::string help;
  std::vector<std::string> allowed;  ///< empty: anything of the default's form
  std::string slot = {};                  ///< the parameter whose value decides whether this one counts; empty: it always does
  std::vector<std::string> takers = {};   ///< the values of `slot` with which it counts
};

/// The name nearest to `word` among `known` (edit distance at most 3 and less than half its length), or empty.
std::string nearest_name(std::string_view word, std::span<const std::string_view> known);

/// "1h30m", "2-01:00:00", "90s", "1.5", "250ms": text to ticks; a bare number counts `unit`s. Throws InputError (message without a place) when it
/// is not a duration, is negative, or does not fit.
Duration parse_duration(std::string_view text, Duration unit = kSecond);
/// "3h 12m", "11m 20s", "0s": at most two parts, for people.
std::string format_duration(Duration d);

}  // namespace muster
