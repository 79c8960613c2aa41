#include "workload/jsonl.hpp"

#include <nlohmann/json.hpp>
#include <unordered_map>

#include "workload/numbers.hpp"

namespace muster {
namespace {

constexpr size_t kMostKeys = 4096;

/// Calls take(key, value) for each member of the one object that a line holds.
template <typename Take>
class Line : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit Line(Take take) : take_(std::move(take)) {}
  const char* fault = nullptr;

  bool null() override { return value({}); }
  bool boolean(bool v) override { return value(v ? "true" : "false"); }
  bool number_integer(number_integer_t v) override { return value(std::to_string(v)); }
  bool number_unsigned(number_unsigned_t v) override { return value(std::to_string(v)); }
  bool number_float(number_float_t, const string_t& text) override { return value(text); }
  bool string(string_t& v) override { return value(v); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return depth_++ == 0 || nested(); }
  bool end_object() override { return depth_--, true; }
  bool start_array(std::size_t) override { return nested(); }
  bool end_array() override { return true; }
  bool key(string_t& k) override { return key_ = k, true; }
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception& e) override {
    fault = e.id == 406 ? "holds too large a number" : "is not JSON";
    return false;
  }

 private:
  bool value(std::string_view v) {
    if (depth_ == 0) return fault = "is not a JSON object", false;
    if (!take_(key_, v)) return fault = "has a key twice", false;
    return true;
  }
  bool nested() {
    fault = depth_ ? "holds a list or an object inside the object" : "is not a JSON object";
    return false;
  }
  Take take_;
  int depth_ = 0;
  std::string key_;
};

template <typename Take>
const char* read_line(std::string_view line, Take take) {
  Line<Take> sax(std::move(take));
  const bool good = nlohmann::json::sax_parse(line.begin(), line.end(), &sax);
  return good ? nullptr : sax.fault ? sax.fault : "is not JSON";
}

/// The next line that holds something, taken off `text`.
bool take_line(std::string_view& text, std::string_view& line, uint64_t& number) {
  while (!text.empty()) {
    const size_t n = std::min(text.find('\n'), text.size());
    line = text.substr(0, n);
    text.remove_prefix(std::min(n + 1, text.size()));
    number++;
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    line = trim(line);
    if (!line.empty() && line[0] != '#') return true;
  }
  return false;
}

}  // namespace

std::vector<std::string> jsonl_keys(std::string_view text) {
  std::vector<std::string> keys;
  std::unordered_map<std::string, size_t> known;
  std::string_view line;
  for (uint64_t number = 0; take_line(text, line, number);)
    read_line(line, [&](const std::string& key, std::string_view) {
      if (keys.size() < kMostKeys && known.emplace(key, keys.size()).second) keys.push_back(key);
      return true;
    });
  return keys;
}

bool JsonlReader::next() {
  std::string_view line;
  if (!take_line(text_, line, line_)) return false;
  values_.assign(keys_.size(), {});
  std::vector<bool> seen(keys_.size());
  size_t guess = 0;  // lines mostly have the keys in one order
  fault_ = read_line(line, [&](const std::string& key, std::string_view value) {
    size_t i = guess < keys_.size() && keys_[guess] == key ? guess : size_t(std::find(keys_.begin(), keys_.end(), key) - keys_.begin());
    guess = i + 1;
    if (i == keys_.size()) return true;
    if (seen[i]) return false;
    seen[i] = true;
    values_[i] = value;
    return true;
  });
  views_.assign(values_.begin(), values_.end());
  return true;
}

}  // namespace muster
