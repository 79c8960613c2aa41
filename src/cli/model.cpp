// Models by name; muster models.
#include "cli/model.hpp"

#include <filesystem>

#include "cli/commands.hpp"
#include "files/read.hpp"
#include "text/json_config.hpp"
#include "text/numbers.hpp"

namespace muster::cli {
namespace {

/// Reads the table that the parameters name, if the model has one.
void read_table(ChosenModel& m, const std::string& beside) {
  const Config* table = m.given.find("table");
  if (!m.info->reads_table || !table) return;
  const std::filesystem::path named(table->as_text());
  const std::filesystem::path path = named.is_absolute() || beside.empty() ? named : std::filesystem::path(beside).parent_path() / named;
  const Reading while_it_lasts;
  m.table = read_file(path.string());
  m.input.text += m.table;
}

ChosenModel from_object(const Config& c) {
  const Config* name = c.find("model");
  if (!name) throw InputError(c.where + ": wants a model, as in {\"model\": \"levels\", \"node\": 2}");
  ChosenModel m;
  m.info = &find_model(name->as_text(), name->where);
  m.given = c;
  std::erase_if(m.given.fields, [](const auto& f) { return f.first == "model" || f.first == "$schema"; });
  return m;
}

ChosenModel from_text(std::string_view x, const std::string& where) {
  ChosenModel m;
  const size_t colon = x.find(':');
  m.info = &find_model(x.substr(0, colon), where);
  m.given.kind = Config::Kind::object;
  for (std::string_view rest = colon == x.npos ? std::string_view() : x.substr(colon + 1); !rest.empty();) {
    const std::string_view one = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
    const size_t equals = one.find('=');
    if (equals == 0 || equals == one.npos)
      throw InputError(where + ": want NAME:PARAMETER=VALUE,..., as in levels:node=2,cluster=8, found " + in_quotes(x));
    const std::string name(one.substr(0, equals));
    if (m.given.find(name)) throw InputError(where + ": " + in_quotes(name) + " is given twice");
    m.given.set(name, Config::text(std::string(one.substr(equals + 1)), where + " " + name));
  }
  return m;
}

}  // namespace

std::unique_ptr<Model> ChosenModel::make(const Topology& t, const Workload& w, std::vector<std::string>& notes) const {
  return make_model(*info, {t, w, given, table, notes});
}

ChosenModel choose_model(std::string_view x) {
  const std::string_view stem = x.substr(0, x.find(':'));
  if (stem.find('/') == stem.npos && !stem.ends_with(".json")) {
    ChosenModel m = from_text(x, "--model");
    m.input.name = x;
    read_table(m, "");
    return m;
  }
  const std::string file(x);
  std::string text;
  {
    const Reading while_it_lasts;
    text = read_file(file);
  }
  const Config c = parse_json_config(text, file);
  if (c.kind != Config::Kind::object) throw InputError(file + ": want an object, as in {\"model\": \"levels\", \"node\": 2}");
  ChosenModel m = from_object(c);
  m.input = {file, text};
  read_table(m, file);
  return m;
}

ChosenModel choose_model(const Config& c, const std::string& file) {
  ChosenModel m = c.kind == Config::Kind::object ? from_object(c) : from_text(c.as_text(), c.where);
  read_table(m, file);
  return m;
}

namespace {

std::string row(std::string_view left, size_t width, std::string_view right) {
  std::string s = "  " + std::string(left);
  s.append(width > left.size() ? width - left.size() : 0, ' ');
  return s + "  " + std::string(right) + "\n";
}

int run(const Arguments& a, Console& console) {
  size_t width = 0;
  if (a.words().empty()) {
    for (const ModelInfo& m : models()) width = std::max(width, m.name.size());
    for (const ModelInfo& m : models()) console.out(row(m.name, width, m.summary));
    console.out("\n`muster models NAME` shows the parameters of one.\n");
    return kDone;
  }
  const ModelInfo& m = find_model(a.words()[0], "");
  console.out(m.name + ": " + m.summary + "\n");
  std::vector<Parameter> all = m.parameters;
  if (m.by_level) all.push_back({"LEVEL", "", "times longer when its GPUs meet at that level of the topology (\"cluster\": above all)", {}});
  if (all.empty()) {
    console.out("It has no parameters.\n");
    return kDone;
  }
  console.out("\nParameters (--model " + m.name + ":name=value,name=value)\n");
  for (const Parameter& p : all) width = std::max(width, p.name.size());
  for (const Parameter& p : all) console.out(row(p.name, width, p.help + (p.fallback.empty() ? "" : " (default " + p.fallback + ")")));
  return kDone;
}

}  // namespace

Command models_command() {
  return {"models",
          "list the models of speed, or show the parameters of one",
          "[MODEL]",
          "  muster models\n"
          "  muster models levels\n",
          {},
          0,
          1,
          run};
}

}  // namespace muster::cli
