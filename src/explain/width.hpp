// How wide text is on a terminal.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace muster {

/// Columns that `s` takes: 2 for a wide character (East Asian Width W and F), 0 for a mark that combines, 1 for a byte that is no UTF-8.
size_t columns_of(std::string_view s);

/// `s` and blanks behind it, up to `columns`; what is wider stays whole.
std::string padded_to(std::string s, size_t columns);

/// Lines of at most `columns`, broken at blanks and beside wide characters, though not before one that closes. A newline ends a line; a word that is
/// wider stays whole; runs of blanks inside a line are kept.
std::vector<std::string> wrapped(std::string_view text, size_t columns);

/// The widest part that wrapped() does not break.
size_t widest_word(std::string_view s);

}  // namespace muster
