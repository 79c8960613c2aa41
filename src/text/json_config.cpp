#include "text/json_config.hpp"

#include <nlohmann/json.hpp>
#include <unordered_set>

#include "text/numbers.hpp"

namespace muster {
namespace {

constexpr size_t kDeepest = 64;

/// Builds the value while it is read: the reader underneath keeps a stack of its own and does not recurse.
class Builder : public nlohmann::json_sax<nlohmann::json> {
 public:
  Builder(std::string_view text, std::string_view file) : text_(text), file_(file) {}
  Config take() { return std::move(root_); }

  bool null() override { return add(Config::Kind::none, {}); }
  bool boolean(bool b) override { return add(Config::Kind::boolean, b ? "true" : "false"); }
  bool number_integer(number_integer_t n) override { return add(Config::Kind::number, std::to_string(n)); }
  bool number_unsigned(number_unsigned_t n) override { return add(Config::Kind::number, std::to_string(n)); }
  bool number_float(number_float_t, const string_t& s) override { return add(Config::Kind::number, s); }
  bool string(string_t& s) override { return add(Config::Kind::text, std::move(s)); }
  bool binary(binary_t&) override { return false; }  // no such thing in JSON text
  bool start_object(std::size_t) override { return open(Config::Kind::object); }
  bool start_array(std::size_t) override { return open(Config::Kind::list); }
  bool key(string_t& s) override {
    if (!stack_.back().keys.insert(s).second) throw InputError(place() + ": key " + in_quotes(s) + " is given twice");
    key_ = std::move(s);
    return true;
  }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception& e) override {
    size_t line = 1, column = 1;
    for (char c : text_.substr(0, position ? position - 1 : 0)) {
      column++;
      if (c == '\n') line++, column = 1;
    }
    std::string_view what = e.what();
    if (const size_t at = what.find("column "); at != what.npos)
      if (const size_t colon = what.find(": ", at); colon != what.npos) what.remove_prefix(colon + 2);
    const std::string where = file_ + ": line " + std::to_string(line) + ", column " + std::to_string(column);
    constexpr int kNumberTooLarge = 406;
    if (e.id == kNumberTooLarge) throw InputError(where + ": the number is too large");
    throw InputError(where + ": not JSON: " + std::string(what.substr(0, 200)));
  }

 private:
  struct Open {
    Config value;
    std::string key;  // under which it goes into its parent
    std::unordered_set<std::string> keys;
  };

  std::string place() const { return stack_.back().value.where; }

  /// Where the next value stands.
  std::string next_place() const {
    if (stack_.empty()) return file_;
    const Config& in = stack_.back().value;
    std::string s = in.where + (stack_.size() == 1 ? ": /" : "/");
    if (in.kind == Config::Kind::list) return s + std::to_string(in.fields.size());
    for (char c : key_) {
      if (c == '~') s += "~0";
      else if (c == '/') s += "~1";
      else if (static_cast<unsigned char>(c) < 32) s += '?';
      else s += c;
    }
    return s;
  }

  bool add(Config::Kind kind, std::string value) {
    std::string where = next_place();  // before the key is moved away; arguments have no order
    put(Config{kind, std::move(value), {}, std::move(where)}, std::move(key_));
    return true;
  }
  void put(Config c, std::string key) {
    if (stack_.empty()) root_ = std::move(c);
    else
      stack_.back().value.fields.emplace_back(stack_.back().value.kind == Config::Kind::object ? std::move(key) : std::string(),
                                              std::move(c));
  }
  bool open(Config::Kind kind) {
    std::string where = next_place();
    if (stack_.size() == kDeepest) throw InputError(where.substr(0, 200) + ": nested deeper than 64");
    stack_.push_back({Config{kind, {}, {}, std::move(where)}, std::move(key_), {}});
    return true;
  }
  bool close() {
    Open done = std::move(stack_.back());
    stack_.pop_back();
    put(std::move(done.value), std::move(done.key));
    return true;
  }

  std::string_view text_;
  std::string file_, key_;
  std::vector<Open> stack_;
  Config root_;
};

}  // namespace

Config parse_json_config(std::string_view text, std::string_view file) {
  Builder builder(text, file);
  nlohmann::json::sax_parse(text.begin(), text.end(), &builder, nlohmann::json::input_format_t::json, true, true);
  return builder.take();
}

}  // namespace muster
