// Model `levels`: a factor for the level at which a job's GPUs meet. The textbook's table: 1.0 under one switch, 1.5 across switches of a
// node, 5.0 across nodes.
#include "model/numa.hpp"
#include "topology/meet.hpp"

namespace muster {
namespace {

constexpr int64_t kAcrossSwitches = 1'500'000, kAcrossNodes = 5'000'000, kMost = 1000 * kFullSpeed;

class Levels : public Model {
 public:
  explicit Levels(const ModelInput& in) : topology_(in.topology), workload_(in.workload), numa_(in.topology, in.given) {
    const size_t levels = topology_.levels().size(), node = topology_.node_level();
    factors_.resize(levels + 1, kFullSpeed);  // the last one is of a single GPU
    for (size_t l = 0; l < levels; l++) {
      const bool switched = topology_.levels()[l] == "nvlink" && l < node;  // NVLink switches join the nodes of a rack
      const int64_t usual = switched ? kFullSpeed : l < node ? kAcrossNodes : l + 1 < levels ? kAcrossSwitches : kFullSpeed;
      factors_[l] = ratio_of(in.given, topology_.levels()[l], usual, kFullSpeed, kMost);
    }
    cluster_ = ratio_of(in.given, "cluster", kAcrossNodes, kFullSpeed, kMost);
  }

  Speed speed(JobId j, Pieces at, const Cluster&) const override {
    const size_t level = meet(topology_, at);
    const int64_t factor = level == kCluster ? cluster_ : factors_[level];
    int64_t slowed = factor;
    if (!workload_.communication.empty() && factor != kFullSpeed)
      slowed = kFullSpeed + int64_t(Int128(factor - kFullSpeed) * workload_.communication_of(j).sensitivity / kFullSpeed);
    const int64_t numa = numa_.factor(workload_.shapes[workload_.jobs[j].shape], at);
    if (numa != kFullSpeed) slowed = int64_t(Int128(slowed) * numa / kFullSpeed);
    return slowed == kFullSpeed ? Speed{} : Speed::slowed(slowed);
  }

 private:
  const Topology& topology_;
  const Workload& workload_;
  std::vector<int64_t> factors_;  // millionths, by level
  int64_t cluster_;
  NumaCrossing numa_;
};

}  // namespace

ModelInfo levels_model() {
  return {.name = "levels",
          .summary = "a factor for the level at which a job's GPUs meet (textbook: 1, 1.5 and 5 times as long)",
          .parameters = {NumaCrossing::parameter()},
          .by_level = true,
          .make = [](const ModelInput& in) -> std::unique_ptr<Model> { return std::make_unique<Levels>(in); }};
}

}  // namespace muster
