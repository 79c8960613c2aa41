#include "text/yaml_config.hpp"

#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <unordered_set>

#include "text/config_builder.hpp"
#include "text/json_text.hpp"
#include "text/numbers.hpp"

namespace muster {
namespace {

using Kind = Config::Kind;

bool digit(char c) { return c >= '0' && c <= '9'; }

/// Whether JSON would read it as a number.
bool is_json_number(std::string_view s) {
  size_t i = 0;
  const auto digits = [&] {
    const size_t from = i;
    while (i < s.size() && digit(s[i])) i++;
    return i > from;
  };
  if (i < s.size() && s[i] == '-') i++;
  if (i < s.size() && s[i] == '0') i++;
  else if (!digits()) return false;
  if (i < s.size() && s[i] == '.' && (i++, !digits())) return false;
  if (i < s.size() && (s[i] == 'e' || s[i] == 'E')) {
    i++;
    if (i < s.size() && (s[i] == '+' || s[i] == '-')) i++;
    if (!digits()) return false;
  }
  return i == s.size();
}

Kind kind_of_plain(std::string_view s) {
  for (const std::string_view word : {"", "~", "null", "Null", "NULL"})
    if (s == word) return Kind::none;
  for (const std::string_view word : {"true", "True", "TRUE", "false", "False", "FALSE"})
    if (s == word) return Kind::boolean;
  return is_json_number(s) ? Kind::number : Kind::text;
}

size_t values_in(const Config& c) {
  size_t n = 1;
  for (const auto& [key, v] : c.fields) n += values_in(v);  // at most 64 deep
  return n;
}

size_t depth_of(const Config& c) {
  size_t n = 0;
  for (const auto& [key, v] : c.fields) n = std::max(n, depth_of(v));
  return c.kind == Kind::list || c.kind == Kind::object ? n + 1 : 0;
}

class Reader : public YAML::EventHandler {
 public:
  explicit Reader(std::string_view file) : file_(file), out_(file) {}
  Config take() { return out_.take(); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { scalar(mark, "?", anchor, ""); }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, const std::string& value) override {
    scalar(mark, tag, anchor, value);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (key_is_due()) fail(mark, "want a text as a key, found an alias");
    const auto at = anchors_.find(anchor);
    if (at == anchors_.end()) fail(mark, "an alias inside of what it stands for");
    if (out_.depth() + depth_of(at->second) > ConfigBuilder::kDeepest) throw InputError(out_.place() + ": nested deeper than 64");
    spend(mark, at->second);
    out_.put(at->second);
    value_done();
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YAML::EmitterStyle::value) override {
    start(mark, tag, "tag:yaml.org,2002:seq", anchor, Kind::list);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YAML::EmitterStyle::value) override {
    start(mark, tag, "tag:yaml.org,2002:map", anchor, Kind::object);
  }
  void OnSequenceEnd() override { end(); }
  void OnMapEnd() override { end(); }

  [[noreturn]] void fail(const YAML::Mark& mark, const std::string& what) const {
    throw InputError(file_ + ": line " + std::to_string(std::max(mark.line, 0) + 1) + ", column " +
                     std::to_string(std::max(mark.column, 0) + 1) + ": " + what);
  }

 private:
  struct Open {
    YAML::Mark mark;
    YAML::anchor_t anchor;
    bool key_due;         // in an object, before a key
    bool merges = false;  // has the key "<<"
  };

  bool key_is_due() const { return !open_.empty() && open_.back().key_due; }
  void value_done() {
    if (!open_.empty() && out_.in_object()) open_.back().key_due = true;
  }

  void scalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, const std::string& value) {
    constexpr std::string_view kCore = "tag:yaml.org,2002:";
    const bool plain = tag == "?" || tag.empty();
    if (key_is_due()) {
      if (anchor) fail(mark, "want a text as a key, found an anchor");
      if (!plain && tag != "!" && tag != std::string(kCore) + "str") fail(mark, "want a text as a key, found the tag " + in_quotes(tag));
      open_.back().key_due = false;
      open_.back().merges |= plain && value == "<<";
      return out_.key(value);
    }
    Kind kind = Kind::text;
    if (plain) {
      kind = kind_of_plain(value);
    } else if (tag != "!" && tag != std::string(kCore) + "str") {
      kind = kind_of_plain(value);
      const bool fits =
          (tag == std::string(kCore) + "null" && kind == Kind::none) || (tag == std::string(kCore) + "bool" && kind == Kind::boolean) ||
          (kind == Kind::number && (tag == std::string(kCore) + "float" || (tag == std::string(kCore) + "int" && whole_number(value))));
      if (!fits) fail(mark, in_quotes(value) + " has the tag " + in_quotes(tag) + ", which is unknown or does not fit");
    }
    std::string text = kind == Kind::none ? std::string() : value;
    if (kind == Kind::boolean) std::transform(text.begin(), text.end(), text.begin(), [](char c) { return c < 'a' ? char(c + 32) : c; });
    const Config& done = out_.scalar(kind, std::move(text));
    if (anchor) keep(mark, anchor, done);
    value_done();
  }

