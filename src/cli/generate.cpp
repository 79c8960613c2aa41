#include "workload/generate.hpp"

#include "cli/commands.hpp"
#include "files/read.hpp"
#include "files/write.hpp"
#include "muster/types.hpp"
#include "text/json_config.hpp"

namespace muster::cli {
namespace {

int run(const Arguments& a, Console& console) {
  const std::string& file = a.words()[0];
  std::optional<uint64_t> jobs, seed;
  if (a.has("--jobs")) jobs = a.number("--jobs", 0, 1, 1'000'000'000);
  if (a.has("--seed")) seed = a.number("--seed", 0, 0, std::numeric_limits<int64_t>::max());
  const Config spec = parse_json_config(read_file(file), file);
  const std::string text = generate_trace(spec, jobs, seed);
  if (a.has("--out")) write_file(std::string(a.get("--out")), text);
  else console.out(text);
  return kDone;
}

}  // namespace

Command generate_command() {
  return {"generate",
          "make up a trace from a specification",
          "SPEC.json [--jobs N] [--seed N] [--out FILE]",
          "  muster generate traces/campus.json > campus.csv\n"
          "  muster generate spec.json --jobs 1000000 --seed 7 --out jobs.csv.zst\n",
          {{"--jobs", "N", "how many jobs, instead of the specification's number"},
           {"--seed", "N", "of the random numbers, instead of the specification's"},
           {"--out", "FILE", "write there; .zst compresses; default: standard output"}},
          1,
          1,
          run};
}

}  // namespace muster::cli
