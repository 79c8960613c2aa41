#include "cli/commands.hpp"
#include "cli/inputs.hpp"
#include "files/read.hpp"
#include "files/write.hpp"
#include "metrics/job_rows.hpp"
#include "metrics/metrics.hpp"
#include "muster/simulator.hpp"
#include "report/jobs_csv.hpp"
#include "report/records.hpp"
#include "report/report_json.hpp"
#include "report/summary.hpp"

namespace muster::cli {
namespace {

int run(const Arguments& a, Console& console) {
  const std::string& file = a.words()[0];
  const std::string text = read_file(file);
  const bool files = a.has("--out");
  Metrics metrics(metrics_from(a));
  JobRows rows;
  std::vector<Observer*> observers{&metrics};
  if (files) observers.push_back(&rows);
  const Recording recording = read_records(text, file, observers);
  const Report report = metrics.report();
  const std::string json = report_json(report, recording.header);
  if (files) {
    const std::string out(a.get("--out"));
    OutFile table(out + "/jobs.csv");
    jobs_csv(rows, recording.header, [&](std::string_view block) { table.write(block); });
    write_file(out + "/report.json", json);
    table.commit();
  }
  if (a.has("--json")) {
    console.out(json);
  } else if (!console.quiet || !files) {
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
          "compute the results of a run again from its records",
          "RECORDS.jsonl [--json] [--out DIR] [--metrics NAMES]",
          "  muster report out/records.jsonl\n"
          "  muster report out/records.jsonl --json\n",
          {{"--json", "", "print report.json instead of the summary"}, {"--out", "DIR", "write report.json and jobs.csv there"},
           {"--metrics", "NAMES", "more families of metrics, beside those that the run was asked for"}},
          1,
          1,
          run};
}

}  // namespace muster::cli