  void start(const YAML::Mark& mark, const std::string& tag, const char* usual, YAML::anchor_t anchor, Kind kind) {
    if (key_is_due()) fail(mark, "want a text as a key, found a list or an object");
    if (tag != "?" && tag != "!" && !tag.empty() && tag != usual) fail(mark, "unknown tag " + in_quotes(tag));
    out_.open(kind);
    open_.push_back({mark, anchor, kind == Kind::object});
  }

  void end() {
    const Open done = open_.back();
    open_.pop_back();
    Config& value = out_.close();
    if (done.merges) merge(done.mark, value);
    if (done.anchor) keep(done.mark, done.anchor, value);
    value_done();
  }

  void keep(const YAML::Mark& mark, YAML::anchor_t anchor, const Config& value) {
    spend(mark, value);
    anchors_.insert_or_assign(anchor, value);
  }

  /// Fields of the objects under "<<" that the object does not have itself; the first of several objects wins.
  void merge(const YAML::Mark& mark, Config& object) {
    const auto at = std::find_if(object.fields.begin(), object.fields.end(), [](const auto& f) { return f.first == "<<"; });
    Config from = std::move(at->second);
    object.fields.erase(at);
    std::unordered_set<std::string> known;
    for (const auto& [key, v] : object.fields) known.insert(key);
    const auto add = [&](const Config& c) {
      if (c.kind != Kind::object) fail(mark, "the merge key << wants an object or a list of objects");
      spend(mark, c);
      for (const auto& [key, v] : c.fields)
        if (known.insert(key).second) object.fields.emplace_back(key, v);
    };
    if (from.kind != Kind::list) return add(from);
    for (const auto& [none, c] : from.fields) add(c);
  }

  /// A few lines of aliases of aliases would fill any memory, so what anchors and aliases copy is counted.
  void spend(const YAML::Mark& mark, const Config& value) {
    constexpr size_t kMostCopies = 100'000;
    copies_ += values_in(value);
    if (copies_ > kMostCopies) fail(mark, "anchors and aliases come to more than 100,000 values");
  }

  std::string file_;
  ConfigBuilder out_;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, Config> anchors_;
  size_t copies_ = 0;
};

/// Bytes that no YAML has. The library takes some for the end of the text, others for something else.
void check_bytes(std::string_view text, std::string_view file) {
  size_t at = utf8_prefix(text);
  const auto control = std::find_if(text.begin(), text.begin() + long(at), [](char c) {
    return (static_cast<unsigned char>(c) < 32 && c != '\t' && c != '\n' && c != '\r') || c == 127;
  });
  at = size_t(control - text.begin());
  if (at < text.size())
    throw InputError(std::string(file) + ": " + line_and_column(text, at) + ": not YAML: a byte that is no UTF-8 or a control character");
}

}  // namespace

Config parse_yaml_config(std::string_view text, std::string_view file) {
  check_bytes(text, file);
  Reader reader(file);
  try {
    std::istringstream in{std::string(text)};
    YAML::Parser parser(in);
    if (!parser.HandleNextDocument(reader)) reader.fail(YAML::Mark::null_mark(), "no YAML document in it");
    Config c = reader.take();
    Reader second(file);
    if (parser.HandleNextDocument(second)) throw InputError(std::string(file) + ": more than one YAML document; want one");
    return c;
  } catch (const YAML::DeepRecursion&) {
    throw InputError(std::string(file) + ": nested deeper than 64");
  } catch (const YAML::ParserException& e) {
    throw InputError(std::string(file) + ": line " + std::to_string(std::max(e.mark.line, 0) + 1) + ", column " +
                     std::to_string(std::max(e.mark.column, 0) + 1) + ": not YAML: " + e.msg);
  }
}

}  // namespace muster
