#include "report/report_json.hpp"

#include "cli/commands.hpp"
#include "files/read.hpp"
#include "files/write.hpp"
#include "metrics/metrics.hpp"
#include "muster/simulator.hpp"
#include "report/records.hpp"
#include "report/summary.hpp"

namespace muster::cli {
namespace {

int run(const Arguments& a, Console& console) {
  const std::string& file = a.words()[0];
  const std::string text = read_file(file);
  Metrics metrics;
  Observer* const observers[] = {&metrics};
  const Recording recording = read_records(text, file, observers);
  const Report report = metrics.report();
  const std::string json = report_json(report, recording.header);
  if (a.has("--out")) write_file(std::string(a.get("--out")) + "/report.json", json);
  if (a.has("--json")) {
    console.out(json);
  } else if (!console.quiet || !a.has("--out")) {
    const auto input = [&](std::string_view role) {
      for (const auto& [r, name] : recording.header.inputs)
        if (r == role) return std::string_view(name).substr(0, name.rfind(" sha256:"));
      return std::string_view("?");
    };
    console.out(summary(report, recording.header, input("trace"), input("topology")));
  }
  return kDone;
}

}  // namespace

Command report_command() {
  return {"report",
          "compute the report of a run again from its records",
          "RECORDS.jsonl [--json] [--out DIR]",
          "  muster report out/records.jsonl\n"
          "  muster report out/records.jsonl --json\n",
          {{"--json", "", "print report.json instead of the summary"}, {"--out", "DIR", "write report.json there"}},
          1,
          1,
          run};
}

}  // namespace muster::cli
