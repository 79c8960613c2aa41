#include <cmath>
#include <regex>

#include "cases.hpp"
#include "files/read.hpp"
#include "workload/trace.hpp"

namespace conformance {

using namespace muster;

bool known_mean(const std::filesystem::path& csv, Tally& tally) {
  const std::filesystem::path readme = csv.parent_path() / "README.md";
  if (!std::filesystem::exists(readme)) return false;
  const std::string text = read_file(readme.string());
  // The table gives a mean a file, the text the cluster: "32 nodes of 8 GPUs".
  std::string name = csv.filename().string();
  const std::regex row("\\| *" + std::regex_replace(name, std::regex("\\."), "\\.") + " *\\| *([0-9]+)\\.([0-9]+) *\\|");
  std::smatch mean, cluster;
  if (!std::regex_search(text, mean, row) || !std::regex_search(text, cluster, std::regex("([0-9]+) nodes of ([0-9]+) GPUs"))) return false;
  const Topology t = Topology::parse_line("node:" + cluster[1].str() + " gpu:" + cluster[2].str());
  const Outcome o = run(t, read_trace(read_file(csv.string()), csv.string()).workload, *policy("fifo"));
  const Metric* m = o.report.find("jct_mean_s");
  const double expected = std::stod(mean[1].str() + "." + mean[2].str());
  const double digit = std::pow(10.0, -double(mean[2].length()));
  std::string difference;
  if (!m || std::abs(m->value - expected) > digit / 2 * 1.000001)
    difference = "jct_mean_s: expected " + mean[1].str() + "." + mean[2].str() + ", found " + (m ? std::to_string(m->value) : "none");
  tally.judged(name + " fifo", difference);
  return true;
}

}  // namespace conformance
