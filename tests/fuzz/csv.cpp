// Traces as CSV.
#include "workload/trace.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const char* format : {"csv", "philly-csv"}) {
    try {
      muster::TraceOptions options;
      options.format = format;
      muster::read_trace(text, "f.csv", options);
    } catch (const muster::InputError&) {
    }
  }
  return 0;
}
