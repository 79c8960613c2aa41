#include "parts/place_weigh.hpp"

#include <charconv>

namespace muster {

std::vector<std::pair<std::string, int64_t>> parse_pairs(const Config& c, std::string_view text, std::string_view what, int64_t most) {
  std::vector<std::pair<std::string, int64_t>> pairs;
  for (size_t from = 0; from <= text.size();) {
    const size_t end = std::min(text.find(',', from), text.size());
    const std::string_view pair = text.substr(from, end - from);
    const size_t colon = pair.find(':');
    int64_t n = -1;
    if (colon != std::string_view::npos) {
      const char* last = pair.data() + pair.size();
      if (const auto r = std::from_chars(pair.data() + colon + 1, last, n); r.ec != std::errc() || r.ptr != last) n = -1;
    }
    if (colon == 0 || n < 0 || n > most)
      throw InputError((c.where.empty() ? "" : c.where + ": ") + "want " + std::string(what) + ", numbers from 0 to " +
                       std::to_string(most) + ", found \"" + std::string(pair) + "\"");
    pairs.emplace_back(pair.substr(0, colon), n);
    from = end + 1;
  }
  return pairs;
}

WeighingPlacer::WeighingPlacer(const PolicyInput& in) : ScoringPlacer(in) {
  const Config fallback = Config::text(std::string(kWeightsParameter.fallback));
  const Config* given = in.parameters.find(kWeightsParameter.name);
  const Config& c = given ? *given : fallback;
  const std::vector<std::string_view> known(in.topology.resource_names().begin(), in.topology.resource_names().end());
  for (const auto& [name, weight] : parse_pairs(c, c.as_text(), "KIND:WEIGHT,...", 1000)) {
    const size_t k = size_t(std::find(known.begin(), known.end(), name) - known.begin());
    if (k == known.size()) {
      std::string message = (c.where.empty() ? "" : c.where + ": ") + "no resource of the topology is called \"" + name + "\" (allowed:";
      for (const std::string_view n : known) message += " " + std::string(n);
      throw InputError(message + ")");
    }
    weights_[k] = weight;
  }
}

std::span<const WeighingPlacer::Load> WeighingPlacer::loads(const State& s, const Task& t) {
  loads_.clear();
  const NodeKind& kind = topology().kind(s.node);
  if (weights_[kGpu]) {
    const int64_t all = int64_t{s.installed} * kMilli;
    loads_.push_back({kGpu, weights_[kGpu], t.total_milli(), all - s.milli, all});
  }
  for (size_t k = 1; k < kMaxKinds; k++) {
    if (!weights_[k] || !topology().limits(k)) continue;
    const bool limited = k == kCpu ? kind.limits_cpu : k == kMem ? kind.limits_mem : true;
    const int64_t all = limited ? kind.capacity[k] : Cluster::kPlenty;
    loads_.push_back({k, weights_[k], t.need[k], limited ? all - s.left[k] : 0, all});
  }
  return loads_;
}

}  // namespace muster
