#include <algorithm>

#include "kernels/core/launch_cpu.h"
#include "kernels/tensor/rows.h"

namespace mr {
namespace cpu {
namespace {

/// Copies whole rows, which avoids a division per entry. Rows of a large table are requested from memory early.
template <class T>
void gather_rows(int64_t count, const GatherRows<T>& work) {
  constexpr int64_t ahead = 8;
  if (count == 0) return;
  const GatherRows<T> w = work;
  parallel(count / w.width, rows_of_piece(w.width), [w](int64_t first, int64_t last) {
    const int64_t bytes = w.width * static_cast<int64_t>(sizeof(T));
    for (int64_t row = first; row < last; ++row) {
      const int64_t next = std::min(row + ahead, last - 1);
      const char* const soon = reinterpret_cast<const char*>(w.in.data + w.index[next] * w.width);
      for (int64_t b = 0; b < std::min<int64_t>(bytes, 256); b += 64) __builtin_prefetch(soon + b);
      std::copy_n(w.in.data + w.index[row] * w.width, w.width, w.out.data + row * w.width);
    }
  });
}

template <class T>
void put_rows(int64_t count, const PutRows<T>& work) {
  if (count == 0) return;
  parallel_each(count / work.width, rows_of_piece(work.width), [&](int64_t row) {
    std::copy_n(work.in.data + row * work.width, work.width, work.out.data + work.index[row] * work.width);
  });
}

template <class T>
void with_whole_rows(MoveKernels<T>& table) {
  table.gather_rows = &gather_rows<T>;
  table.put_rows = &put_rows<T>;
}

}  // namespace
}  // namespace cpu

MR_CPU_TABLE(MoveKernels, float, cpu::with_whole_rows)
MR_CPU_TABLE(MoveKernels, double, cpu::with_whole_rows)
MR_CPU_TABLE(MoveKernels, int64_t, cpu::with_whole_rows)

}  // namespace mr
