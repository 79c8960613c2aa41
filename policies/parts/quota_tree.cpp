#include "parts/quota_tree.hpp"

#include <algorithm>

namespace muster {

int64_t BorrowedShare::shown() const {
  if (borrowed_ == 0) return 0;
  if (weight_ == 0) return std::numeric_limits<int64_t>::max();
  const Int128 over = Int128(borrowed_) * 1000 * 1000, under = Int128(lendable_) * weight_;
  return int64_t((over + under - 1) / under);
}

bool operator<(const BorrowedShare& a, const BorrowedShare& b) {
  const bool a_endless = a.weight_ == 0 && !a.zero(), b_endless = b.weight_ == 0 && !b.zero();
  if (a_endless != b_endless) return b_endless;
  // 128 bits hold the product of an amount, an amount and a weight: amounts below 2^53, weights below 2^20.
  const Int128 a_weight = a_endless ? 1 : std::max<int64_t>(1, a.weight_), b_weight = b_endless ? 1 : std::max<int64_t>(1, b.weight_);
  return Int128(a.borrowed_) * b.lendable_ * b_weight < Int128(b.borrowed_) * a.lendable_ * a_weight;
}

QuotaTree::QuotaTree(std::vector<uint32_t> resource_of) : resource_of_(std::move(resource_of)) {
  for (const uint32_t r : resource_of_) resources_ = std::max(resources_, r + 1);
}

uint32_t QuotaTree::add(uint32_t parent, std::span<const Quota> quotas, int64_t weight_thousandths) {
  const uint32_t n = uint32_t(parent_.size());
  parent_.push_back(parent);
  children_.emplace_back();
  weight_.push_back(weight_thousandths);
  if (parent != kNone) children_[parent].push_back(n);
  cells_.resize(cells_.size() + columns());
  set(n, quotas);
  return n;
}

void QuotaTree::set(uint32_t node, std::span<const Quota> quotas) {
  // Usage above what a node keeps lies with its parents, so it is taken off the path and put back under the new limits.
  std::vector<std::pair<uint32_t, std::vector<int64_t>>> taken;
  const auto take = [&](auto&& self, uint32_t n) -> void {
    if (children_[n].empty()) {
      std::vector<int64_t> used(columns());
      for (size_t c = 0; c < columns(); c++) used[c] = usage(n, c), free(n, c, used[c]);
      taken.emplace_back(n, std::move(used));
    }
    for (const uint32_t k : children_[n]) self(self, k);
  };
  take(take, root_of(node));
  for (size_t c = 0; c < columns(); c++) at(node, c).quota = c < quotas.size() ? quotas[c] : Quota{};
  for (uint32_t n = node; n != kNone; n = parent_[n]) refresh(n);
  for (const auto& [n, used] : taken)
    for (size_t c = 0; c < columns(); c++) use(n, c, used[c]);
}

void QuotaTree::refresh(uint32_t n) {
  for (size_t c = 0; c < columns(); c++) {
    Cell& x = at(n, c);
    x.subtree = x.quota.nominal;
    for (const uint32_t k : children_[n]) x.subtree += at(k, c).subtree - at(k, c).local;
    x.local = x.quota.lending >= kUnlimited ? 0 : std::max<int64_t>(0, x.subtree - x.quota.lending);
  }
}

uint32_t QuotaTree::root_of(uint32_t n) const {
  while (parent_[n] != kNone) n = parent_[n];
  return n;
}

int64_t QuotaTree::available(uint32_t n, size_t c) const {
  const Cell& x = at(n, c);
  if (parent_[n] == kNone) return x.subtree - x.usage;
  int64_t above = available(parent_[n], c);
  if (x.quota.borrowing < kUnlimited)
    above = std::min(above, x.subtree - x.local - std::max<int64_t>(0, x.usage - x.local) + x.quota.borrowing);
  return local_available(n, c) + above;
}

int64_t QuotaTree::potential(uint32_t n, size_t c) const {
  const Cell& x = at(n, c);
  if (parent_[n] == kNone) return x.subtree;
  const int64_t all = x.local + potential(parent_[n], c);
  return x.quota.borrowing < kUnlimited ? std::min(all, x.subtree + x.quota.borrowing) : all;
}

std::pair<BorrowedShare, uint32_t> QuotaTree::largest(uint32_t n) const {
  std::pair<BorrowedShare, uint32_t> best{{}, kNone};
  if (parent_[n] == kNone) return best;
  for (uint32_t r = 0; r < resources_; r++) {
    int64_t borrowed = 0, lendable = 0;
    for (size_t c = 0; c < columns(); c++) {
      if (resource_of_[c] != r) continue;
      borrowed += std::max<int64_t>(0, at(n, c).usage - at(n, c).subtree);
      lendable += potential(parent_[n], c);
    }
    if (borrowed == 0 || lendable <= 0) continue;
    const BorrowedShare share(borrowed, lendable, weight_[n]);
    if (best.second == kNone || best.first < share) best = {share, r};
  }
  return best;
}

BorrowedShare QuotaTree::share(uint32_t n) const { return largest(n).first; }
uint32_t QuotaTree::dominant(uint32_t n) const { return largest(n).second; }

void QuotaTree::use(uint32_t n, size_t c, int64_t amount) {
  for (; n != kNone && amount > 0; n = parent_[n]) {
    const int64_t kept = std::min(amount, local_available(n, c));
    at(n, c).usage += amount;
    amount -= kept;
  }
}

void QuotaTree::free(uint32_t n, size_t c, int64_t amount) {
  for (; n != kNone && amount > 0; n = parent_[n]) {
    Cell& x = at(n, c);
    const int64_t above = std::max<int64_t>(0, x.usage - x.local);
    x.usage -= amount;
    amount = std::min(amount, above);
  }
}

}  // namespace muster
