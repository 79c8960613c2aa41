// Time, ids and sums: the units everything else is counted in.
#pragma once
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>

namespace muster {

using Time = int64_t;      ///< microseconds since the first submit of the run
using Duration = int64_t;  ///< microseconds
using JobId = uint32_t;    ///< dense, in order of (submit, trace order)
using NodeId = uint32_t;   ///< dense, in topology order
using GpuId = uint32_t;    ///< dense, in topology order; the GPUs of every domain are an interval
using ShapeId = uint32_t;  ///< dense id of equal requests
using TenantId = uint32_t;
using QueueId = uint32_t;

/// Sums of resource x time: milli-GPU x microseconds pass 64 bits after a day of 100,000 GPUs.
__extension__ using Int128 = __int128;

inline constexpr Time kNever = std::numeric_limits<Time>::max();
inline constexpr uint32_t kNone = ~uint32_t{0};
inline constexpr Duration kSecond = 1'000'000;
inline constexpr int64_t kFullSpeed = 1'000'000;  ///< speed as records and traces state it: in millionths
inline constexpr int64_t kMilli = 1'000;          ///< one GPU or CPU in the unit of Resources

/// Bad input: a file, a row, a parameter. The text is one line that says what, where and what is allowed. Exit status 2.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A policy broke its contract (a device twice, an unknown job, ...). Exit status 3.
class ContractError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Jobs wait, nothing runs and nothing is due. The text has one line a waiting job after the first. Exit status 1.
class NoProgress : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace muster
