// Whether a mean of this run means anything: warm-up cut, batch means, a test for trend. Over jobs that are done, in order of submit.
#include <array>
#include <cmath>

#include "metrics/family.hpp"
#include "metrics/window.hpp"

namespace muster {
namespace {

constexpr size_t kBatches = 20;
constexpr double kT19 = 2.093;  // Student's t, 19 degrees of freedom, 95 %

class Stationarity : public Family {
 public:
  void begin(const Header& h) override {
    if (h.workload) jct_.assign(h.workload->jobs.size(), -1);
  }
  void see(std::span<const Record> records) override {
    for (const Record& r : records)
      if (r.what == What::end && r.state == State::done && r.time) jct_[r.job] = r.time->total();
  }
  void report(Report& out) override {
    std::vector<double> x;
    for (const Duration d : jct_)
      if (d >= 0) x.push_back(double(d) / double(kSecond));
    const auto null = std::numeric_limits<double>::quiet_NaN();
    double warm_up = null, mean = null, half = null, stationary = null;
    if (x.size() >= 10 * kBatches) {
      const size_t cut = mser5(x);
      warm_up = double(cut);
      const size_t each = (x.size() - cut) / kBatches, from = x.size() - each * kBatches;
      std::array<double, kBatches> b{};
      for (size_t i = 0; i < kBatches; i++) {
        for (size_t j = 0; j < each; j++) b[i] += x[from + i * each + j];
        b[i] /= double(each);
      }
      mean = 0;
      for (const double v : b) mean += v / double(kBatches);
      double squares = 0;
      for (const double v : b) squares += (v - mean) * (v - mean);
      half = kT19 * std::sqrt(squares / double(kBatches * (kBatches - 1)));
      stationary = cut <= x.size() / 2 && !trend(b) ? 1 : 0;
    }
    out.add("warm_up_jobs", warm_up, "jobs");
    out.add("jct_steady_mean_s", mean, "s", Better::lower);
    out.add("jct_steady_half_width_s", half, "s", Better::lower);
    out.add("stationary", stationary, "1");
  }

 private:
  /// MSER-5 (White 1997): of batches of five, the cut that makes the standard error of the rest smallest; the last fifth is not tried.
  static size_t mser5(const std::vector<double>& x) {
    const size_t n = x.size() / 5;
    double sum = 0, squares = 0, best = std::numeric_limits<double>::infinity();
    size_t cut = 0;
    for (size_t i = n; i-- > 0;) {
      double v = 0;
      for (size_t j = 0; j < 5; j++) v += x[5 * i + j] / 5;
      sum += v, squares += v * v;
      const double left = double(n - i);
      if (n - i < n / 5 || n - i < 2) continue;
      const double error = (squares - sum * sum / left) / (left * left);
      if (error <= best) best = error, cut = 5 * i;
    }
    return cut;
  }
  /// Mann-Kendall on the batch means, 95 %.
  static bool trend(const std::array<double, kBatches>& b) {
    int s = 0;
    for (size_t i = 0; i < kBatches; i++)
      for (size_t j = i + 1; j < kBatches; j++) s += (b[j] > b[i]) - (b[j] < b[i]);
    constexpr double n = double(kBatches);
    const double deviation = std::sqrt(n * (n - 1) * (2 * n + 5) / 18);
    return std::abs(s) - 1 > 1.96 * deviation;
  }
  std::vector<Duration> jct_;  // -1: not done
};

}  // namespace

std::unique_ptr<Family> make_stationarity() { return std::make_unique<Stationarity>(); }

}  // namespace muster
