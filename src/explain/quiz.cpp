// Exercises made up from a seed: the text of an input file each.
#include <fmt/format.h>

#include <algorithm>

#include "explain/quiz.hpp"
#include "muster/random.hpp"

namespace muster {
namespace {

int64_t from_to(Random& r, int64_t a, int64_t b) { return a + int64_t(r.below(uint64_t(b - a + 1))); }

/// Two or three users on CPU and memory, or with GPUs; every task fits at least twice, and dominant resources differ.
std::string drf(Random& r) {
  const bool gpus = r.below(2) != 0;
  const int64_t users = from_to(r, 2, 3);
  const int64_t cpu = from_to(r, 8, 24), mem = from_to(r, 16, 64), gpu = 2 * from_to(r, 2, 6);
  std::string s = "{\n \"capacity\": {" + (gpus ? fmt::format("\"gpu\": {}, ", gpu) : std::string()) + fmt::format("\"cpu\": {}, \"mem_gib\": {}}},\n", cpu, mem);
  s += " \"users\": {\n";
  for (int64_t u = 0; u < users; u++) {
    // Each user leans to another resource, so that not all are dominated by the same.
    const int64_t lean = gpus ? (u + int64_t(r.below(2))) % 3 : u % 2;
    const int64_t c = lean == 1 || (!gpus && lean == 0) ? from_to(r, cpu / 5 + 1, cpu / 3) : from_to(r, 1, std::max<int64_t>(1, cpu / 8));
    const int64_t m = lean == 2 || (!gpus && lean == 1) ? from_to(r, mem / 5 + 1, mem / 3) : from_to(r, 1, std::max<int64_t>(1, mem / 10));
    const int64_t g = lean == 0 ? from_to(r, gpu / 5 + 1, gpu / 3 + 1) : int64_t(r.below(2));
    s += fmt::format("  \"{}\": {{\"demand\": {{{}\"cpu\": {}, \"mem_gib\": {}}}}}{}\n", char('A' + u), gpus ? fmt::format("\"gpu\": {}, ", g) : std::string(),
                     c, m, u + 1 < users ? "," : "");
  }
  return s + " }\n}\n";
}

/// Three to five demands that the capacity does not hold together; weights now and then.
std::string maxmin(Random& r) {
  const int64_t users = from_to(r, 3, 5);
  std::string demands, weights;
  int64_t sum = 0;
  for (int64_t u = 0; u < users; u++) {
    const int64_t d = from_to(r, 1, 12);
    sum += d;
    demands += fmt::format("{}\"{}\": {}", u ? ", " : "", char('a' + u), d);
    weights += fmt::format("{}\"{}\": {}", u ? ", " : "", char('a' + u), from_to(r, 1, 3));
  }
  return fmt::format("{{\n \"capacity\": {},\n \"demands\": {{{}}}{}\n}}\n", std::max<int64_t>(2, sum * from_to(r, 55, 85) / 100), demands,
                     r.below(3) == 0 ? fmt::format(",\n \"weights\": {{{}}}", weights) : std::string());
}

std::string jobs(Random& r, int64_t gpus, int64_t least, int64_t most, bool estimates) {
  const int64_t n = from_to(r, least, most);
  std::string s = fmt::format("{{\n \"gpus\": {},\n \"jobs\": [\n", gpus);
  int64_t submit = 0;
  for (int64_t j = 0; j < n; j++) {
    const int64_t run = from_to(r, 1, 12);
    // The second job is wide, so that something has to wait behind it.
    const int64_t size = gpus == 1 ? 1 : j == 1 ? gpus : from_to(r, 1, gpus - 1);
    s += fmt::format("  {{\"id\": \"{}\", \"submit\": {}, \"size\": {}, \"run\": {}{}}}{}\n", char('A' + j), submit, size, run,
                     estimates ? fmt::format(", \"est\": {}", run + int64_t(r.below(4))) : std::string(), j + 1 < n ? "," : "");
    submit += int64_t(r.below(4));
  }
  return s + " ]\n}\n";
}

std::string schedule(Random& r) { return jobs(r, 1, 4, 6, false); }
std::string backfill(Random& r) { return jobs(r, from_to(r, 3, 6), 5, 7, true); }

}  // namespace

std::span<const Quiz> quizzes() {
  static constexpr Quiz kQuizzes[] = {
      {"backfill", "Draw the schedule under first in first out and under each way of backfilling.", backfill},
      {"drf", "Which tasks are launched, in which order, under dominant resource fairness? What is left?", drf},
      {"maxmin", "What does each get under max-min fairness?", maxmin},
      {"schedule", "Draw the schedule on one GPU under each policy. Which has the smallest mean wait?", schedule},
  };
  return kQuizzes;
}

}  // namespace muster
