// Dockerfiles as texts: instructions in order, with what they say.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "muster/types.hpp"

namespace muster {

/// One instruction of a Dockerfile, continued lines joined.
struct DockerInstruction {
  size_t line = 0;
  std::string name;                                         ///< in capitals
  std::vector<std::pair<std::string, std::string>> flags;   ///< "--from=build" is {"from", "build"}
  std::string text;                                         ///< behind the flags; documents that follow (<<EOF) are part of it
  std::vector<std::string> exec;                            ///< of the JSON form ["a", "b"]
  bool is_exec = false;                                     ///< it has that form
};

/// A stage: from one FROM to the next.
struct DockerStage {
  std::string base;                            ///< an image, or the name of an earlier stage
  size_t base_stage = size_t(-1);              ///< that stage
  std::string name;                            ///< AS, or empty
  std::vector<DockerInstruction> instructions; ///< FROM first
};

struct Dockerfile {
  std::string file;
  std::vector<DockerInstruction> before;  ///< ARG ahead of the first FROM
  std::vector<DockerStage> stages;        ///< at least one; the last one is the image
};

/// Reads a text by the rules of the Dockerfile reference (docs.docker.com, syntax 1): comments, the escape directive, continued lines, heredocs,
/// flags, the JSON form, stages. Values of ARG ahead of FROM are put into FROM. Throws InputError with file and line for an unknown
/// instruction (with the nearest name), one without the arguments it needs, anything but ARG before FROM, and a text without FROM.
Dockerfile read_dockerfile(std::string_view text, std::string_view file);

}  // namespace muster
