#include <algorithm>

#include "kernels/core/launch_cpu.h"
#include "kernels/core/prefetch.h"
#include "kernels/tensor/rows.h"

namespace mr {
namespace cpu {
namespace {

/// Gathers rows by copying whole rows, which avoids a division per entry. Rows of a large table are prefetched from
/// memory. A row of one entry needs neither: the processor reads many of them at a time.
template <class T>
void gather_rows(int64_t count, const GatherRows<T>& work) {
  if (count == 0) return;
  const GatherRows<T> w = work;
  parallel(count / w.width, rows_of_piece(w.width), [w](int64_t first, int64_t last) {
    if (w.width == 1) {
      for (int64_t row = first; row < last; ++row) w.out[row] = w.in[w.index[row]];
      return;
    }
    for (int64_t row = first; row < last; ++row) {
      if (row + rows_ahead < last) prefetch_row<false>(w.in.data, w.index[row + rows_ahead], w.width);
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
