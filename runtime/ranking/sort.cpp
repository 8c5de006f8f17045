// Sorting along a dimension. The entries along it, with the other indices held constant, are treated as a list.
#include "kernels/ranking/rows.h"
#include "runtime/autograd/node.h"
#include "runtime/ops/argument_checks.h"
#include "runtime/ops/functions.h"
#include "runtime/ops/gather.h"
#include "runtime/ranking/ranking.h"

namespace mr {
namespace {

/// Returns the permutation that sorts along dimension d (counted from 0). Position i of the result has the index,
/// counted from 1, of the entry that is i-th after sorting. The sort is stable.
Tensor order_along(const Tensor& given, int d, bool descending) {
  const int last = given.dims() - 1;
  const Tensor moved = ops::transpose(given, d, last);
  const Tensor keys = descending ? moved : ops::mul(moved, -1.0);
  const int64_t n = given.size(d);
  const std::vector<int64_t> sizes(n > 0 ? static_cast<size_t>(given.entries() / n) : 0, n);
  const Lists runs(sizes, std::vector<float>(static_cast<size_t>(given.entries())));
  const Ranking ranking = rank_rows(keys, runs, Ties::stable, 1);
  Tensor order = Tensor::empty(moved.shape(), Dtype::int64, given.device());
  kernels<MetricKernels<double>>(given.device())
      .order_of(runs.count(), {.places = ranking.placements(),
                               .lists = runs.view(given.device()),
                               .order = order.span<int64_t>(),
                               .within = true});
  return ops::transpose(order, d, last);
}

/// Returns the dimension `dim`, which counts from 1, counted from 0. Without `dim`, returns the last dimension.
int dimension_of(const Tensor& x, std::optional<int64_t> dim) {
  check::floating("x", x);
  const int d = check::dimension("dim", x, dim.value_or(x.dims()));
  check::not_nan("sort", "x", x);
  return d;
}

std::tuple<Tensor, Tensor> sorted(const char* name, const Tensor& x, int d, const Tensor& order) {
  return {
      record(name, taken_along(x, d, order), {x},
             [shape = x.shape(), d, order](const Tensor& g) -> Gradients { return {put_along(g, shape, d, order)}; }),
      order};
}

std::tuple<Tensor, Tensor> sort_of(const Tensor& x, std::optional<int64_t> dim, bool descending) {
  const int d = dimension_of(x, dim);
  return sorted("sort", x, d, order_along(x.data(), d, descending));
}

std::tuple<Tensor, Tensor> topk_of(const Tensor& x, int64_t k, std::optional<int64_t> dim, bool largest) {
  const int d = dimension_of(x, dim);
  if (k < 0 || k > x.size(d)) {
    throw ArgumentError("k", std::to_string(k) + " of " + std::to_string(x.size(d)) + " entries, expected 0 to " +
                                 std::to_string(x.size(d)));
  }
  return sorted("topk", x, d, ops::narrow(order_along(x.data(), d, largest), d, 0, k));
}

}  // namespace

using lua::op;
extern const lua::OpTable sort_functions{
    lua::OpTable::functions,
    nullptr,
    {
        op<&sort_of>("sort", "x, dim?, descending", "Entries sorted along a dimension, and their positions."),
        op<&topk_of>("topk", "x, k, dim?, largest", "The first k entries in sorted order, and their positions."),
    }};

}  // namespace mr
