// What placers that weigh kinds of resources against each other share.
#pragma once
#include <array>

#include "parts/place_score.hpp"

namespace muster {

inline constexpr PartParameter kWeightsParameter{"resource_weights", "gpu:1,cpu:1,mem:1",
                                                 "how much each kind of resource counts, as in gpu:5,cpu:1"};
inline constexpr PartParameter kWeighingParameters[] = {kScoringParameters[0], kScoringParameters[1], kWeightsParameter};
inline constexpr PartParameter kShapeParameter{"utilization_shape", "0:0,100:10",
                                               "points of a line, utilization in per cent and score from 0 to 10"};
inline constexpr PartParameter kShapedParameters[] = {kScoringParameters[0], kScoringParameters[1], kWeightsParameter, kShapeParameter};

/// A placer whose score is made of how full each kind of resource would be.
class WeighingPlacer : public ScoringPlacer {
 public:
  /// Throws InputError for a kind that the topology does not have and for weights that are not whole numbers from 0 to 1000.
  explicit WeighingPlacer(const PolicyInput& in);

 protected:
  /// One kind of resource on a node.
  struct Load {
    size_t kind;
    int64_t weight, request, used, capacity;  ///< used: without the task. capacity kPlenty: the node does not limit what others do
  };
  /// The kinds that have a weight and that some node limits, in order of number.
  std::span<const Load> loads(const State& s, const Task& t);

 private:
  std::array<int64_t, kMaxKinds> weights_{};
  std::vector<Load> loads_;
};

/// "a:1,b:2" as pairs. Throws InputError when it is not of that form; numbers lie from 0 to `most`.
std::vector<std::pair<std::string, int64_t>> parse_pairs(const Config& c, std::string_view text, std::string_view what, int64_t most);

}  // namespace muster
