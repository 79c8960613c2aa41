#include "parts/place.hpp"
#include "parts/place_score.hpp"

namespace muster {

namespace {
/// Each task on one of the nodes that hold it, every one equally likely; a share on one of its GPUs that hold it, likewise. What is drawn is a
/// function of seed, job, how often it was started, and task: so it does not depend on how often a policy asked.
class Uniform final : public ScoringPlacer {
 public:
  explicit Uniform(const PolicyInput& in) : ScoringPlacer(in), seed_(in.seed), random_(in.seed, "place-uniform") {}

 private:
  bool draw(const View& now, JobId j, unsigned) override {
    random_ = Random(seed_ ^ (uint64_t{j} << 20 ^ now.starts(j)) * 0x9e3779b97f4a7c15U, "place-uniform");
    return false;
  }
  int64_t score(const State&, const Task&) override { return 0; }
  uint32_t pick(const WinnerTree& keys, uint32_t nodes) override {
    // Throws at all nodes until one holds the task are even over those that do; when few do, they are counted.
    for (int tries = 0; tries < 16; tries++)
      if (const auto i = uint32_t(random_.below(nodes)); keys.key(i) != WinnerTree::kOut) return i;
    fit_.clear();
    for (uint32_t i = 0; i < nodes; i++)
      if (keys.key(i) != WinnerTree::kOut) fit_.push_back(i);
    return fit_[random_.below(fit_.size())];
  }
  uint32_t card(const State& s, const Task& t) override {
    fit_.clear();
    for (size_t i = 0; i < s.parts.size(); i++)
      if (s.parts[i] >= t.milli) fit_.push_back(s.gpus[i]);
    const uint64_t at = random_.below(fit_.size() + s.whole);
    return at < fit_.size() ? fit_[at] : s.lowest;  // free GPUs are alike
  }
  uint64_t seed_;
  Random random_;
  std::vector<uint32_t> fit_;
};
}  // namespace

std::unique_ptr<Placer> make_uniform(const PolicyInput& in) { return std::make_unique<Uniform>(in); }

}  // namespace muster
