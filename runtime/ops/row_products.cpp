#include "runtime/ops/row_products.h"

#include "kernels/tensor/rows.h"
#include "runtime/autograd/merged.h"
#include "runtime/ops/geometry.h"

namespace mr {
namespace {

/// A matrix in an inner product of rows, whose derivative is needed. If its rows were gathered from a table (`rows`),
/// then `index` has the row numbers, and `node` is the graph node of the table.
struct Factor {
  Tensor values, index;
  std::shared_ptr<Node> node;
};

Factor factor_of(const Tensor& x, bool may_be_gathered) {
  const std::shared_ptr<Node>& node = x.node();
  const RowsVjp* const gathered = node != nullptr && may_be_gathered ? node->vjp.target<RowsVjp>() : nullptr;
  if (gathered == nullptr || x.device() != Device::cpu || x.dims() != 2) return {x.data(), {}, node};
  return {x.data(), gathered->index, node->inputs[0]};
}

Gradient derivative(const Factor& by, const Tensor& g, const Tensor& other) {
  if (by.node == nullptr) return {};
  if (by.index.defined()) return merged_products(by.index, g, other);
  const Tensor out = Tensor::empty(other.shape(), other.dtype(), other.device());
  with_real(g.dtype(), [&]<class Real>() {
    kernels<ArithmeticKernels<Real>>(g.device())
        .mul(out.entries(), {.a = g.span<const Real>(),
                             .b = other.span<const Real>(),
                             .out = out.span<Real>(),
                             .from_a = broadcast_of({other.size(0), 1}, other.shape())});
  });
  return out;
}

}  // namespace

Tensor record_row_products(const char* name, const Tensor& out, const Tensor& a, const Tensor& b) {
  const bool differ = a.node() != b.node();
  const Factor x = factor_of(a, differ), y = factor_of(b, differ);
  return record(name, out, {x.values.with_node(x.node), y.values.with_node(y.node)},
                [x, y](const Tensor& g) -> Gradients {
                  return {derivative(x, g, y.values), derivative(y, g, x.values)};
                });
}

}  // namespace mr
