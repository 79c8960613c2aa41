// What stands on a command line, as a table of options says it may.
#pragma once
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster::cli {

/// One option of a subcommand. Help, completion and the parser all read this row.
struct Option {
  std::string_view name;   ///< "--out", or with a short form "-q,--quiet"
  std::string_view value;  ///< what its value is called in the help ("DIR"); empty: a flag
  std::string_view help;
  bool many = false;  ///< may be given more than once
  std::string_view long_name() const { return name.substr(name.find("--")); }
};

class Arguments;
class Console;

/// A subcommand: one row of the table in commands.cpp.
struct Command {
  std::string_view name, summary;  ///< "run", "replay a trace ..."
  std::string_view usage;          ///< what follows the name in the usage line
  std::string_view examples;       ///< shown first in its help, one a line
  std::vector<Option> options;
  size_t least = 0, most = 0;                        ///< how many words without a dash
  int (*run)(const Arguments&, Console&) = nullptr;  ///< the exit status; throws for what main maps
};

/// The parsed words of one call.
class Arguments {
 public:
  bool has(std::string_view name) const { return values_.find(name) != values_.end(); }
  /// The value of an option, or `fallback`.
  std::string_view get(std::string_view name, std::string_view fallback = {}) const;
  /// Every value of an option that may be given more than once.
  std::span<const std::string> all(std::string_view name) const;
  /// Like get(). Throws InputError when it was not given.
  std::string_view want(std::string_view name) const;
  /// A whole number from `least` to `most`. Throws InputError.
  uint64_t number(std::string_view name, uint64_t fallback, uint64_t least, uint64_t most) const;
  std::span<const std::string> words() const { return words_; }

 private:
  friend Arguments parse_arguments(const Command&, std::span<char* const>);
  std::map<std::string, std::vector<std::string>, std::less<>> values_;  // by long name; a flag has no value
  std::vector<std::string> words_;
  std::string_view command_;
};

/// Options that every subcommand takes: --help, -q, -v.
std::span<const Option> common_options();

/// Throws InputError, with the nearest name for a mistyped option.
Arguments parse_arguments(const Command& c, std::span<char* const> words);

}  // namespace muster::cli
