// Packed input: gzip and Zstandard, whole or damaged.
#include "files/read.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    muster::unpacked(std::string(reinterpret_cast<const char*>(data), size), "f");
  } catch (const muster::InputError&) {
  }
  return 0;
}
