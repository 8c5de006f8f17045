// Sums of gradients, dense and sparse by rows.
#include <algorithm>
#include <numeric>
#include <vector>

#include "kernels/tensor/rows.h"
#include "kernels/tensor/sums_cpu.h"
#include "runtime/autograd/merged.h"

namespace mr {
namespace {

Tensor joined(const Tensor& a, const Tensor& b) {
  Shape shape = a.shape();
  shape.set(0, a.size(0) + b.size(0));
  Tensor out = Tensor::empty(shape, a.dtype(), a.device());
  with_any(a.dtype(), [&]<class T>() {
    const auto& table = kernels<MoveKernels<T>>(a.device());
    table.strided_put(a.entries(), {.in = a.span<T>(), .out = out.span<T>()});
    table.strided_put(b.entries(), {.in = b.span<T>(), .out = out.span<T>(), .shift = a.entries()});
  });
  return out;
}

Tensor sum_of(const Tensor& a, const Tensor& b) {
  Tensor out = Tensor::empty(a.shape(), a.dtype(), a.device());
  with_real(a.dtype(), [&]<class Real>() {
    kernels<ArithmeticKernels<Real>>(a.device())
        .add(a.entries(), {.a = a.span<Real>(), .b = b.span<Real>(), .out = out.span<Real>()});
  });
  return out;
}

/// Returns the positions in `rows`, sorted by row number. Equal numbers keep their order. Long vectors are sorted digit
/// by digit, which takes time proportional to their length.
std::vector<int64_t> sorted_positions(const std::vector<int64_t>& rows) {
  constexpr int bits = 11;
  constexpr int64_t digits = 1 << bits, worth_counting = 256;
  std::vector<int64_t> order(rows.size());
  std::iota(order.begin(), order.end(), 0);
  if (std::is_sorted(rows.begin(), rows.end())) return order;
  if (static_cast<int64_t>(rows.size()) < worth_counting) {
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return rows[a] < rows[b]; });
    return order;
  }
  const int64_t largest = *std::max_element(rows.begin(), rows.end());
  std::vector<int64_t> next(rows.size()), ends(digits);
  for (int shift = 0; shift < 63 && largest >> shift > 0; shift += bits) {
    std::fill(ends.begin(), ends.end(), 0);
    for (const int64_t row : rows) ++ends[row >> shift & (digits - 1)];
    std::partial_sum(ends.begin(), ends.end(), ends.begin());
    for (auto at = order.rbegin(); at != order.rend(); ++at) next[--ends[rows[*at] >> shift & (digits - 1)]] = *at;
    order.swap(next);
  }
  return order;
}

/// The rows of a sparse gradient, and for each the positions in which it occurs: those of rows[i] are order[starts[i]]
/// .. order[starts[i + 1] - 1].
struct Groups {
  std::vector<int64_t> rows, order, starts;
};

Groups grouped(const Tensor& rows_of_each) {
  const auto rows = rows_of_each.to_vector<int64_t>();
  const auto n = static_cast<int64_t>(rows.size());
  Groups groups{{}, sorted_positions(rows), {}};
  groups.rows.reserve(rows.size());
  groups.starts.reserve(rows.size() + 1);
  for (int64_t i = 0; i < n; ++i) {
    if (i == 0 || rows[groups.order[i]] != rows[groups.order[i - 1]]) {
      groups.rows.push_back(rows[groups.order[i]]);
      groups.starts.push_back(i);
    }
  }
  groups.starts.push_back(n);
  return groups;
}

/// Returns a tensor, not yet filled, for the sums of the values of each row that occurs.
Tensor sums_of(const Groups& groups, const Tensor& values) {
  Shape shape = values.shape();
  shape.set(0, static_cast<int64_t>(groups.rows.size()));
  return Tensor::empty(shape, values.dtype(), values.device());
}

}  // namespace

Gradient merged(const Gradient& gradient) {
  if (gradient.once) return gradient;
  const Groups groups = grouped(gradient.rows);
  const Device device = gradient.values.device();
  const Tensor values = sums_of(groups, gradient.values);
  const Tensor order_there = Tensor::from(groups.order, device);
  const Tensor starts_there = Tensor::from(groups.starts, device);
  with_real(values.dtype(), [&]<class Real>() {
    kernels<ArithmeticKernels<Real>>(device).sum_runs(values.entries(), {.in = gradient.values.span<Real>(),
                                                                         .order = order_there.span<const int64_t>(),
                                                                         .starts = starts_there.span<const int64_t>(),
                                                                         .out = values.span<Real>(),
                                                                         .width = values.shape().stride(0)});
  });
  return {Tensor::from(groups.rows, device), values, true};
}

Gradient merged_products(const Tensor& rows, const Tensor& scale, const Tensor& values) {
  const Groups groups = grouped(rows);
  const Tensor out = sums_of(groups, values);
  with_real(values.dtype(), [&]<class Real>() {
    cpu::sum_scaled_runs(static_cast<int64_t>(groups.rows.size()), scale.span<const Real>().data,
                         SumRuns<Real>{.in = values.span<const Real>(),
                                       .order = {groups.order.data(), static_cast<int64_t>(groups.order.size())},
                                       .starts = {groups.starts.data(), static_cast<int64_t>(groups.starts.size())},
                                       .out = out.span<Real>(),
                                       .width = values.size(1)});
  });
  return {Tensor::from(groups.rows), out, true};
}

Tensor to_dense(const Gradient& gradient, const Shape& shape) {
  if (!gradient.sparse()) return gradient.dense;
  const Gradient once = merged(gradient);
  Tensor out = Tensor::zeros(shape, once.values.dtype(), once.values.device());
  with_any(out.dtype(), [&]<class T>() {
    kernels<MoveKernels<T>>(out.device())
        .put_rows(once.values.entries(), {.in = once.values.span<T>(),
                                          .index = {once.rows.span<int64_t>().data},
                                          .out = out.span<T>(),
                                          .width = shape.stride(0)});
  });
  return out;
}

Gradient add(const Gradient& a, const Gradient& b, const Shape& shape) {
  if (a.sparse() && b.sparse()) return {joined(a.rows, b.rows), joined(a.values, b.values)};
  return sum_of(to_dense(a, shape), to_dense(b, shape));
}

}  // namespace mr
