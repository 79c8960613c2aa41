// Flat hash tables from text and values to dense ids. They are looked up, never iterated.
#pragma once
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace muster {

inline uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93U;
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93U;
  return x ^ (x >> 32);
}

/// The n < 9 bytes at p as one word: different words for different texts of one length. Byte by byte or by memcmp this costs a call.
inline uint64_t word_of(const char* p, size_t n) {
  if (n >= 4) {
    uint32_t head = 0, tail = 0;
    std::memcpy(&head, p, 4), std::memcpy(&tail, p + n - 4, 4);
    return head | uint64_t{tail} << 32;
  }
  return n == 0 ? 0 : uint8_t(p[0]) | uint64_t{uint8_t(p[n / 2])} << 8 | uint64_t{uint8_t(p[n - 1])} << 16;
}

inline uint64_t hash_text(std::string_view s) {
  uint64_t h = s.size() * 0x9e3779b97f4a7c15U;
  const char* p = s.data();
  size_t n = s.size();
  for (; n > 8; n -= 8, p += 8) h = mix(h ^ word_of(p, 8));
  return mix(h ^ word_of(p, n));
}

inline bool same_text(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  return a.size() > 8 ? std::memcmp(a.data(), b.data(), a.size()) == 0 : word_of(a.data(), a.size()) == word_of(b.data(), b.size());
}

/// Open addressing: ids by hash; the caller compares what an id stands for.
class IdTable {
 public:
  /// The id with this hash for which same(id), or else `next`, which is then kept under the hash.
  template <typename Same>
  uint32_t find_or_add(uint64_t hash, uint32_t next, Same&& same) {
    if ((used_ + 1) * 2 > slots_.size()) grow();
    const uint64_t tag = hash >> 32 << 32;
    for (size_t i = tag >> 32 & mask_;; i = (i + 1) & mask_) {
      const uint64_t slot = slots_[i];
      if (slot == kFree) {
        slots_[i] = tag | next;
        used_++;
        return next;
      }
      if ((slot ^ tag) >> 32 == 0 && same(uint32_t(slot))) return uint32_t(slot);
    }
  }

 private:
  static constexpr uint64_t kFree = ~uint64_t{0};  // no id is 2^32 - 1
  void grow() {
    std::vector<uint64_t> old(slots_.empty() ? 64 : slots_.size() * 4, kFree);
    old.swap(slots_);
    mask_ = slots_.size() - 1;
    for (const uint64_t slot : old) {
      if (slot == kFree) continue;
      size_t i = slot >> 32 & mask_;
      while (slots_[i] != kFree) i = (i + 1) & mask_;
      slots_[i] = slot;
    }
  }

  std::vector<uint64_t> slots_;  // upper half of the hash, id
  size_t used_ = 0;
  uint64_t mask_ = 0;
};

}  // namespace muster
