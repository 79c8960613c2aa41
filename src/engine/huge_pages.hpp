// Memory for the largest table of a run.
#pragma once
#include <cstdlib>
#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace muster {

/// Allocates in whole 2 MiB pages and asks the system to back them so. A job's row is read cold twice in a run, and with small pages each
/// of these is a miss of the address cache as well: a tenth of a replay of a million jobs.
template <class T>
struct HugePages {
  using value_type = T;
  HugePages() = default;
  template <class U>
  HugePages(const HugePages<U>&) {}
  T* allocate(size_t n) {
    constexpr size_t kPage = size_t{2} << 20;
    const size_t bytes = n * sizeof(T);
    if (bytes < kPage) return static_cast<T*>(::operator new(bytes, std::align_val_t(alignof(T))));
    void* p = ::operator new((bytes + kPage - 1) / kPage * kPage, std::align_val_t(kPage));
#ifdef __linux__
    madvise(p, (bytes + kPage - 1) / kPage * kPage, MADV_HUGEPAGE);  // a wish: without it all works as before
#endif
    return static_cast<T*>(p);
  }
  void deallocate(T* p, size_t n) {
    ::operator delete(p, std::align_val_t(n * sizeof(T) < (size_t{2} << 20) ? alignof(T) : size_t{2} << 20));
  }
  friend bool operator==(const HugePages&, const HugePages&) { return true; }
};

}  // namespace muster
