// SHA-256 of inputs, for the provenance of a report.
#pragma once
#include <string>
#include <string_view>

namespace muster {

/// The SHA-256 digest of `bytes` in hexadecimal (FIPS 180-4).
std::string sha256(std::string_view bytes);

}  // namespace muster
