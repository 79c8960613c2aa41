#include "reproduce/study.hpp"

#include <algorithm>
#include <deque>
#include <filesystem>

#include "cli/commands.hpp"
#include "files/write.hpp"
#include "muster/config.hpp"

namespace muster::cli {
namespace {

std::string list() {
  std::string s;
  size_t width = 0;
  for (const Study& t : studies()) width = std::max(width, t.name.size());
  for (const Study& t : studies()) s += std::string(t.name) + std::string(width + 2 - t.name.size(), ' ') + std::string(t.summary) + "\n";
  return s;
}

int run(const Arguments& a, Console& console) {
  if (a.words().empty()) {
    console.out(list());
    return kDone;
  }
  const std::string& name = a.words()[0];
  const auto all = studies();
  const auto study = std::find_if(all.begin(), all.end(), [&](const Study& s) { return s.name == name; });
  if (study == all.end()) {
    std::vector<std::string_view> known;
    for (const Study& s : all) known.push_back(s.name);
    const std::string near = nearest_name(name, known);
    throw InputError("no study is called " + name + (near.empty() ? "" : "; did you mean " + near + "?") + " (`muster reproduce` lists them)");
  }
  StudyInput in;
  in.data = study->folder.empty() ? std::string() : a.want("--data");  // some bring all they need
  // The folder of all published files or the study's own: both are what a user may have at hand.
  const std::filesystem::path inside = std::filesystem::path(in.data) / study->folder;
  if (std::error_code none; std::filesystem::is_directory(inside, none)) in.data = inside.string();
  in.seeds = a.number("--seeds", 0, 0, 10'000);
  const StudyResult r = study->run(in);
  if (a.has("--out")) {
    std::deque<OutFile> files;
    for (const StudyResult::File& f : r.files) files.emplace_back(std::string(a.get("--out")) + "/" + f.name).write(f.bytes);
    for (OutFile& f : files) f.commit();
  }
  console.out(r.text);
  return r.holds ? kDone : kFailed;
}

}  // namespace

Command reproduce_command() {
  return {"reproduce",
          "run a published study again and compare",
          "[STUDY --data DIR [--out DIR] [--seeds N]]",
          "  muster reproduce\n"
          "  muster reproduce fgd --data data --out fgd\n",
          {{"--data", "DIR", "the folder with the published files"},
           {"--out", "DIR", "write every single value there"},
           {"--seeds", "N", "runs of what is random; default: as published"}},
          0,
          1,
          run};
}

}  // namespace muster::cli
