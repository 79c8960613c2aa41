#include <algorithm>
#include <filesystem>

#include "cli/commands.hpp"
#include "cli/scenario.hpp"
#include "muster/types.hpp"
#include "text/numbers.hpp"

namespace muster::cli {
namespace {

/// Files as named; of a folder every .json below it, in order of name.
std::vector<std::string> scenario_files(std::span<const std::string> words) {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  for (const std::string& word : words) {
    std::error_code error;
    if (!fs::is_directory(word, error)) {
      files.push_back(word);
      continue;
    }
    const size_t before = files.size();
    for (auto it = fs::recursive_directory_iterator(word, error); !error && it != fs::recursive_directory_iterator(); it.increment(error))
      if (it->path().extension() == ".json" && it->is_regular_file(error)) files.push_back(it->path().string());
    if (error) throw InputError(word + ": " + error.message());
    if (files.size() == before) throw InputError(word + ": holds no .json file");
    std::sort(files.begin() + std::ptrdiff_t(before), files.end());
  }
  return files;
}

int run(const Arguments& a, Console& console) {
  size_t passed = 0, failed = 0;
  bool unusable = false;
  for (const std::string& file : scenario_files(a.words())) {
    if (interrupted()) throw Interrupted{};
    try {
      const Verdict v = run_scenario(file);
      const std::string title = v.title.empty() ? "" : ": " + one_line(v.title);
      if (v.differences.empty()) {
        passed++;
        console.out("ok    " + file + title + "\n");
      } else {
        failed++;
        console.out("FAIL  " + file + title + "\n");
        for (const std::string& d : v.differences) console.out("      " + one_line(d) + "\n");
      }
    } catch (const InputError& e) {
      failed++, unusable = true;
      console.error(one_line(e.what()));
    }
  }
  console.out(std::to_string(passed) + " passed, " + std::to_string(failed) + " failed\n");
  return unusable ? kUsage : failed ? kFailed : kDone;
}

}  // namespace

Command verify_command() {
  return {"verify",
          "run scenario files and compare with what they expect",
          "SCENARIO.json|FOLDER...",
          "  muster verify tests/scenarios\n"
          "  muster verify drf.json easy.json\n",
          {},
          1,
          1 << 20,
          run};
}

}  // namespace muster::cli
