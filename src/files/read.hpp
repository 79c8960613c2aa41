// Input files, plain or compressed.
#pragma once
#include <string>

#include "muster/types.hpp"

namespace muster {

/// All bytes of a file; "-" is standard input. What begins like gzip or Zstandard data is unpacked, whatever its name. Throws InputError
/// (one line with the path) when it is missing, a directory, unreadable, truncated, damaged, or larger than 16 GiB unpacked.
std::string read_file(const std::string& path);

/// What messages call it: "stdin" for "-", else the path.
std::string input_name(const std::string& path);

/// Unpacks gzip (several members too) or Zstandard data; other bytes come back as they are. `name` begins the message of an InputError.
std::string unpacked(std::string bytes, const std::string& name);

}  // namespace muster
