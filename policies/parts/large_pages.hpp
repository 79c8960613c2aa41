// Memory for large tables that are looked up at random.
#pragma once
#include <cstddef>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace muster {

/// An allocator that asks the system for large pages: a table of some ten megabytes then misses the translation buffers much less. Where
/// the system has none it is like any other.
template <class T> struct OnLargePages {
  using value_type = T;
  static constexpr size_t kPage = size_t{1} << 21;
  OnLargePages() = default;
  template <class U> OnLargePages(const OnLargePages<U>&) {}
  T* allocate(size_t n) {
    const size_t bytes = n * sizeof(T);
    if (bytes < kPage) return static_cast<T*>(::operator new(bytes, std::align_val_t{alignof(T)}));
    void* p = ::operator new(bytes, std::align_val_t{kPage});
#if defined(__linux__)
    madvise(p, bytes, MADV_HUGEPAGE);
#endif
    return static_cast<T*>(p);
  }
  void deallocate(T* p, size_t n) {
    ::operator delete(p, std::align_val_t{n * sizeof(T) < kPage ? alignof(T) : kPage});
  }
  template <class U> bool operator==(const OnLargePages<U>&) const { return true; }
};

}  // namespace muster
