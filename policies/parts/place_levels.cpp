// Placers that hold jobs together: best fit, inside the lowest domain that can be had.
#include "parts/place.hpp"
#include "parts/place_pack.hpp"

namespace muster {

namespace {

/// The level that the policy names. Throws InputError when the topology has none called so.
uint32_t level_of(const PolicyInput& in) {
  const Config* given = in.parameters.find("level");
  const std::string where = given && !given->where.empty() ? given->where + ": " : std::string();
  const std::string_view name = given ? given->as_text() : std::string_view();
  const size_t level = in.topology.find_level(name);
  if (level < in.topology.levels().size()) return uint32_t(level);
  const std::vector<std::string_view> known(in.topology.levels().begin(), in.topology.levels().end());
  std::string message = where + (name.empty() ? "the topology placers want a level" : "no level of the topology is called \"" + std::string(name) + "\"");
  if (const std::string near = nearest_name(name, known); !near.empty()) message += "; did you mean " + near + "?";
  message += " (allowed:";
  for (const std::string_view k : known) message += " " + std::string(k);
  throw InputError(message + ")");
}

/// Every job tries the lowest level first, then each above it.
class Consolidate final : public Pack {
 public:
  explicit Consolidate(const Topology& t) : Pack(t) { set_devices(Devices::closest); }

 private:
  uint32_t preferred_level(uint32_t) const override { return uint32_t(topology().levels().size() - 1); }
};

class TopologyPreferred final : public Pack {
 public:
  explicit TopologyPreferred(const PolicyInput& in) : Pack(in.topology), level_(level_of(in)) { set_devices(Devices::closest); }

 private:
  uint32_t preferred_level(uint32_t wish) const override { return wish == kNone ? level_ : wish; }
  uint32_t level_;
};

class TopologyRequired final : public Pack {
 public:
  explicit TopologyRequired(const PolicyInput& in) : Pack(in.topology), level_(level_of(in)) { set_devices(Devices::closest); }

 private:
  uint32_t required_level(uint32_t wish, uint32_t gpus) const override {
    if (wish != kNone) return wish;
    for (uint32_t l = level_ + 1; l-- > 0;)
      for (const Domain& d : topology().domains(l))
        if (d.gpu_end - d.gpu_begin >= gpus) return l;
    return kNone;
  }
  uint32_t level_;
};

}  // namespace

std::unique_ptr<Placer> make_consolidate(const PolicyInput& in) { return std::make_unique<Consolidate>(in.topology); }
std::unique_ptr<Placer> make_topology_preferred(const PolicyInput& in) { return std::make_unique<TopologyPreferred>(in); }
std::unique_ptr<Placer> make_topology_required(const PolicyInput& in) { return std::make_unique<TopologyRequired>(in); }

}  // namespace muster
