// muster diff: where two runs part.
#include "cli/commands.hpp"
#include "files/read.hpp"
#include "report/run_diff.hpp"

namespace muster::cli {
namespace {

int run(const Arguments& arguments, Console& console) {
  const std::string &a = arguments.words()[0], &b = arguments.words()[1];
  const std::string ours = read_file(a), theirs = read_file(b);
  const RunDiff d = diff_runs(ours, a, theirs, b);
  console.out(d.text);
  return d.parts ? kFailed : kDone;
}

}  // namespace

Command diff_command() {
  return {.name = "diff",
          .summary = "show the first record at which two runs part",
          .usage = "A B",
          .examples =
              "  muster run ... --policy fifo --out a --records\n"
              "  muster run ... --policy sjf --out b --records\n"
              "  muster diff a/records.jsonl b/records.jsonl\n",
          .least = 2,
          .most = 2,
          .run = run};
}

}  // namespace muster::cli
