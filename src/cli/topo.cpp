#include "cli/commands.hpp"
#include "cli/inputs.hpp"
#include "topology/draw.hpp"

namespace muster::cli {
namespace {

int run(const Arguments& a, Console& console) {
  Input input;
  const Topology t = load_topology(a.words()[0], input);
  console.out(draw(t));
  return kDone;
}

}  // namespace

Command topo_command() {
  return {"topo",
          "draw a topology as a tree",
          "TOPOLOGY",
          "  muster topo textbook-8\n"
          "  muster topo \"rack:4 node:8 socket:2 switch:2 gpu:2\"\n"
          "  muster topo cluster.json\n",
          {},
          1,
          1,
          run};
}

}  // namespace muster::cli
