// Gradient clipping by the norm of all gradients of a model together, which keeps their direction.
#include <cmath>
#include <utility>
#include <vector>

#include "runtime/autograd/node.h"
#include "runtime/lua/bind.h"
#include "runtime/ops/argument_checks.h"
#include "runtime/ops/functions.h"

namespace mr {
namespace {

double sum_of_squares(const Tensor& x) {
  const Tensor wide = x.to(Dtype::float64);
  return ops::sum(ops::mul(wide, wide), {}).item();
}

Tensor scaled(const Tensor& x, double factor) { return ops::mul(x.to(Dtype::float64), factor).to(x.dtype()); }

double clip_gradients(const std::vector<Tensor>& parameters, double norm) {
  check::positive("norm", norm);
  std::vector<std::pair<Node*, Gradient>> gradients;
  double total = 0;
  for (const Tensor& parameter : parameters) {
    Node* const node = parameter.node().get();
    if (node == nullptr || !node->leaf || !node->grad.defined()) continue;
    const Gradient once = node->grad.sparse() ? merged(node->grad) : node->grad;
    total += sum_of_squares(once.sparse() ? once.values : once.dense);
    gradients.emplace_back(node, once);
  }
  const double length = std::sqrt(total);
  if (!(length > norm)) return length;
  const double factor = norm / length;
  for (auto& [node, gradient] : gradients) {
    if (gradient.sparse()) gradient.values = scaled(gradient.values, factor);
    if (gradient.dense.defined()) gradient.dense = scaled(gradient.dense, factor);
  }
  for (auto& [node, gradient] : gradients) node->grad = std::move(gradient);
  return length;
}

}  // namespace

extern const lua::OpTable clip_functions{
    lua::OpTable::functions,
    nullptr,
    {lua::once<&clip_gradients>(
        "clip_gradients", "parameters, norm",
        "Scales all gradients so that their common norm is at most `norm`. Returns the norm before.")}};

}  // namespace mr
