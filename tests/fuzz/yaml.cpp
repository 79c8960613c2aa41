// Configuration as YAML.
#include "text/yaml_config.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    muster::parse_yaml_config({reinterpret_cast<const char*>(data), size}, "f.yaml");
  } catch (const muster::InputError&) {
  }
  return 0;
}
