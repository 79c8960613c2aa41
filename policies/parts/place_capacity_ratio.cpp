#include "parts/place.hpp"
#include "parts/place_allocated.hpp"

namespace muster {

namespace {
constexpr std::string_view kForm = "UTILIZATION:SCORE,... with utilizations that rise";

/// Kubernetes' NodeResourcesFit with the strategy RequestedToCapacityRatio: the whole per cent in use with the task, through lines between
/// the points of a shape (scores 0 to 10, taken times 10; parts of a point cut off towards 0), level outside them. The weighed mean of the
/// kinds with points above 0, rounded to the nearest, halves up.
class CapacityRatio final : public AllocatedPlacer {
 public:
  explicit CapacityRatio(const PolicyInput& in) : AllocatedPlacer(in) {
    const Config fallback = Config::text(std::string(kShapeParameter.fallback));
    const Config* given = in.parameters.find(kShapeParameter.name);
    const Config& c = given ? *given : fallback;
    for (const auto& [at, score] : parse_pairs(c, c.as_text(), kForm, 10)) {
      Config number = Config::text(at, c.where);
      number.kind = Config::Kind::number;
      const int64_t x = number.as_integer(0, 100);
      if (!shape_.empty() && x <= shape_.back().first)
        throw InputError((c.where.empty() ? "" : c.where + ": ") + "want " + std::string(kForm) + ", found " + at + " after " +
                         std::to_string(shape_.back().first));
      shape_.emplace_back(x, 10 * score);
    }
  }

 private:
  int64_t points(int64_t used, int64_t capacity) const override {
    const int64_t x = 100 * used / capacity;
    for (size_t i = 0; i < shape_.size(); i++) {
      if (x > shape_[i].first) continue;
      if (i == 0) return shape_[0].second;
      const auto& [x0, y0] = shape_[i - 1];
      return y0 + (shape_[i].second - y0) * (x - x0) / (shape_[i].first - x0);
    }
    return shape_.back().second;
  }
  int64_t score(const State& s, const Task& t) override {
    int64_t sum = 0, weights = 0;
    for (const Load& l : loads(s, t)) {
      if (!counts(l)) continue;
      const int64_t p = points(l.used + l.request, l.capacity);
      if (p > 0) sum += l.weight * p, weights += l.weight;
    }
    return weights ? (2 * sum + weights) / (2 * weights) : 0;
  }
  std::vector<std::pair<int64_t, int64_t>> shape_;
};
}  // namespace

std::unique_ptr<Placer> make_capacity_ratio(const PolicyInput& in) { return std::make_unique<CapacityRatio>(in); }

}  // namespace muster
