// The CPU's pointwise and listwise losses: the plain forms; those that are more than linear in a list's rows answer
// Ctrl-C inside a list.
#include "kernels/core/launch_cpu.h"
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

template <class Work>
void interruptible(int64_t count, const Work& work) {
  parallel_each(count, 1, [&](int64_t list) { work(InterruptibleGroup{}, list); });
}

template <class Real>
void with_interrupts(RowLossKernels<Real>& table) {
  table.soft_rank = &interruptible<SoftRankLoss<Real>>;
  table.neural_ndcg = &interruptible<NeuralNdcgLoss<Real>>;
}

}  // namespace
}  // namespace cpu

MR_CPU_TABLE(RowLossKernels, float, cpu::with_interrupts)
MR_CPU_TABLE(RowLossKernels, double, cpu::with_interrupts)

}  // namespace mr
