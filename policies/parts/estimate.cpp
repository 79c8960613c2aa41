#include "parts/estimate.hpp"

#include <algorithm>

#include "muster/random.hpp"

namespace muster {

namespace {

class Trace final : public Estimate {
 public:
  Duration of(const View& now, JobId j) override { return now.estimate(j); }
};

class Exact final : public Estimate {
 public:
  Duration of(const View& now, JobId j) override { return now.oracle_left(j); }
  Duration left(const View& now, JobId j) override { return now.oracle_left(j); }
  int64_t pace(const View& now, JobId j) const override { return now.state(j) == State::running ? now.speed(j) : Estimate::pace(now, j); }
};

class Stated final : public Estimate {
 public:
  Duration of(const View& now, JobId j) override {
    const Job& job = now.job(j);
    const Duration d = std::min(now.estimate(j), job.time_limit);
    return d == kNever ? now.oracle_left(j) : d;
  }
};

/// The true run time times a factor, at least a tick of it. A belief once formed stays: it is not corrected by what the job does.
class Wrong : public Estimate {
 public:
  explicit Wrong(size_t jobs) : believed_(jobs, kNever) {}
  Duration of(const View& now, JobId j) override {
    Duration& d = believed_[j];
    if (d != kNever) return d;
    const Duration truth = now.oracle_left(j);
    if (truth == kNever) return kNever;
    const double x = double(truth) * factor(j);
    return d = x < 0x1p62 ? std::max(Duration(x), std::min<Duration>(truth, 1)) : kNever - 1;
  }

 protected:
  virtual double factor(JobId j) const = 0;

 private:
  std::vector<Duration> believed_;
};

class Scaled final : public Wrong {
 public:
  Scaled(size_t jobs, double factor) : Wrong(jobs), factor_(factor) {}

 private:
  double factor(JobId) const override { return factor_; }
  double factor_;
};

/// Each job has an error of its own, whoever asks for it when: a function of seed and job.
class Noisy final : public Wrong {
 public:
  Noisy(size_t jobs, double sigma, uint64_t seed) : Wrong(jobs) {
    Random random(seed, "estimate");
    for (size_t j = 0; j < jobs; j++) factors_.push_back(portable_exp(sigma * random.normal()));
  }

 private:
  double factor(JobId j) const override { return factors_[j]; }
  std::vector<double> factors_;
};

constexpr PartParameter kScaled[] = {{"factor", "2", "estimates are the true run time times this, 0.001 to 1000"}};
constexpr PartParameter kNoisy[] = {{"sigma", "1", "deviation of the logarithm of estimate / true run time, 0 to 5"}};

double decimal(const PolicyInput& in, std::string_view name, double fallback, int64_t least, int64_t most) {
  const Config* c = in.parameters.find(name);
  return c ? double(c->as_millionths(least, most)) / 1e6 : fallback;
}

template <class E> std::unique_ptr<Estimate> make(const PolicyInput&) { return std::make_unique<E>(); }
std::unique_ptr<Estimate> make_scaled(const PolicyInput& in) {
  return std::make_unique<Scaled>(in.workload.jobs.size(), decimal(in, "factor", 2, 1000, 1'000'000'000));
}
std::unique_ptr<Estimate> make_noisy(const PolicyInput& in) {
  return std::make_unique<Noisy>(in.workload.jobs.size(), decimal(in, "sigma", 1, 0, 5'000'000), in.seed);
}

constexpr std::unique_ptr<Estimate> (*kMake[])(const PolicyInput&) = {make<Trace>, make<Exact>, make<Stated>,
                                                                      make_scaled, make_noisy,  make_history};

}  // namespace

std::span<const PartInfo> estimates() {
  static const PartInfo all[] = {
      {"trace", "what the user stated, whole; jobs without a statement come last"},
      {"exact", "the true run time left (the textbook's assumption)", false, true},
      {"stated", "what the user stated, else the time limit, else the true run time left", false, true},
      {"scaled", "the true run time times a factor", false, true, kScaled},
      {"noisy", "the true run time with a log-normal error; seeded", false, true, kNoisy},
      {"history", "mean of what the user's last jobs of the same size ran", false, false, kHistoryParameters},
  };
  return all;
}

std::unique_ptr<Estimate> make_estimate(std::string_view name, const PolicyInput& in) {
  return kMake[&choose(estimates(), name, "estimate", {}) - estimates().data()](in);
}

}  // namespace muster
