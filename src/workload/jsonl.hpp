// JSON Lines as records of a trace.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

/// All keys of the objects in `text`, one object a line, in order of first sight. Lines that are no object are passed over.
std::vector<std::string> jsonl_keys(std::string_view text);

/// Reads one line at a time and hands out its values in the order of the keys; null and what is missing are empty.
class JsonlReader {
 public:
  JsonlReader(std::string_view text, std::span<const std::string> keys) : text_(text), keys_(keys) {}
  bool next();
  std::span<const std::string_view> fields() const { return views_; }
  uint64_t line() const { return line_; }
  const char* fault() const { return fault_; }

 private:
  std::string_view text_;
  std::span<const std::string> keys_;
  uint64_t line_ = 0;
  const char* fault_ = nullptr;
  std::vector<std::string> values_;
  std::vector<std::string_view> views_;
};

}  // namespace muster
