// What a person sees: results on standard output, all else on standard error.
#pragma once
#include <string>
#include <string_view>

namespace muster::cli {

class Console {
 public:
  Console();
  bool quiet = false;
  bool verbose = false;
  /// Where results go instead of standard output, when set.
  std::string* capture = nullptr;
  /// Results. Kept and written by flush(). Nothing else goes to standard output.
  void out(std::string_view text);
  /// Writes all that out() took. Throws OutputError when it cannot be written whole.
  void flush();
  /// "warning: ..." on standard error, silenced by -q.
  void warning(std::string_view text);
  /// "error: ..." on standard error, always.
  void error(std::string_view text);
  /// A line on standard error without a prefix, silenced by -q.
  void note(std::string_view text);
  /// A line on standard error that only -v shows.
  void detail(std::string_view text) {
    if (verbose) note(text);
  }
  /// Whether standard output (1) or standard error (2) may carry colour: a terminal, and NO_COLOR is not set.
  bool colour(int fd) const { return fd == 1 ? colour_out_ : colour_err_; }

 private:
  void line(std::string_view prefix, std::string_view code, std::string_view text);
  std::string text_;
  bool colour_out_, colour_err_;
};

}  // namespace muster::cli
