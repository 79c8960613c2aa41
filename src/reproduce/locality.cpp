// Gavel's measured throughputs of ResNets whose GPUs are on different machines, against the ring model with two fitted parameters.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "files/read.hpp"
#include "model/all_reduce.hpp"
#include "model/throughput_table.hpp"
#include "reproduce/study.hpp"

namespace muster {
namespace {

/// Trained by Gavel: ResNet-18 on CIFAR-10 (11,173,962 parameters), ResNet-50 on ImageNet (25,557,032), of four bytes each.
constexpr struct {
  const char* name;
  double bytes;
} kModels[] = {{"ResNet-18", 4 * 11'173'962.0}, {"ResNet-50", 4 * 25'557'032.0}};
constexpr int kBatches[] = {16, 32, 64, 128, 256};
constexpr uint32_t kGpus[] = {2, 4, 8};

struct Point {
  std::string model;
  uint32_t gpus;
  double bytes, alone_ns, measured;  // of an iteration on one GPU; iterations a second of all GPUs together
};

/// Iterations a second of all GPUs together.
double predicted(const Point& p, double mb_s, double overlap) {
  return p.gpus * 1e9 / overlapped(p.alone_ns, all_reduce_ns(p.bytes, p.gpus, mb_s, 0), overlap);
}

struct Fit {
  double mb_s = 0, overlap = 0, mean = 1e9, worst = 0;  // relative errors
};

Fit judge(const std::vector<Point>& points, double mb_s, double overlap) {
  Fit f{mb_s, overlap, 0, 0};
  for (const Point& p : points) {
    const double e = std::abs(predicted(p, mb_s, overlap) - p.measured) / p.measured;
    f.mean += e / double(points.size()), f.worst = std::max(f.worst, e);
  }
  return f;
}

/// The best of a grid: 10 MB/s and tenths.
Fit fit(const std::vector<Point>& points) {
  Fit best;
  for (int mb_s = 100; mb_s <= 3000; mb_s += 10)
    for (int tenths = 10; tenths <= 100; tenths++)
      if (const Fit f = judge(points, mb_s, tenths / 10.0); f.mean < best.mean) best = f;
  return best;
}

/// The simplest rival: one factor for all that is spread.
double one_factor(const std::vector<Point>& points) {
  double least = 1e9;
  for (int hundredths = 100; hundredths <= 1000; hundredths++) {
    double mean = 0;
    for (const Point& p : points) mean += std::abs(p.gpus * 1e9 / p.alone_ns / (hundredths / 100.0) - p.measured) / p.measured / double(points.size());
    least = std::min(least, mean);
  }
  return least;
}

StudyResult run(const StudyInput& in) {
  const std::string file = in.data + "/simulation_throughputs.json";
  const ThroughputTable table = ThroughputTable::read(read_file(file), file);
  StudyResult r;
  r.holds = true;
  r.text = "Gavel's throughputs of ResNet-18 and ResNet-50 with their GPUs on different machines\n"
           "model     T = (compute^g + ring^g)^(1/g), ring = 2 (n-1)/n x gradient / B\n\n"
           "gpu    points        B     g   mean error   bound   worst   one factor for all\n";
  std::string csv = "gpu,model,gpus,measured_per_s,predicted_per_s,error\n";
  for (const auto& [type, bound] : {std::pair{"v100", 0.10}, std::pair{"p100", 0.07}}) {
    std::vector<Point> points;
    for (const auto& m : kModels)
      for (const int batch : kBatches) {
        const std::string name = fmt::format("{} (batch size {})", m.name, batch);
        const auto alone = table.rate(name, type, {1});
        for (const uint32_t n : kGpus)
          if (const auto spread = table.rate(name, type, {n - 1, 1}); alone && spread) points.push_back({name, n, m.bytes, 1e9 / *alone, *spread});
      }
    if (points.empty()) throw InputError(file + ": no throughput of a ResNet whose " + type + " are not consolidated");
    const Fit f = fit(points);
    const bool holds = f.mean <= bound;
    r.holds &= holds;
    r.text += fmt::format("{:<7}{:>6}{:>5.2f} GB/s{:>6.1f}{:>11.1f} %{:>6.0f} %{:>6.0f} %{:>18.1f} %   {}\n", type, points.size(), f.mb_s / 1000, f.overlap,
                          100 * f.mean, 100 * bound, 100 * f.worst, 100 * one_factor(points), holds ? "holds" : "does not hold");
    for (const Point& p : points) {
      const double ours = predicted(p, f.mb_s, f.overlap);
      csv += fmt::format("{},{},{},{:.4f},{:.4f},{:+.4f}\n", type, p.model, p.gpus, p.measured, ours, (ours - p.measured) / p.measured);
    }
  }
  r.files.push_back({"locality.csv", csv});
  return r;
}

}  // namespace

Study locality_study() {
  return {"locality", "Gavel's unconsolidated throughputs against the ring model (OSDI 2020)", "papers/gavel", run};
}

}  // namespace muster
