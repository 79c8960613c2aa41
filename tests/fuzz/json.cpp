// Configuration as JSON, and the files that are read through it.
#include "report/gate.hpp"
#include "text/json_config.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto attempt = [](auto f) {
    try {
      f();
    } catch (const muster::InputError&) {
    }
  };
  attempt([&] { muster::parse_json_config(text, "f.json"); });
  attempt([&] { muster::read_gate(text, "f.json"); });
  attempt([&] { muster::read_run_report(text, "f.json"); });
  attempt([&] { muster::parse_duration(text); });
  return 0;
}
