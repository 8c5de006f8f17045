// Requests rows of a table from memory before they are used, because rows lie at random places in tables larger than
// the caches.
#pragma once

#include <cstdint>

namespace mr::cpu {

/// Number of rows by which a loop over rows requests them early.
constexpr int64_t rows_ahead = 8;

/// Requests row `row`; nothing if `table` is null. Always inlined, because loops that are compiled for several
/// instruction sets call it.
template <bool to_write, class T>
inline __attribute__((always_inline)) void prefetch_row(const T* table, int64_t row, int64_t width) {
  constexpr auto line = static_cast<int64_t>(64 / sizeof(T));
  if (table == nullptr) return;
  for (int64_t c = 0; c < width; c += line) __builtin_prefetch(table + row * width + c, to_write ? 1 : 0);
}

}  // namespace mr::cpu
