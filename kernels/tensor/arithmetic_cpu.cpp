#include <algorithm>

#include "kernels/core/launch_cpu.h"
#include "kernels/tensor/functions_cpu.h"
#include "kernels/tensor/operands_cpu.h"
#include "kernels/tensor/rows.h"
#include "kernels/tensor/sums_cpu.h"

namespace mr {
namespace cpu {
namespace {

/// Computes one function and its derivative on all threads with the vectorized loops of functions_cpu.h. Its functions
/// replace the plain kernels of elementwise.h and have the same arguments.
template <class Real, auto function, class Plain, class PlainVjp>
struct FastFunction {
  static void values(int64_t count, const Plain& work) {
    parallel(count, entries_of_piece, [&](int64_t first, int64_t last) {
      (chosen_loops<FunctionLoops<Real>>().*function).values(work.in.data + first, work.out.data + first, last - first);
    });
  }
  static void products(int64_t count, const PlainVjp& work) {
    parallel(count, entries_of_piece, [&](int64_t first, int64_t last) {
      (chosen_loops<FunctionLoops<Real>>().*function)
          .products(work.in.data + first, work.upstream.data + first, work.out.data + first, last - first);
    });
  }
};

/// Returns true if the operation is the square of a contiguous tensor: the exponent is the single number 2. The caller
/// then computes x * x, which has the same bits as the general power.
template <class Work>
bool is_square(int64_t count, const Work& work) {
  return count > 0 && work.from_a.dims == 0 && work.from_a.step == 1 && work.from_b.dims == 0 &&
         work.from_b.step == 0 && work.b[0] == 2;
}

template <class Real>
void power(int64_t count, const Binary_pow<Real>& work) {
  if (!is_square(count, work)) return Backend::elements(count, work);
  parallel(count, entries_of_piece, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) work.out[i] = work.a[i] * work.a[i];
  });
}

template <class Real>
void power_vjp(int64_t count, const BinaryVjp_pow<Real>& work) {
  if (!is_square(count, work) || work.by_a.data == nullptr || work.by_b.data != nullptr)
    return Backend::elements(count, work);
  parallel(count, entries_of_piece, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) work.by_a[i] = work.upstream[i] * (2 * work.a[i]);
  });
}

template <class Real>
void with_fast_forms(ArithmeticKernels<Real>& table) {
  table.sum_runs = &sum_runs<Real>;
  table.reduce_sum = &reduce_sum<Real>;
  table.row_dot = &row_dot<Real>;
#define MR_RUNS(name)         \
  table.name = &binary<Real>; \
  table.name##_vjp = &binary_vjp<Real>;
  MR_RUNS(add)
  MR_RUNS(sub)
  MR_RUNS(mul)
  MR_RUNS(div)
  MR_RUNS(maximum)
  MR_RUNS(minimum)
#undef MR_RUNS
  table.gt = &binary<Real>;
  table.ge = &binary<Real>;
  table.eq = &binary<Real>;
  table.pow = &power<Real>;
  table.pow_vjp = &power_vjp<Real>;
#define MR_FAST_FUNCTION(name)                                                                              \
  {                                                                                                         \
    using Fast = FastFunction<Real, &FunctionLoops<Real>::name, Unary_##name<Real>, UnaryVjp_##name<Real>>; \
    table.name = &Fast::values;                                                                             \
    table.name##_vjp = &Fast::products;                                                                     \
  }
  MR_FAST_FUNCTION(exp)
  MR_FAST_FUNCTION(log)
  MR_FAST_FUNCTION(sigmoid)
  MR_FAST_FUNCTION(tanh)
  MR_FAST_FUNCTION(softplus)
#undef MR_FAST_FUNCTION
}

}  // namespace
}  // namespace cpu

MR_CPU_TABLE(ArithmeticKernels, float, cpu::with_fast_forms)
MR_CPU_TABLE(ArithmeticKernels, double, cpu::with_fast_forms)

}  // namespace mr
