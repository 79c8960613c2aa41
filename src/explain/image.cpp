#include "explain/image.hpp"

#include <algorithm>

#include "text/json_text.hpp"

namespace muster {
namespace {

/// What an instruction is. Source: Dockerfile reference and OCI image specification 1.1 (config.md).
struct InstructionRule {
  std::string_view name, makes, when, what;
};
constexpr InstructionRule kRules[] = {
    {"FROM", "base", "build", "the layers of that image come first"},
    {"RUN", "layer", "build", "the files that the command changes are the layer"},
    {"COPY", "layer", "build", "the files are the layer"},
    {"ADD", "layer", "build", "as COPY; also fetches and unpacks"},
    {"WORKDIR", "metadata", "build, run", "directory of what follows, and of the container"},
    {"ENV", "metadata", "build, run", "a variable of what follows and of the container"},
    {"ARG", "metadata", "build", "a variable of what follows; the container does not have it"},
    {"USER", "metadata", "build, run", "who runs what follows, and the container"},
    {"SHELL", "metadata", "build, run", "runs commands that are not in the [\"a\", \"b\"] form"},
    {"CMD", "metadata", "run", "default command, or default arguments of ENTRYPOINT"},
    {"ENTRYPOINT", "metadata", "run", "the program that starts"},
    {"EXPOSE", "metadata", "run", "says which port it listens on; opens none"},
    {"VOLUME", "metadata", "run", "a directory outside of the layers"},
    {"STOPSIGNAL", "metadata", "run", "how the container is asked to stop"},
    {"HEALTHCHECK", "metadata", "run", "how the container is asked whether it works"},
    {"LABEL", "metadata", "-", "a note for people and tools"},
    {"MAINTAINER", "metadata", "-", "a note; LABEL is preferred now"},
    {"ONBUILD", "metadata", "later builds", "done when another image is built on this one"},
};

/// For people: runs of blanks are one.
std::string one_line(const DockerInstruction& in) {
  std::string s = in.name;
  for (const auto& [name, value] : in.flags) s += " --" + name + (value.empty() ? "" : "=" + value);
  const size_t newline = std::min(in.text.find('\n'), in.text.size());
  s += " " + in.text.substr(0, newline) + (newline < in.text.size() ? " ..." : "");
  s.erase(std::unique(s.begin(), s.end(), [](char a, char b) { return a == ' ' && b == ' '; }), s.end());
  return s;
}

std::string words(const std::vector<std::string>& exec) {
  std::string s;
  for (const std::string& e : exec) s += (s.empty() ? "" : " ") + (e.empty() || e.find(' ') != std::string::npos ? "\"" + e + "\"" : e);
  return s;
}

/// What a stage hands to what is built on it.
struct Stage {
  std::string base;
  std::vector<ImageLayer> layers;
  std::string variables;         // ENV, ARG, USER, in the order given
  std::string directory = "/", shell = "/bin/sh -c";
  const DockerInstruction *entrypoint = nullptr, *cmd = nullptr;

