// Memory for large arrays that are read at random places. Huge pages save TLB misses there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <vector>

namespace mr::cpu {

/// Takes memory from the system, with huge pages for 2 MiB or more if the system supports them on request. Returns null
/// if there is no memory. It is freed by std::free.
void* take_pages(int64_t bytes) noexcept;

/// The allocator of LargeVector.
template <class T>
struct LargePages {
  using value_type = T;
  LargePages() = default;
  template <class U>
  LargePages(const LargePages<U>&) {}  // NOLINT(google-explicit-constructor): allocators convert

  T* allocate(size_t n) {
    void* const found = take_pages(static_cast<int64_t>(n * sizeof(T)));
    if (found == nullptr) throw std::bad_alloc();
    return static_cast<T*>(found);
  }
  void deallocate(T* data, size_t) noexcept { std::free(data); }
  bool operator==(const LargePages&) const { return true; }
};

template <class T>
using LargeVector = std::vector<T, LargePages<T>>;

}  // namespace mr::cpu
