#include "parts/place.hpp"

namespace muster {

namespace {
/// splitmix64 (Steele, Lea, Flood 2014): a well mixed function of its argument.
uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}
constexpr uint64_t kStream = 0x706c6163652d726e;  // "place-rn": this part's own stream of the run's seed

/// Each task on the first node that holds it at or after a random one, going round. The random node is a function of seed, job, how often
/// it was started, and task: so it does not depend on how often a policy asked.
class RandomStart final : public Placer {
 public:
  RandomStart(const Topology& t, uint64_t seed) : Placer(t), seed_(mix(seed ^ kStream)) {}

 private:
  Spot begin(const Want&) const override { return {0, from_}; }
  Spot seek(const Want& w, Spot from) const override {
    if (from.node >= from_) {
      if (const Spot s = lowest(w, from.node); s.node != kNone) return s;
      from.node = 0;
    }
    const Spot s = lowest(w, from.node);
    return s.node < from_ ? s : Spot{};
  }
  uint64_t rank(Spot s) const override { return s.node >= from_ ? s.node - from_ : uint64_t(s.node) + nodes() - from_; }
  bool stays() const override { return false; }
  bool draw(const View& now, JobId j, unsigned task) override {
    const NodeId begin = index().begin(), count = index().end() - begin;
    if (count) from_ = begin + NodeId(mix(mix(seed_ + j) + (uint64_t(now.starts(j)) << 32 | task)) % count);
    return true;
  }
  uint64_t seed_;
  NodeId from_ = 0;
};
}  // namespace

std::unique_ptr<Placer> make_random(const PolicyInput& in) { return std::make_unique<RandomStart>(in.topology, in.seed); }

}  // namespace muster
