// Bounded slowdown: how much longer a job took than on an empty, ideal cluster. Over jobs that are done.
#include "metrics/family.hpp"
#include "metrics/window.hpp"

namespace muster {
namespace {

// Jobs shorter than this would dominate every mean; the customary bound of the field.
constexpr Duration kBound = 10 * kSecond;

class Slowdown : public Family {
 public:
  void begin(const Header& h) override {
    workload_ = h.workload;
    if (workload_) values_.reserve(workload_->jobs.size());
  }
  void see(std::span<const Record> records) override {
    for (const Record& r : records) {
      if (r.what != What::end || r.state != State::done || !r.time || !workload_) continue;
      const Duration ideal = std::max(workload_->truths[r.job].work, kBound);
      const double s = std::max(1.0, double(r.time->total()) / double(ideal));
      if (s == 1.0) ones_++;
      else values_.push_back(s);
    }
  }
  void report(Report& out) override {
    const size_t n = ones_ + values_.size();
    // A sum of quotients cannot be exact; it is taken in the order of the ends, which is the same in every run and in `muster report`.
    double sum = double(ones_);
    for (double s : values_) sum += s;
    out.add("slowdown_mean", n ? sum / double(n) : std::numeric_limits<double>::quiet_NaN(), "1", Better::lower);
    size_t from = 0;
    const auto at = [&](const char* name, size_t rank) {
      double v = std::numeric_limits<double>::quiet_NaN();
      if (rank > 0 && rank <= ones_) {
        v = 1;
      } else if (rank > 0) {
        const size_t i = rank - 1 - ones_;
        std::nth_element(values_.begin() + std::ptrdiff_t(from), values_.begin() + std::ptrdiff_t(i), values_.end());
        v = values_[from = i];
      }
      out.add(name, v, "1", Better::lower);
    };
    at("slowdown_p50", (n * 50 + 99) / 100), at("slowdown_p90", (n * 90 + 99) / 100), at("slowdown_p99", (n * 99 + 99) / 100);
    at("slowdown_max", n);
  }

 private:
  const Workload* workload_ = nullptr;
  std::vector<double> values_;
  size_t ones_ = 0;
};

}  // namespace

std::unique_ptr<Family> make_slowdown() { return std::make_unique<Slowdown>(); }

}  // namespace muster
