// Events files.
#include "muster/topology.hpp"
#include "workload/events.hpp"
#include "workload/trace.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const muster::Topology topology = muster::Topology::parse_line("node:3 socket:2 gpu:4");
  static const muster::TraceResult trace = muster::read_trace("id,submit_s,gpus,duration_s,queue\na,5,1,10,q\nb,6,2,10,r\n", "t.csv");
  try {
    muster::read_events({reinterpret_cast<const char*>(data), size}, "e.csv", topology, trace.workload);
  } catch (const muster::InputError&) {
  }
  return 0;
}
