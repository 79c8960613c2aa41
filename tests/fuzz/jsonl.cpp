// Traces as JSONL.
#include "workload/trace.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    muster::TraceOptions options;
    options.format = "jsonl";
    muster::read_trace({reinterpret_cast<const char*>(data), size}, "f.jsonl", options);
  } catch (const muster::InputError&) {
  }
  return 0;
}
