#include "parts/buddy.hpp"

#include <algorithm>

namespace muster {

Buddy::Buddy(uint64_t roots, std::vector<uint64_t> fan_out) : fan_out_(std::move(fan_out)), size_{1} {
  for (const uint64_t n : fan_out_) {
    if (n == 0 || size_.back() > (uint64_t{1} << 62) / n) throw InputError("a block has from one to 2^62 units");
    size_.push_back(size_.back() * n);
  }
  free_.resize(size_.size());
  for (uint64_t r = 0; r < roots; r++) free_.back().insert(r * size_.back());
}

Buddy::Block Buddy::take(uint64_t units) {
  size_t level = 0;
  while (level < levels() && size_[level] < units) level++;
  size_t from = level;
  while (from < levels() && free_[from].empty()) from++;
  if (from >= levels()) return {};
  const uint64_t at = *free_[from].begin();
  free_[from].erase(free_[from].begin());
  for (; from > level; from--)
    for (uint64_t i = 1; i < fan_out_[from - 1]; i++) free_[from - 1].insert(at + i * size_[from - 1]);
  return {level, at, size_[level]};
}

void Buddy::give(const Block& b) {
  uint64_t at = b.at;
  size_t level = b.level;
  for (; level + 1 < levels(); level++) {
    const uint64_t first = at - at % size_[level + 1];
    uint64_t whole = 0;
    for (uint64_t i = 0; i < fan_out_[level]; i++) whole += first + i * size_[level] == at || free_[level].count(first + i * size_[level]);
    if (whole < fan_out_[level]) break;
    for (uint64_t i = 0; i < fan_out_[level]; i++) free_[level].erase(first + i * size_[level]);
    at = first;
  }
  free_[level].insert(at);
}

std::vector<uint64_t> halves(uint64_t size, uint64_t least) {
  if (least == 0 || size < least || (size & (size - 1)) || (least & (least - 1)))
    throw InputError("buddy blocks want sizes that are powers of two, found " + std::to_string(least) + " to " + std::to_string(size));
  std::vector<uint64_t> all;
  for (uint64_t s = least; s < size; s *= 2) all.push_back(2);
  return all;
}

}  // namespace muster
