// Requests rows of a table from memory before they are used: they lie at random places in tables larger than the
// caches.
#pragma once

#include <cstdint>

namespace mr::cpu {

/// number of rows between the row that a loop uses and the row that it requests from memory
constexpr int64_t rows_ahead = 8;

/// Requests row `row` from memory. If `table` is null, it does nothing. Always inlined, because loops that are compiled
/// for several instruction sets call it.
template <bool to_write, class T>
inline __attribute__((always_inline)) void prefetch_row(const T* table, int64_t row, int64_t width) {
  constexpr auto line = static_cast<int64_t>(64 / sizeof(T));
  if (table == nullptr) return;
  for (int64_t c = 0; c < width; c += line) __builtin_prefetch(table + row * width + c, to_write ? 1 : 0);
}

}  // namespace mr::cpu
