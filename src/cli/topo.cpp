#include "cli/commands.hpp"
#include "cli/inputs.hpp"
#include "files/read.hpp"
#include "muster/config.hpp"
#include "text/numbers.hpp"
#include "topology/draw.hpp"
#include "topology/import/import.hpp"
#include "topology/write.hpp"

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

struct Format {
  std::string_view name;
  std::string (*draw)(const Topology&);
};
constexpr Format kFormats[] = {{"text", draw}, {"dot", draw_dot}, {"json", draw_json}, {"svg", draw_svg}};

int run(const Arguments& a, Console& console) {
  if (a.words()[0] == "import" && a.has("--format"))
    throw InputError("muster topo import prints a topology file; --format is for drawing one");
  if (a.words()[0] == "import") return import_files(a.words().subspan(1), console);
  if (a.words().size() > 1)
    throw InputError("muster topo draws one topology, found " + std::to_string(a.words().size()) + " words (`muster topo --help`)");
  Input input;
  const Topology t = load_topology(a.words()[0], input);
  const std::string_view format = a.get("--format", kFormats[0].name);
  std::vector<std::string_view> names;
  for (const Format& f : kFormats) {
    if (f.name == format) return console.out(f.draw(t)), kDone;
    names.push_back(f.name);
  }
  const std::string near = nearest_name(format, names);
  throw InputError("--format: want text, dot, json or svg, found " + in_quotes(format) +
                   (near.empty() ? "" : "; did you mean " + near + "?"));
}

}  // namespace

Command topo_command() {
  return {
      "topo",
      "draw a topology as a tree, or import a description of a machine",
      "TOPOLOGY [--format text|dot|json|svg] | import FILE...",
      "  muster topo textbook-8\n"
      "  muster topo \"rack:4 node:8 socket:2 switch:2 gpu:2\"\n"
      "  muster topo cluster.json\n"
      "  muster topo dgx-a100 --format svg > dgx.svg\n"
      "  nvidia-smi topo -m | muster topo import - > node.json\n",
      {{"--format", "FORMAT", "text (default); dot: the links, for Graphviz; json: a topology file with all links stated; svg: a picture"}},
      1,
      9,
      run};
}

}  // namespace muster::cli
