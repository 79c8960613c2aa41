#include "cli/console.hpp"

#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "files/write.hpp"
#include "text/numbers.hpp"

namespace muster::cli {
namespace {

bool may_colour(int fd) {
  const char* no = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  return isatty(fd) && !(no && *no) && !(term && std::strcmp(term, "dumb") == 0);
}

}  // namespace

Console::Console() : colour_out_(may_colour(1)), colour_err_(may_colour(2)) {}

void Console::out(std::string_view text) {
  text_.append(text);
  if (text_.size() > (size_t{1} << 20)) flush();
}

void Console::flush() {
  const std::string text = std::move(text_);
  text_.clear();
  if (capture) {
    capture->append(text);
    return;
  }
  write_all(1, text, "standard output");
}

void Console::line(std::string_view prefix, std::string_view code, std::string_view text) {
  std::string s;
  if (colour_err_ && !code.empty()) s.append(code).append(prefix).append("\x1b[0m");
  else s.append(prefix);
  s.append(text).append("\n");
  try {
    write_all(2, s, "standard error");
  } catch (const OutputError&) {
    // There is nobody left to tell.
  }
}

void Console::warning(std::string_view text) {
  if (!quiet) line("warning: ", "\x1b[33m", one_line(text));
}
void Console::error(std::string_view text) { line("error: ", "\x1b[31m", text); }
void Console::note(std::string_view text) {
  if (!quiet) line("", "", text);
}

}  // namespace muster::cli
