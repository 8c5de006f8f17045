#include <algorithm>

#include "kernels/core/launch_cpu.h"
#include "kernels/tensor/rows.h"

namespace mr {
namespace cpu {
namespace {

/// Computes row by row, which avoids a division per entry.
template <class Real>
void sum_runs(int64_t count, const SumRuns<Real>& work) {
  if (count == 0) return;
  parallel(count / work.width, std::max<int64_t>(1, 8192 / work.width), [&](int64_t first, int64_t last) {
    const SumRuns<Real> w = work;
    for (int64_t row = first; row < last; ++row) {
      for (int64_t column = 0; column < w.width; ++column) {
        double total = 0;
        for (int64_t k = w.starts[row]; k < w.starts[row + 1]; ++k) total += w.in[w.order[k] * w.width + column];
        w.out[row * w.width + column] = static_cast<Real>(total);
      }
    }
  });
}

template <class Real>
void with_fast_forms(ArithmeticKernels<Real>& table) {
  table.sum_runs = &sum_runs<Real>;
}

}  // namespace
}  // namespace cpu

MR_CPU_TABLE(ArithmeticKernels, float, cpu::with_fast_forms)
MR_CPU_TABLE(ArithmeticKernels, double, cpu::with_fast_forms)

}  // namespace mr
