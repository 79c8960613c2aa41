// JSON as text, the same bytes everywhere.
#pragma once
#include <string>
#include <string_view>

#include "muster/types.hpp"

namespace muster {

/// Appends whole numbers in decimal digits.
void append_int(std::string& out, int64_t v);
void append_int(std::string& out, Int128 v);

/// Appends a number: a whole one below 2^53 as an integer, any other by its shortest digits that read back equal, NaN and infinities as
/// null.
void append_number(std::string& out, double v);

/// How much of `s` from its front is UTF-8 (overlong forms and surrogates are not).
size_t utf8_prefix(std::string_view s);

/// What becomes of bytes that are no UTF-8.
enum class BadBytes : uint8_t {
  replace,  ///< U+FFFD, for files that others read
  keep,     ///< lone surrogates \udc80 to \udcff, from which our own reader takes the bytes back
};

/// Appends a string in quotes.
void append_string(std::string& out, std::string_view s, BadBytes bad = BadBytes::replace);

/// Appends ticks as seconds: exact, at most six digits after the point, no zeros at the end.
void append_seconds(std::string& out, Duration ticks);

/// Appends milli-GPUs as GPUs: exact, at most three digits after the point, no zeros at the end.
void append_gpus(std::string& out, int64_t milli);

}  // namespace muster
