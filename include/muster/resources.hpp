// Amounts of resources by declared kind.
#pragma once
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "muster/types.hpp"

namespace muster {

inline constexpr size_t kMaxKinds = 8;
enum : size_t { kGpu = 0, kCpu = 1, kMem = 2 };  ///< the kinds every cluster has: milli-GPU, milli-CPU, MiB of host memory

/// Integer amounts by kind. Kinds 0 to 2 are kGpu, kCpu and kMem; the others are named by the topology (any names in an exercise).
struct Resources {
  std::array<int64_t, kMaxKinds> amount{};
  int64_t& operator[](size_t k) { return amount[k]; }
  int64_t operator[](size_t k) const { return amount[k]; }
  friend bool operator==(const Resources&, const Resources&) = default;
  Resources& operator+=(const Resources& o) {
    for (size_t k = 0; k < kMaxKinds; k++) amount[k] += o.amount[k];
    return *this;
  }
  Resources& operator-=(const Resources& o) {
    for (size_t k = 0; k < kMaxKinds; k++) amount[k] -= o.amount[k];
    return *this;
  }
  /// `*this` taken n times. The caller knows that it does not overflow (requests are bounded when they are read).
  Resources times(int64_t n) const {
    Resources r = *this;
    for (auto& a : r.amount) a *= n;
    return r;
  }
  bool covers(const Resources& need) const {
    for (size_t k = 0; k < kMaxKinds; k++)
      if (amount[k] < need.amount[k]) return false;
    return true;
  }
};

}  // namespace muster
