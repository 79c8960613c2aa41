#include "cli/commands.hpp"
#include "cli/inputs.hpp"
#include "files/read.hpp"
#include "topology/draw.hpp"
#include "topology/import/import.hpp"

namespace muster::cli {
namespace {

int import_files(std::span<const std::string> files, Console& console) {
  if (files.empty()) throw InputError("muster topo import wants a file, or - for standard input (docs/import.md lists the formats)");
  std::vector<std::string> texts, names;
  for (const std::string& f : files) texts.push_back(read_file(f)), names.push_back(input_name(f));
  std::vector<ImportSource> sources;
  for (size_t i = 0; i < files.size(); i++) sources.push_back({names[i], texts[i]});
  const Imported r = import_topology(sources);
  for (const std::string& note : r.notes) console.note("note: " + note);
  console.out(topology_file(r.spec));
  return kDone;
}

int run(const Arguments& a, Console& console) {
  if (a.words()[0] == "import") return import_files(a.words().subspan(1), console);
  if (a.words().size() > 1) throw InputError("muster topo draws one topology, found " + std::to_string(a.words().size()) + " words (`muster topo --help`)");
  Input input;
  const Topology t = load_topology(a.words()[0], input);
  console.out(draw(t));
  return kDone;
}

}  // namespace

Command topo_command() {
  return {"topo",
          "draw a topology as a tree, or import a description of a machine",
          "TOPOLOGY | import FILE...",
          "  muster topo textbook-8\n"
          "  muster topo \"rack:4 node:8 socket:2 switch:2 gpu:2\"\n"
          "  muster topo cluster.json\n"
          "  nvidia-smi topo -m | muster topo import - > node.json\n",
          {},
          1,
          9,
          run};
}

}  // namespace muster::cli
