// Records and fields of a CSV text.
#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

/// Reads one record at a time and copies nothing but quoted fields that hold doubled quotes. Understands LF and CRLF, a missing last
/// newline, quoted fields (over several lines too) and `#` comment lines; blank lines are skipped. Never fails: a malformed record is
/// handed out with its fault and reading goes on with the next line.
class CsvReader {
 public:
  CsvReader(std::string_view text, char separator);
  /// Goes to the next record; false when there is none.
  bool next();
  /// Of the current record; valid until the next call of next().
  std::span<const std::string_view> fields() const { return fields_; }
  /// Line on which the current record begins, from 1.
  uint64_t line() const { return line_; }
  /// Why the current record is malformed, or null.
  const char* fault() const { return fault_; }

 private:
  const char* quoted(const char* p);

  const char *at_, *end_;
  std::array<bool, 256> stop_{};
  char separator_;
  bool quotes_, nuls_;
  uint64_t line_ = 0, lines_ = 0;  // of the record; read so far
  const char* fault_ = nullptr;
  std::vector<std::string_view> fields_;
  std::deque<std::string> unescaped_;
};

/// The separator of a header line: the first of tab, comma, semicolon, bar that it holds; comma when it holds none.
char find_separator(std::string_view header);

}  // namespace muster
