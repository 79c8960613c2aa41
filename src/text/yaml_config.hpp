// YAML text to Config, and nothing of the YAML library in sight.
#pragma once
#include <string_view>

#include "muster/config.hpp"

namespace muster {

/// Parses one YAML document. `file` is for messages and for `where`. A plain scalar is what JSON would read it as (null, true and false in
/// their usual spellings, a number written as JSON writes numbers) and else text, so that 007, 0x1F, 1_000 and yes keep their spelling.
/// Anchors, aliases and merge keys ("<<") are expanded; a value keeps the place where it is written. Throws InputError with line and column
/// for malformed text, a second document, unknown tags, keys that are no scalars and aliases that come to more than 100,000 values; with
/// the JSON pointer for a key given twice and for nesting deeper than 64.
Config parse_yaml_config(std::string_view text, std::string_view file);

}  // namespace muster
