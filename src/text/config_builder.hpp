// A Config built from the events of a parser, with the rules that hold in every format: keys once, nesting to 64, and where each value
// stands.
#pragma once
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "muster/config.hpp"

namespace muster {

/// Fed by a parser in the order of the text. Throws InputError for a key given twice and for nesting deeper than 64.
class ConfigBuilder {
 public:
  static constexpr size_t kDeepest = 64;

  explicit ConfigBuilder(std::string_view file) : file_(file) {}

  // What is returned is the value just finished; it stays where it is until the next event.
  Config& scalar(Config::Kind kind, std::string value);
  void open(Config::Kind kind);
  void key(std::string name);
  Config& close();
  Config& put(Config value);  ///< a finished value, which keeps its own places

  Config take() { return std::move(root_); }
  size_t depth() const { return stack_.size(); }
  bool in_object() const { return !stack_.empty() && stack_.back().value.kind == Config::Kind::object; }
  /// Where the innermost open list or object stands.
  const std::string& place() const { return stack_.empty() ? file_ : stack_.back().value.where; }

 private:
  struct Open {
    Config value;
    std::string key;  // under which it goes into its parent
    std::unordered_set<std::string> keys;
  };

  std::string next_place() const;

  std::string file_, key_;
  std::vector<Open> stack_;
  Config root_;
};

/// Where a position of a text is, for messages: "line 3, column 7", both from 1, columns in bytes.
std::string line_and_column(std::string_view text, size_t position);

}  // namespace muster
