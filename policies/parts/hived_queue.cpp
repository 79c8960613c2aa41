#include "parts/hived_queue.hpp"

#include <algorithm>

namespace muster {

void HivedQueue::insert(JobId j, uint32_t c, int64_t key) {
  Class& cls = classes_[c];
  key_[j] = key, class_of_[j] = c;
  cls.heap.emplace_back(key, j);
  std::push_heap(cls.heap.begin(), cls.heap.end(), std::greater<>());
  cls.waiting++;
  if (!cls.failed) touch(cls.bucket);
}

void HivedQueue::erase(JobId j) {
  if (!contains(j)) return;
  key_[j] = WinnerTree::kOut;
  Class& c = classes_[class_of_[j]];
  c.waiting--;
  if (buckets_[c.bucket].blocked != j) return;
  buckets_[c.bucket].blocked = kNone;
  touch(c.bucket);
}

JobId HivedQueue::head(Class& c) {
  while (!c.heap.empty()) {
    const auto [key, j] = c.heap[0];
    if (key_[j] == key) return j;
    std::pop_heap(c.heap.begin(), c.heap.end(), std::greater<>());
    c.heap.pop_back();
  }
  return kNone;
}

void HivedQueue::freed(size_t bucket) {
  touch(bucket);
  buckets_[bucket].blocked = kNone;
  for (const uint32_t c : buckets_[bucket].classes) classes_[c].failed = false;
}

void HivedQueue::fail(uint32_t c, HivedWait why) {
  classes_[c].failed = true, classes_[c].why = why;
  if (why != HivedWait::insufficient_capacity) unlucky_.push_back(c);
}

void HivedQueue::freed_cells() {
  for (const uint32_t c : unlucky_) {
    classes_[c].failed = false;
    buckets_[classes_[c].bucket].blocked = kNone;
    touch(classes_[c].bucket);
  }
  unlucky_.clear();
}

void HivedQueue::offer(uint32_t c) {
  Class& cls = classes_[c];
  if (cls.failed || cls.waiting == 0) return;
  if (const JobId j = head(cls); j != kNone && !behind(buckets_[cls.bucket], key_[j], j)) {
    heads_.push_back({key_[j], j, c});
    std::push_heap(heads_.begin(), heads_.end());
  }
}

JobId HivedQueue::next(uint32_t& c) {
  for (;;) {
    if (last_ != kNone) offer(last_);
    last_ = kNone;
    for (const size_t b : dirty_) {
      buckets_[b].dirty = false;
      for (const uint32_t cls : buckets_[b].classes) offer(cls);
    }
    dirty_.clear();
    if (heads_.empty()) return kNone;
    std::pop_heap(heads_.begin(), heads_.end());
    const Head h = heads_.back();
    heads_.pop_back();
    // What was offered twice, or is no longer what it was, is passed over.
    if (key_[h.job] != h.key || classes_[h.cls].failed || behind(buckets_[classes_[h.cls].bucket], h.key, h.job)) continue;
    c = last_ = h.cls;
    return h.job;
  }
}

}  // namespace muster
