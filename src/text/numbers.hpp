// Numbers in text, exactly: no double, no locale.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace muster {

enum class Round : uint8_t { down, nearest, up };

/// A decimal number ("12", "1.5", "-0.25", "1.5e3") times `scale`, rounded to a whole number. Empty when it is not a number or does not
/// fit 63 bits. Capacity rounds down, requests round up.
std::optional<int64_t> scaled_decimal(std::string_view text, int64_t scale, Round round);

/// A whole number in decimal digits, perhaps with a minus sign; nothing else. Empty when it is not one or does not fit.
std::optional<int64_t> whole_number(std::string_view text);

/// "1,000,000"
std::string with_commas(int64_t n);

/// Text as it is shown in a message: in quotes, control characters escaped, cut after 60 characters.
std::string in_quotes(std::string_view text);

/// Text fit for one line of a terminal: control characters as \xNN. A name of a file or a job must not move the cursor, nor begin a line
/// that looks like muster's own.
std::string one_line(std::string_view text);

/// Whether it is numbers of at most 9 digits separated by points: "535.104.05", "12".
bool is_version(std::string_view s);

}  // namespace muster
