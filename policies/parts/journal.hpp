// State that can be taken back: a log of fields and what they held.
#pragma once
#include <deque>
#include <vector>

#include "muster/policy.hpp"

namespace muster {

/// Every change of a part's state goes through set(), so all of it can be undone: by the part itself (what-if inside a decision) or by
/// the plan (rollback, refusal), for which save() leaves one entry on the plan's log, however many fields change. Fields must keep
/// their address: they live in vectors of fixed size or in deques.
class Journal final : public Undoable {
 public:
  void set(int32_t& field, int32_t value) {
    if (field == value) return;
    log_.push_back({&field, field});
    field = value;
  }
  void add(int32_t& field, int32_t by) { set(field, field + by); }
  size_t size() const { return log_.size(); }
  void back_to(size_t size) {
    for (; log_.size() > size; log_.pop_back()) *log_.back().field = log_.back().held;
  }
  /// A rollback of the plan to a mark before this call takes back all changes from here on.
  void save(Plan& plan) { plan.log(*this, log_.size(), 0); }
  /// What stands, stays: nothing before this call can be taken back any more.
  void forget() { log_.clear(); }
  void undo(uint64_t what, uint64_t) override { back_to(size_t(what)); }

 private:
  struct Entry {
    int32_t* field;
    int32_t held;
  };
  std::vector<Entry> log_;
};

/// A set of small numbers on a journal; first() and next() cost a word a level of 32.
class JournaledSet {
 public:
  explicit JournaledSet(size_t size = 0) {
    do {
      size = (size + 31) / 32;
      levels_.emplace_back(size, 0);
    } while (size > 1);
  }
  bool contains(int32_t i) const { return levels_[0][size_t(i) / 32] >> (i % 32) & 1; }
  void insert(Journal& j, int32_t i) {
    for (auto& level : levels_) {
      int32_t& word = level[size_t(i) / 32];
      const bool was_empty = word == 0;
      j.set(word, int32_t(uint32_t(word) | uint32_t{1} << (i % 32)));
      if (!was_empty) return;
      i /= 32;
    }
  }
  void erase(Journal& j, int32_t i) {
    for (auto& level : levels_) {
      int32_t& word = level[size_t(i) / 32];
      j.set(word, int32_t(uint32_t(word) & ~(uint32_t{1} << (i % 32))));
      if (word != 0) return;
      i /= 32;
    }
  }
  /// Smallest member >= `i`, or -1.
  int32_t next(int32_t i) const {
    size_t level = 0;
    for (auto at = size_t(i); level < levels_.size(); at = at / 32 + 1, level++) {
      if (at / 32 >= levels_[level].size()) return -1;
      const uint32_t bits = uint32_t(levels_[level][at / 32]) >> (at % 32);
      if (bits == 0) continue;
      at += unsigned(std::countr_zero(bits));
      while (level-- > 0) at = at * 32 + unsigned(std::countr_zero(uint32_t(levels_[level][at])));
      return int32_t(at);
    }
    return -1;
  }
  int32_t first() const { return next(0); }

 private:
  std::vector<std::vector<int32_t>> levels_;
};

/// Blocks of fields in sizes of powers of two, given back and used again; on a journal, and at addresses that stay.
class JournaledBlocks {
 public:
  /// Number of a block with room for `n` fields; at() gives the fields.
  int32_t take(Journal& j, int32_t n) {
    const unsigned k = n <= 1 ? 0 : unsigned(std::bit_width(unsigned(n - 1)));
    while (classes_.size() <= k) classes_.emplace_back();
    Class& c = classes_[k];
    int32_t b = c.free;
    if (b >= 0) {
      j.set(c.free, at(code(k, b))[0]);
    } else {
      b = c.used;
      j.set(c.used, c.used + 1);
      if (size_t(b) == c.blocks.size()) c.blocks.emplace_back(size_t{1} << k);
    }
    return code(k, b);
  }
  void give(Journal& j, int32_t block) {
    Class& c = classes_[unsigned(block) & 31];
    j.set(at(block)[0], c.free);
    j.set(c.free, block >> 5);
  }
  int32_t* at(int32_t block) { return classes_[unsigned(block) & 31].blocks[size_t(block >> 5)].data(); }
  const int32_t* at(int32_t block) const { return classes_[unsigned(block) & 31].blocks[size_t(block >> 5)].data(); }

 private:
  static int32_t code(unsigned k, int32_t b) { return b << 5 | int32_t(k); }
  struct Class {
    int32_t free = -1, used = 0;
    std::deque<std::vector<int32_t>> blocks;
  };
  std::deque<Class> classes_;
};

}  // namespace muster
