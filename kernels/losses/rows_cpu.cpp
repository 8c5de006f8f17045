// The CPU's pointwise and listwise losses: the plain forms; those that are more than linear in a list's rows answer
// Ctrl-C inside a list.
#include "kernels/core/launch_cpu.h"
#include "kernels/losses/neural_sums.h"
#include "kernels/losses/rows.h"

namespace mr {
namespace cpu {
namespace {

struct InterruptibleGroup : SerialGroup {
  template <class F>
  void each(int64_t n, F f) const {
    for (int64_t i = 0; i < n; ++i) {
      if (i % 64 == 0) check_interrupt();
      f(i);
    }
  }
};

/// By vectors.
struct VectorSums {
  template <int count>
  static void add(const double* x, double a, const double* b, double c, const double* const (&weights)[count],
                  int64_t n, double (&out)[count]) {
    static_assert(count <= NeuralSumLoops::most);
    neural_sum_loops().add(x, a, b, c, weights, count, n, out);
  }
};

template <class Real>
void neural_ndcg(int64_t count, const NeuralNdcgLoss<Real>& work) {
  parallel_each(count, 1, [&](int64_t list) { work.template of_list<VectorSums>(InterruptibleGroup{}, list); });
}

template <class Work>
void interruptible(int64_t count, const Work& work) {
  parallel_each(count, 1, [&](int64_t list) { work(InterruptibleGroup{}, list); });
}

template <class Real>
void with_interrupts(RowLossKernels<Real>& table) {
  table.soft_rank = &interruptible<SoftRankLoss<Real>>;
  table.neural_ndcg = &neural_ndcg<Real>;
}

}  // namespace
}  // namespace cpu

MR_CPU_TABLE(RowLossKernels, float, cpu::with_interrupts)
MR_CPU_TABLE(RowLossKernels, double, cpu::with_interrupts)

}  // namespace mr
