// JSON text to Config, and nothing of the JSON library in sight.
#pragma once
#include <string_view>

#include "muster/config.hpp"

namespace muster {

/// Parses one JSON value; // and /* */ comments are allowed. `file` is for messages and for `where`. Throws InputError with line and column
/// for malformed text, and with the JSON pointer for a key given twice and for nesting deeper than 64.
Config parse_json_config(std::string_view text, std::string_view file);

}  // namespace muster
