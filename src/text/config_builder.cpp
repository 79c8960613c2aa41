#include "text/config_builder.hpp"

#include "text/numbers.hpp"

namespace muster {

std::string ConfigBuilder::next_place() const {
  constexpr size_t kLongestKey = 100;  // a key is repeated in the place of all that is below it
  if (stack_.empty()) return file_;
  const Config& in = stack_.back().value;
  std::string s = in.where + (stack_.size() == 1 ? ": /" : "/");
  if (in.kind == Config::Kind::list) return s + std::to_string(in.fields.size());
  for (const char c : std::string_view(key_).substr(0, kLongestKey)) {
    if (c == '~') s += "~0";
    else if (c == '/') s += "~1";
    else if (static_cast<unsigned char>(c) < 32) s += '?';
    else s += c;
  }
  return key_.size() > kLongestKey ? s + "..." : s;
}

void ConfigBuilder::key(std::string name) {
  if (!stack_.back().keys.insert(name).second) throw InputError(place() + ": key " + in_quotes(name) + " is given twice");
  key_ = std::move(name);
}

Config& ConfigBuilder::scalar(Config::Kind kind, std::string value) {
  std::string where = next_place();  // before the key is moved away; arguments have no order
  return put(Config{kind, std::move(value), {}, std::move(where)});
}

Config& ConfigBuilder::put(Config value) {
  std::string key = std::move(key_);
  key_.clear();
  if (stack_.empty()) return root_ = std::move(value);
  Config& in = stack_.back().value;
  return in.fields.emplace_back(in.kind == Config::Kind::object ? std::move(key) : std::string(), std::move(value)).second;
}

void ConfigBuilder::open(Config::Kind kind) {
  std::string where = next_place();
  if (stack_.size() == kDeepest) throw InputError(where.substr(0, 200) + ": nested deeper than 64");
  stack_.push_back({Config{kind, {}, {}, std::move(where)}, std::move(key_), {}});
  key_.clear();
}

Config& ConfigBuilder::close() {
  Open done = std::move(stack_.back());
  stack_.pop_back();
  key_ = std::move(done.key);
  return put(std::move(done.value));
}

std::string line_and_column(std::string_view text, size_t position) {
  size_t line = 1, column = 1;
  for (const char c : text.substr(0, position)) {
    column++;
    if (c == '\n') line++, column = 1;
  }
  return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

}  // namespace muster
