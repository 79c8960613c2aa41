// Published results run again: one study a file, one row a study.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "muster/types.hpp"

namespace muster {

/// What a study is given.
struct StudyInput {
  std::string data;    ///< the folder with the published files
  uint64_t seeds = 0;  ///< how many runs where the study draws at random; 0: as many as the publication had
};

/// What it found.
struct StudyResult {
  std::string text;  ///< for people: ours beside theirs, and the verdict
  bool holds = false;
  struct File {
    std::string name, bytes;
  };
  std::vector<File> files;  ///< for --out: per-run values and curves from which mean and verdict follow
};

/// A row of the table of studies.
struct Study {
  std::string_view name, summary;
  std::string_view folder;  ///< of the published files below --data ("papers/fgd")
  StudyResult (*run)(const StudyInput&) = nullptr;  ///< throws InputError for files that are not what they should be
};

// ---- one function a study, in the file of its name
Study hived_study();
Study locality_study();
Study fgd_study();
Study muri_study();

/// All studies, in order of name.
std::span<const Study> studies();

}  // namespace muster
