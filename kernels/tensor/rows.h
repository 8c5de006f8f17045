// Registers the kernels of tensors: elementwise functions, reductions, random numbers, sums per list, tallies, and
// kernels that move entries, for every entry type.
#pragma once

#include "kernels/core/table.h"
#include "kernels/core/tally.h"
#include "kernels/tensor/elementwise.h"
#include "kernels/tensor/list_columns.h"
#include "kernels/tensor/list_reduce.h"
#include "kernels/tensor/move.h"
#include "kernels/tensor/reduce.h"
#include "kernels/tensor/softmax.h"
#include "kernels/tensor/windows.h"

namespace mr {

// clang-format off
#define MR_UNARY_FUNCTIONS(ROW) \
  ROW(neg, NegOf) ROW(exp, ExpOf) ROW(log, LogOf) ROW(sqrt, SqrtOf) ROW(abs, AbsOf) ROW(sigmoid, SigmoidOf) \
  ROW(tanh, TanhOf) ROW(relu, ReluOf) ROW(softplus, SoftplusOf)
#define MR_BINARY_FUNCTIONS(ROW) \
  ROW(add, AddOf) ROW(sub, SubOf) ROW(mul, MulOf) ROW(div, DivOf) ROW(pow, PowOf) ROW(maximum, MaximumOf) ROW(minimum, MinimumOf)
#define MR_COMPARISONS(ROW) ROW(gt, GreaterOf) ROW(ge, GreaterEqualOf) ROW(eq, EqualOf)

#define MR_ALIAS_UNARY(name, Function)                                        \
  template <class Real> using Unary_##name = Unary<Real, Function<Real>>;     \
  template <class Real> using UnaryVjp_##name = UnaryVjp<Real, Function<Real>>;
#define MR_ALIAS_BINARY(name, Function)                                       \
  template <class Real> using Binary_##name = Binary<Real, Function<Real>>;   \
  template <class Real> using BinaryVjp_##name = BinaryVjp<Real, Function<Real>>;
MR_UNARY_FUNCTIONS(MR_ALIAS_UNARY)
MR_BINARY_FUNCTIONS(MR_ALIAS_BINARY)
MR_COMPARISONS(MR_ALIAS_BINARY)
#undef MR_ALIAS_UNARY
#undef MR_ALIAS_BINARY

#define MR_ARITHMETIC_ROWS(LISTS, ELEMENTS)                                   \
  ELEMENTS(neg, Unary_neg) ELEMENTS(neg_vjp, UnaryVjp_neg)                    \
  ELEMENTS(exp, Unary_exp) ELEMENTS(exp_vjp, UnaryVjp_exp)                    \
  ELEMENTS(log, Unary_log) ELEMENTS(log_vjp, UnaryVjp_log)                    \
  ELEMENTS(sqrt, Unary_sqrt) ELEMENTS(sqrt_vjp, UnaryVjp_sqrt)                \
  ELEMENTS(abs, Unary_abs) ELEMENTS(abs_vjp, UnaryVjp_abs)                    \
  ELEMENTS(sigmoid, Unary_sigmoid) ELEMENTS(sigmoid_vjp, UnaryVjp_sigmoid)    \
  ELEMENTS(tanh, Unary_tanh) ELEMENTS(tanh_vjp, UnaryVjp_tanh)                \
  ELEMENTS(relu, Unary_relu) ELEMENTS(relu_vjp, UnaryVjp_relu)                \
  ELEMENTS(softplus, Unary_softplus) ELEMENTS(softplus_vjp, UnaryVjp_softplus) \
  ELEMENTS(add, Binary_add) ELEMENTS(add_vjp, BinaryVjp_add)                  \
  ELEMENTS(sub, Binary_sub) ELEMENTS(sub_vjp, BinaryVjp_sub)                  \
  ELEMENTS(mul, Binary_mul) ELEMENTS(mul_vjp, BinaryVjp_mul)                  \
  ELEMENTS(div, Binary_div) ELEMENTS(div_vjp, BinaryVjp_div)                  \
  ELEMENTS(pow, Binary_pow) ELEMENTS(pow_vjp, BinaryVjp_pow)                  \
  ELEMENTS(maximum, Binary_maximum) ELEMENTS(maximum_vjp, BinaryVjp_maximum)  \
  ELEMENTS(minimum, Binary_minimum) ELEMENTS(minimum_vjp, BinaryVjp_minimum)  \
  ELEMENTS(gt, Binary_gt) ELEMENTS(ge, Binary_ge) ELEMENTS(eq, Binary_eq)     \
  ELEMENTS(select, Select)                                                    \
  ELEMENTS(random_uniform, RandomUniform) ELEMENTS(random_normal, RandomNormal) \
  LISTS(reduce_sum, ReduceSum)                                                \
  LISTS(reduce_max, ReduceMax) ELEMENTS(reduce_max_vjp, ReduceMaxVjp)         \
  LISTS(softmax, Softmax) LISTS(softmax_vjp, SoftmaxVjp)                      \
  LISTS(log_sum, LogSum) LISTS(log_sum_vjp, LogSumVjp)                        \
  LISTS(log_softmax, LogSoftmax) LISTS(log_softmax_vjp, LogSoftmaxVjp)        \
  ELEMENTS(sum_runs, SumRuns) ELEMENTS(row_dot, RowDot)                       \
  LISTS(list_sum, ListSum)                                                    \
  LISTS(list_max, ListMax) ELEMENTS(list_max_vjp, ListMaxVjp)                 \
  LISTS(list_softmax, ListSoftmax) LISTS(list_softmax_vjp, ListSoftmaxVjp)    \
  LISTS(list_cumsum, ListCumsum) LISTS(spread, Spread)                        \
  LISTS(list_column_sum, ListColumnSum) LISTS(list_column_max, ListColumnMax) \
  LISTS(unfold, Unfold) ELEMENTS(fold, Fold)                               \
  ELEMENTS(add_loss, AddLoss) ELEMENTS(note_nan, NoteNan)
// clang-format on

MR_KERNEL_TABLE(ArithmeticKernels, MR_ARITHMETIC_ROWS)

#define MR_MOVE_ROWS(LISTS, ELEMENTS) \
  ELEMENTS(fill, Fill)                \
  ELEMENTS(arange, Arange)            \
  ELEMENTS(convert, Convert)          \
  ELEMENTS(strided_copy, StridedCopy) \
  ELEMENTS(strided_put, StridedPut)   \
  ELEMENTS(gather_rows, GatherRows)   \
  ELEMENTS(put_rows, PutRows)         \
  ELEMENTS(gather_along, GatherAlong) \
  ELEMENTS(put_along, PutAlong)       \
  ELEMENTS(note_outside, NoteOutside)

MR_KERNEL_TABLE(MoveKernels, MR_MOVE_ROWS)

}  // namespace mr
