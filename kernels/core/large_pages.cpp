#include "kernels/core/large_pages.h"

#include <sys/mman.h>

namespace mr::cpu {

void* take_pages(int64_t bytes) noexcept {
  constexpr int64_t large_page = int64_t{2} << 20, line = 64;
  if (bytes < large_page) return std::aligned_alloc(line, static_cast<size_t>((bytes + line - 1) / line * line));
  void* data = nullptr;  // uses posix_memalign, because the size need not be a multiple of a huge page
  if (posix_memalign(&data, large_page, static_cast<size_t>(bytes)) != 0) return nullptr;
#if defined(MADV_HUGEPAGE)
  static_cast<void>(madvise(data, static_cast<size_t>(bytes), MADV_HUGEPAGE));
#endif
  return data;
}

}  // namespace mr::cpu
