#include "workload/csv.hpp"

#include <cstring>

namespace muster {
namespace {

constexpr size_t kMostFields = 4096;
// A quoted field that spans lines ends within this, so that one stray quote cannot swallow a file (or cost quadratic time).
constexpr ptrdiff_t kLongestSpan = 65'536;

const char* find(const char* p, const char* end, char c) {
  const void* at = p == end ? nullptr : std::memchr(p, c, size_t(end - p));
  return at ? static_cast<const char*>(at) : end;
}

}  // namespace

char find_separator(std::string_view header) {
  for (const char c : {'\t', ',', ';', '|'})
    if (header.find(c) != header.npos) return c;
  return ',';
}

CsvReader::CsvReader(std::string_view text, char separator)
    : at_(text.data()),
      end_(text.data() + text.size()),
      separator_(separator),
      quotes_(find(at_, end_, '"') != end_),
      nuls_(find(at_, end_, '\0') != end_) {
  stop_['\n'] = stop_[uint8_t(separator)] = true;
}

bool CsvReader::next() {
  const char* p = at_;
  for (;; p = find(p, end_, '\n'), p += p != end_) {
    if (p == end_) return at_ = p, false;
    lines_++;
    if (*p == '#') continue;
    const char* first = p;
    while (first != end_ && (*first == ' ' || *first == '\r')) first++;
    if (first == end_ || *first == '\n') continue;
    break;
  }
  fields_.clear();
  unescaped_.clear();
  fault_ = nullptr;
  line_ = lines_;
  const char* const begin = p;
  for (;;) {
    if (quotes_ && p != end_ && *p == '"') {
      p = quoted(p);
    } else {
      const char* from = p;
      while (p != end_ && !stop_[uint8_t(*p)]) p++;
      fields_.emplace_back(from, size_t(p - from));
    }
    if (fields_.size() == kMostFields && p != end_ && *p != '\n') fault_ = "has more than 4,096 fields";
    if (fault_) {  // resume with the line after the one it began on
      lines_ = line_;
      p = find(begin, end_, '\n');
      at_ = p + (p != end_);
      return true;
    }
    if (p == end_) break;
    if (*p++ == '\n') break;
  }
  at_ = p;
  auto& last = fields_.back();
  if (!last.empty() && last.back() == '\r') last.remove_suffix(1);
  if (nuls_ && find(begin, p, '\0') != p) fault_ = "holds a NUL byte";
  return true;
}

const char* CsvReader::quoted(const char* p) {
  const char *from = ++p, *part = p;
  bool escapes = false, spans_lines = false;
  for (;;) {
    p = find(part, end_, '"');
    spans_lines = spans_lines || find(part, p, '\n') != p;
    if (p == end_ || (spans_lines && p - from > kLongestSpan)) return fault_ = "opens a quote that is not closed", p;
    if (p + 1 == end_ || p[1] != '"') break;
    escapes = true, part = p + 2;
  }
  const std::string_view text(from, size_t(p - from));
  for (const char c : text) lines_ += c == '\n';
  if (escapes) {
    auto& plain = unescaped_.emplace_back();
    for (size_t i = 0; i < text.size(); i++) plain += text[i], i += text[i] == '"';
    fields_.emplace_back(plain);
  } else {
    fields_.push_back(text);
  }
  p++;
  if (p != end_ && *p == '\r' && (p + 1 == end_ || p[1] == '\n')) p++;
  if (p != end_ && *p != '\n' && *p != separator_) fault_ = "has text after a closing quote";
  return p;
}

}  // namespace muster
