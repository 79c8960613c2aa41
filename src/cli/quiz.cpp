// muster quiz: an exercise and its solution.
#include "cli/choose.hpp"
#include "cli/commands.hpp"
#include "explain/explanation.hpp"
#include "explain/quiz.hpp"
#include "files/write.hpp"
#include "muster/random.hpp"

namespace muster::cli {
namespace {

int run(const Arguments& a, Console& console) {
  if (a.words().empty()) {
    size_t width = 0;
    for (const Quiz& q : quizzes()) width = std::max(width, q.name.size());
    std::string s;
    for (const Quiz& q : quizzes()) s += std::string(q.name) + std::string(width + 2 - q.name.size(), ' ') + std::string(q.question) + "\n";
    console.out(s);
    return kDone;
  }
  const Quiz& q = chosen(quizzes(), a.words()[0], "quiz");
  const DocumentFormat& format = chosen(document_formats(), a.get("--format", "text"), "format");
  const uint64_t seed = a.number("--seed", 0, 0, uint64_t(std::numeric_limits<int64_t>::max()));
  const std::string name(q.name);
  Random random(seed, "quiz " + name);
  const std::string input = "// " + std::string(q.question) + "\n" + q.make(random);
  const std::string solution = format.write(chosen(explanations(), q.name, "explanation").explain(read_exercise(input, "exercise.json")));
  if (a.has("--out")) {
    const std::string folder(a.get("--out"));
    OutFile exercise(folder + "/exercise.json"), answer(folder + "/solution." + (format.name == "text" ? "txt" : format.name == "markdown" ? "md" : std::string(format.name)));
    exercise.write(input);
    answer.write(solution);
    exercise.commit();
    answer.commit();
    console.note("wrote " + exercise.path() + ", " + answer.path());
    return kDone;
  }
  if (a.has("--exercise")) console.out(input);
  else console.out(format.name == "text" ? input + "\n" + solution : solution);
  return kDone;
}

}  // namespace

Command quiz_command() {
  return {.name = "quiz",
          .summary = "make up an exercise, and solve it",
          .usage = "[KIND [--seed N] [options]]",
          .examples =
              "  muster quiz                       the kinds\n"
              "  muster quiz drf --seed 7\n"
              "  muster quiz drf --seed 7 --out week3 --format html\n",
          .options = {{"--seed", "N", "which exercise; default 0"},
                      {"--format", "F", "of the solution: text, markdown, html or json; default text"},
                      {"--exercise", "", "the exercise without its solution"},
                      {"--out", "DIR", "write exercise.json and the solution there"}},
          .least = 0,
          .most = 1,
          .run = run};
}

}  // namespace muster::cli
