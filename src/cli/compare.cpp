// muster compare: the regression gate.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "cli/commands.hpp"
#include "files/read.hpp"
#include "files/write.hpp"
#include "report/gate.hpp"
#include "text/numbers.hpp"

namespace muster::cli {
namespace {

namespace fs = std::filesystem;

/// The reports a name stands for: a file; or, of a folder, its report.json, else its *.json and every */report.json, by name.
std::vector<std::string> report_files(const std::string& name) {
  std::error_code error;
  if (!fs::is_directory(name, error)) return {name};
  const fs::path own = fs::path(name) / "report.json";
  if (fs::exists(own, error)) return {own.string()};
  std::vector<std::string> files;
  for (fs::directory_iterator it(name, error), end; !error && it != end; it.increment(error)) {
    const fs::path path = it->path();
    if (fs::exists(path / "report.json")) files.push_back((path / "report.json").string());
    else if (path.extension() == ".json") files.push_back(path.string());
  }
  if (error) throw InputError(name + ": " + error.message());
  if (files.empty()) throw InputError(name + ": holds no report: neither *.json nor */report.json");
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<RunReport> read_reports(const std::string& name) {
  std::vector<RunReport> reports;
  for (const std::string& file : report_files(name)) reports.push_back(read_run_report(read_file(file), file));
  return reports;
}

/// A line of a report for a message: without its end, and short.
std::string shown(const std::optional<std::string>& line) {
  if (!line) return "(ends here)";
  std::string s = *line;
  if (!s.empty() && s.back() == '\n') s.pop_back();
  else s += " (no line end)";
  return s.size() > 300 ? s.substr(0, 300) + "..." : s;
}

/// Byte for byte. With update, the base becomes what the new one is.
int golden(const std::string& base, const std::string& now, bool update, Console& console) {
  const std::vector<std::string> ours = report_files(now);
  const bool folder = fs::is_directory(now);
  // A new file lies in the base where it lies in the new folder.
  const auto partner = [&](const std::string& file, const std::string& from, const std::string& to) {
    return folder ? (fs::path(to) / fs::path(file).lexically_relative(from)).string() : to;
  };
  if (fs::exists(base) && folder != fs::is_directory(base)) throw InputError(base + " and " + now + ": one is a file, the other a folder");
  int differ = 0;
  for (const std::string& file : ours) {
    const std::string text = read_file(file);
    read_run_report(text, file);  // never hold or bless a run that was cut short
    const std::string target = partner(file, now, base);
    const bool exists = fs::exists(target);
    if (!exists && !update) {
      console.out(file + ": new, " + target + " does not exist\n");
      ++differ;
      continue;
    }
    const std::optional<Parting> parting = exists ? first_difference(read_file(target), text) : Parting{};
    if (!parting) continue;
    ++differ;
    if (update) {
      write_file(target, text);
      console.out(target + (exists ? ": updated" : ": written") + "\n");
    } else {
      console.out(target + " and " + file + " part at line " + std::to_string(parting->line) + ":\n  base  " + shown(parting->a) +
                  "\n  new   " + shown(parting->b) + "\n");
    }
  }
  if (folder && fs::is_directory(base))
    for (const std::string& file : report_files(base))
      if (!fs::exists(partner(file, base, now))) {
        // Removing is left to whoever meant it.
        console.out(file + ": missing, " + partner(file, base, now) + " does not exist\n");
        return kFailed;
      }
  if (!differ) console.out(std::to_string(ours.size()) + (ours.size() == 1 ? " report is" : " reports are") + " equal to the byte\n");
  return differ && !update ? kFailed : kDone;
}

int run(const Arguments& arguments, Console& console) {
  const auto words = arguments.words();
  const std::string& base = words[0];
  if (arguments.has("--update") && !arguments.has("--golden"))
    throw InputError("--update wants --golden: it makes the new report the base");
  if (arguments.has("--golden")) {
    for (const char* other : {"--gate", "--junit", "--markdown"})
      if (arguments.has(other)) throw InputError(std::string("--golden and ") + other + " exclude each other");
    if (words.size() > 2) throw InputError("--golden compares one base with one new report, found " + std::to_string(words.size() - 1));
    return golden(base, words[1], arguments.has("--update"), console);
  }
  if (arguments.has("--junit") && !arguments.has("--gate"))
    throw InputError("--junit wants --gate: without bounds there is nothing to pass or fail");

  std::optional<Gate> gate;
  if (arguments.has("--gate")) {
    const std::string file(arguments.get("--gate"));
    gate = read_gate(read_file(file), file);
  }
  std::vector<Comparison> all;
  std::size_t failures = 0;
  for (const std::string& now : words.subspan(1)) {
    all.push_back(compare(base, read_reports(base), now, read_reports(now), gate ? &*gate : nullptr));
    failures += all.back().failures();
  }
  if (arguments.has("--junit")) write_file(std::string(arguments.get("--junit")), gate_junit(all));
  const char* github = std::getenv("GITHUB_ACTIONS");
  for (const Comparison& c : all) {
    for (const std::string& note : c.notes) console.warning(note);
    if (arguments.has("--markdown")) {
      console.out((&c == &all[0] ? "" : "\n") + gate_markdown(c));
    } else {
      if (all.size() > 1) console.out((&c == &all[0] ? "" : "\n") + one_line(c.now + " against " + c.base) + "\n");
      console.out(gate_table(c));
    }
    // On standard error, which GitHub reads as well: standard output may be on its way into a summary.
    if (github && std::string_view(github) == "true") std::fputs(gate_annotations(c).c_str(), stderr);
  }
  return failures ? kFailed : kDone;
}

}  // namespace

Command compare_command() {
  return {.name = "compare",
          .summary = "compare reports by metric; --gate fails on a regression",
          .usage = "[options] BASE NEW...",
          .examples =
              "  muster compare base.json new.json\n"
              "  muster compare base.json new.json --gate gate.json --junit gate.xml\n"
              "  muster compare base/ new/ --gate gate.json      folders: one report a seed\n"
              "  muster compare golden.json new.json --golden    equal to the byte\n",
          .options = {{"--gate", "FILE", "bounds, metric by metric; exit 1 when one is passed"},
                      {"--golden", "", "instead: equal to the byte; exit 1 when not"},
                      {"--update", "", "with --golden: make NEW the base"},
                      {"--junit", "FILE", "write the gate's verdicts as JUnit XML"},
                      {"--markdown", "", "print Markdown instead of a plain table"}},
          .least = 2,
          .most = 1000,
          .run = run};
}

}  // namespace muster::cli
