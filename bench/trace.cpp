// Reading a trace, and making one up: processor time a row, and the memory of what was read.
//   bench-trace [ROWS]      default: 1000000
// The text has the columns and values of the recurrence in replay.cpp: about 33 bytes a row.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>

#include "text/json_config.hpp"
#include "workload/generate.hpp"
#include "workload/trace.hpp"

namespace {

std::string make_text(uint64_t rows) {
  std::string text = "job_id,user,queue,submit_s,tasks,gpus_per_task,run_s\n";
  text.reserve(rows * 36);
  constexpr const char* kSizes[8] = {"1", "1", "1", "1", "2", "2", "4", "8"};
  uint64_t x = 12345, at = 0;
  const auto next = [&x] { return x = (1103515245 * x + 12345) % 2147483648; };
  for (uint64_t i = 0; i < rows; i++) {
    at += next() % 21;
    const char* gpus = kSizes[(next() >> 16) % 8];
    const uint64_t run = 1 + (next() >> 8) % 7200;
    text.append("j").append(std::to_string(i)).append(",u").append(std::to_string(i % 97)).append(",q").append(std::to_string(i % 5));
    text.append(",").append(std::to_string(at)).append(",1,").append(gpus).append(",").append(std::to_string(run)).append("\n");
  }
  return text;
}

template <typename F>
double seconds(F&& f) {
  const std::clock_t begin = std::clock();
  f();
  return double(std::clock() - begin) / CLOCKS_PER_SEC;
}

}  // namespace

int main(int argc, char** argv) {
  const uint64_t rows = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
  const std::string text = make_text(rows);
  for (int i = 0; i < 5; i++) {
    muster::TraceResult t;
    const double s = seconds([&] { t = muster::read_trace(text, "made up"); });
    const auto& w = t.workload;
    size_t names = 0;
    for (uint32_t j = 0; j < w.names.size(); j++) names += w.names[j].size() + sizeof(size_t);
    const double bytes = double(w.jobs.size() * (sizeof(muster::Job) + sizeof(muster::JobTruth)) + names);
    std::printf("read      %.3f s   %.0f ns a row   %.0f bytes a job   %zu jobs\n", s, s * 1e9 / double(rows), bytes / double(rows), w.jobs.size());
  }
  const muster::Config spec = muster::parse_json_config(
      R"({"arrivals": {"load": 0.85, "gpus": 128}, "sizes": {"1": 6, "8": 1}, "durations": {"median": "20m", "sigma": 1.5},
          "users": {"count": 40, "zipf": 1}, "estimates": {}})",
      "spec");
  size_t bytes = 0;
  const double s = seconds([&] { bytes = muster::generate_trace(spec, rows).size(); });
  std::printf("generate  %.3f s   %.0f ns a row   %zu bytes\n", s, s * 1e9 / double(rows), bytes);
}
