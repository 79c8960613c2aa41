// muster-conformance FILE|DIR...: judges cases written by others, each known by its contents.
#include <algorithm>
#include <cstdio>

#include "cases.hpp"
#include "files/read.hpp"

namespace conformance { namespace {

namespace fs = std::filesystem;

/// One case, or an envelope of cases.
void judge(const Json& c, const fs::path& file, Tally& tally) {
  if (!c.is_object()) return;
  if (c.contains("cases") && c["cases"].is_array()) {
    for (const Json& one : c["cases"]) judge(one, file, tally);
    return;
  }
  const std::string kind = c.contains("kind") && c["kind"].is_string() ? c["kind"].get<std::string>() : "";
  if (kind == "single_server") return single_server(c, tally);
  if (kind == "parallel_schedule") return parallel_schedule(c, tally);
  if (kind == "maxmin") return max_min(c, tally);
  if (kind == "drf") return dominant_resource(c, tally);
  if (kind == "fair_share") return fair_share(c, tally);
  if (kind == "buddy") return buddy(c, tally);
  if (kind == "cells") return cells(c, tally);
  if (theory_case(kind, c, tally) || kueue_case(kind, c, tally) || yarn_case(kind, c, tally) || share_case(kind, c, tally) || kai_case(kind, c, tally)) return;
  if (!kind.empty()) return tally.skipped(kind);
  if (c.contains("recommended_behaviour")) return hived_defect(c, tally);
  if (c.contains("events") && c.contains("cluster")) return hived(c, tally), hived_run(c, tally);
  tally.skipped("file of an unknown kind (" + file.filename().string() + ")");
}

void judge_file(const fs::path& file, Tally& tally) {
  if (file.extension() == ".csv") {
    known_mean(file, tally);
  } else if (file.extension() == ".json") {
    judge(Json::parse(muster::read_file(file.string())), file, tally);
  }
}

void judge_folder(const fs::path& folder, Tally& tally) {
  if (fs::exists(folder / "expected.md")) return tally.skipped("field case");  // these are scenarios in words of our own
  std::vector<fs::path> entries;
  for (const auto& e : fs::directory_iterator(folder)) entries.push_back(e.path());
  std::sort(entries.begin(), entries.end());
  for (const fs::path& e : entries) {
    if (fs::is_directory(e)) judge_folder(e, tally);
    else judge_file(e, tally);
  }
}

}}  // namespace conformance

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: muster-conformance FILE|FOLDER...\n");
    return 2;
  }
  conformance::Tally tally;
  for (int i = 1; i < argc; i++) {
    try {
      const std::filesystem::path p(argv[i]);
      if (std::filesystem::is_directory(p)) conformance::judge_folder(p, tally);
      else conformance::judge_file(p, tally);
    } catch (const std::exception& e) {
      std::fprintf(stderr, "error: %s: %s\n", argv[i], e.what());
      return 2;
    }
  }
  return tally.close() ? 0 : 1;
}
