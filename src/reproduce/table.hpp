// Published tables, read.
#pragma once
#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "files/read.hpp"
#include "text/numbers.hpp"
#include "workload/csv.hpp"

namespace muster {

/// A CSV file with named columns of whole numbers and words. Throws InputError with the file and line for what is not as it should be.
class Table {
 public:
  /// A column whose name ends in ? may be absent: its words are empty.
  Table(const std::string& path, std::span<const std::string_view> columns) : path_(path), text_(read_file(path)), csv_(text_, ',') {
    if (!csv_.next()) throw InputError(path + ": empty");
    const auto header = csv_.fields();
    for (const std::string_view c : columns) {
      const bool may_lack = c.ends_with('?');
      const std::string_view name = c.substr(0, c.size() - may_lack);
      const auto at = std::find(header.begin(), header.end(), name);
      if (at == header.end() && !may_lack) throw InputError(path + ":1: no column " + std::string(name));
      at_.push_back(at == header.end() ? kAbsent : size_t(at - header.begin()));
    }
  }
  bool next() { return csv_.next(); }
  std::string_view word(size_t column) const {
    if (csv_.fault()) throw InputError(where() + csv_.fault());
    if (at_[column] == kAbsent) return {};
    if (at_[column] >= csv_.fields().size()) throw InputError(where() + "too few fields");
    return csv_.fields()[at_[column]];
  }
  int64_t number(size_t column, int64_t most) const {
    const auto n = whole_number(word(column));
    if (!n || *n < 0 || *n > most)
      throw InputError(where() + "want a whole number from 0 to " + std::to_string(most) + ", found " + in_quotes(word(column)));
    return *n;
  }
  std::string where() const { return path_ + ":" + std::to_string(csv_.line()) + ": "; }

 private:
  static constexpr size_t kAbsent = ~size_t{0};
  std::string path_, text_;
  CsvReader csv_;
  std::vector<size_t> at_;
};

}  // namespace muster