  std::string key() const {
    std::string s = base;
    for (const ImageLayer& l : layers) s += "\n" + l.key;
    return s;
  }
  std::string starts() const {
    const auto text = [&](const DockerInstruction& in) { return in.is_exec ? words(in.exec) : shell + " \"" + in.text + "\""; };
    if (!entrypoint) return cmd ? text(*cmd) : "";
    return text(*entrypoint) + (entrypoint->is_exec && cmd ? " " + text(*cmd) : "");
  }
};

std::vector<Stage> stages(const Dockerfile& d) {
  std::vector<Stage> all;
  for (const DockerStage& from : d.stages) {
    Stage s;
    if (from.base_stage != size_t(-1)) s = all[from.base_stage];
    else s.base = from.base;
    bool own_cmd = false;
    for (const DockerInstruction& in : from.instructions) {
      if (in.name == "RUN") {
        s.layers.push_back({in.line, one_line(in), "RUN\n" + in.text + "\n" + s.shell + "\n" + s.directory + "\n" + s.variables});
      } else if (in.name == "COPY" || in.name == "ADD") {
        std::string key = in.name + "\n" + in.text + "\n" + s.directory;
        for (const auto& [name, value] : in.flags) {
          key += "\n--" + name + "=" + value;
          if (name != "from") continue;
          for (size_t other = 0; other < all.size(); other++)
            if (d.stages[other].name == value || std::to_string(other) == value) key += "\n" + all[other].key();
        }
        s.layers.push_back({in.line, one_line(in), std::move(key)});
      } else if (in.name == "ENV" || in.name == "ARG" || in.name == "USER") {
        s.variables += in.name + " " + in.text + "\n";
      } else if (in.name == "WORKDIR") {
        s.directory = in.text.front() == '/' ? in.text : s.directory + "/" + in.text;
      } else if (in.name == "SHELL") {
        s.shell = words(in.exec);
      } else if (in.name == "CMD") {
        s.cmd = &in, own_cmd = true;
      } else if (in.name == "ENTRYPOINT") {
        s.entrypoint = &in;
        if (!own_cmd) s.cmd = nullptr;  // what the base says no longer goes with it
      }
    }
    all.push_back(std::move(s));
  }
  return all;
}

/// Why an instruction counts for nothing, or empty.
std::string overridden(const DockerStage& s, size_t i) {
  const DockerInstruction& in = s.instructions[i];
  if (in.name != "CMD" && in.name != "ENTRYPOINT") return {};
  for (size_t later = s.instructions.size(); later-- > i + 1;)
    if (s.instructions[later].name == in.name) return "does not count: line " + std::to_string(s.instructions[later].line) + " says another";
  if (in.name == "CMD")
    for (const DockerInstruction& e : s.instructions)
      if (e.name == "ENTRYPOINT" && !e.is_exec) return "does not count: ENTRYPOINT in line " + std::to_string(e.line) + " is run by a shell, which takes no arguments";
  return {};
}

std::vector<Block> describe(const Dockerfile& d, const ImageLayers& image) {
  TableBlock t;
  t.columns = {{"line", true}, {"instruction", false, true}, {"makes", false}, {"when", false}, {"what it does", false, true}};
  const auto row = [&](const DockerInstruction& in, std::string makes, std::string when, std::string what) {
    t.rows.push_back({std::to_string(in.line), one_line(in), std::move(makes), std::move(when), std::move(what)});
  };
  for (const DockerInstruction& in : d.before) row(in, "-", "build", "a value for FROM only");
  for (size_t s = 0; s < d.stages.size(); s++) {
    const bool last = s + 1 == d.stages.size();
    bool inherited = false;  // whether the image is built on this stage
    for (size_t b = d.stages.size() - 1; b != size_t(-1); b = d.stages[b].base_stage) inherited |= b == s;
    for (size_t i = 0; i < d.stages[s].instructions.size(); i++) {
      const DockerInstruction& in = d.stages[s].instructions[i];
      const InstructionRule& rule = *std::find_if(std::begin(kRules), std::end(kRules), [&](const InstructionRule& r) { return r.name == in.name; });
      std::string makes(rule.makes), when(rule.when), what = overridden(d.stages[s], i);
      if (what.empty()) what = rule.what;
      if (in.name == "FROM" && d.stages[s].base_stage != size_t(-1)) what = "goes on from stage " + d.stages[s].base;
      if (in.name == "FROM" && d.stages[s].base == "scratch") makes = "-", what = "begins with nothing";
      if (!last && !inherited) {
        if (makes == "layer" || makes == "base") makes = "not in image";
        if (when == "run") when = "-", what = "does not count: the image is made by the last stage";
      }
      row(in, std::move(makes), std::move(when), std::move(what));
    }
  }
  const size_t n = image.layers.size();
  return {{std::move(t)},
          {Paragraph{"layers", (image.base == "scratch" ? "" : "those of " + image.base + ", and ") + std::to_string(n) + (n == 1 ? " layer" : " layers") +
                                   " of its own; a container adds one that can be written and goes with it"}},
          {Paragraph{"starts", image.starts.empty() ? "what " + image.base + " says" : image.starts}}};
}

}  // namespace

ImageLayers image_layers(const Dockerfile& d) {
  Stage s = std::move(stages(d).back());
  return {s.base, std::move(s.layers), s.starts()};
}

size_t shared_layers(const ImageLayers& a, const ImageLayers& b) {
  if (a.base != b.base) return 0;
  size_t n = 0;
  while (n < a.layers.size() && n < b.layers.size() && a.layers[n].key == b.layers[n].key) n++;
  return n;
}

Document explain_image(std::span<const ExplainedText> files) {
  std::vector<Dockerfile> all;
  for (const ExplainedText& f : files) all.push_back(read_dockerfile(f.text, f.file));
  std::vector<ImageLayers> images;
  for (const Dockerfile& d : all) images.push_back(image_layers(d));
  Document out;
  out.title = files.size() == 1 ? "Image of " + files[0].file : std::to_string(files.size()) + " images";
  if (files.size() == 1) {
    out.blocks = describe(all[0], images[0]);
    return out;
  }
  Steps each;
  for (size_t i = 0; i < all.size(); i++) each.steps.push_back({files[i].file, "", describe(all[i], images[i])});
  out.add(std::move(each));

  // The layers as a tree: what has one parent and one key is one layer.
  struct Grow {
    std::span<const Dockerfile> files;
    std::span<const ImageLayers> images;
    Tree::Node node(const std::vector<size_t>& who, size_t depth) const {  // layer depth - 1 of all of `who`; 0 is the base
      const ImageLayers& one = images[who[0]];
      Tree::Node n;
      n.label = depth == 0 ? one.base : one.layers[depth - 1].text;
      const size_t room = std::max<size_t>(12, 44 - std::min<size_t>(44, 3 * depth));  // the page is 80 wide
      if (n.label.size() > room) n.label = n.label.substr(0, utf8_prefix(std::string_view(n.label).substr(0, room - 3))) + "...";
      for (const size_t w : who) n.note += (n.note.empty() ? "" : ", ") + files[w].file + (depth == 0 ? "" : ":" + std::to_string(images[w].layers[depth - 1].line));
      std::vector<uint8_t> done(images.size());
      for (const size_t w : who) {
        if (done[w] || images[w].layers.size() == depth) continue;
        std::vector<size_t> same;
        for (const size_t v : who)
          if (images[v].layers.size() > depth && images[v].layers[depth].key == images[w].layers[depth].key) same.push_back(v), done[v] = 1;
        n.parts.push_back(node(same, depth + 1));
      }
      return n;
    }
  };
  const Grow grow{all, images};
  Tree tree;
  std::vector<uint8_t> done(images.size());
  for (size_t i = 0; i < images.size(); i++) {
    if (done[i]) continue;
    std::vector<size_t> same;
    for (size_t j = i; j < images.size(); j++)
      if (images[j].base == images[i].base) same.push_back(j), done[j] = 1;
    tree.roots.push_back(grow.node(same, 0));
  }
  out.say("each layer once, with the lines that make it; what hangs below one thing shares all above it", "layers");
  out.add(std::move(tree));
  for (size_t i = 0; i < images.size(); i++)
    for (size_t j = i + 1; j < images.size(); j++) {
      const ImageLayers &a = images[i], &b = images[j];
      const size_t n = shared_layers(a, b);
      std::string s = files[i].file + " and " + files[j].file + " share ";
      if (a.base != b.base) s += "nothing: " + a.base + " and " + b.base + " are two images (that may share layers of their own)";
      else s += (a.base == "scratch" ? "" : "all of " + a.base + " and ") + std::to_string(n) + (n == 1 ? " layer" : " layers") + " above it";
      size_t again = 0;  // equal, but on other layers
      for (size_t x = n; x < a.layers.size(); x++)
        again += std::any_of(b.layers.begin() + ptrdiff_t(n), b.layers.end(), [&](const ImageLayer& l) { return l.key == a.layers[x].key; });
      if (again)
        s += "; " + std::to_string(again) + (again == 1 ? " more is equal in both, but lies on other layers, so it is made and kept twice"
                                                        : " more are equal in both, but lie on other layers, so they are made and kept twice");
      out.say(s + ".", "shared");
    }
  out.say("Files of one name that both copy are taken to be equal, and both images to be built with one cache.", "given");
  return out;
}

}  // namespace muster
