// Gradients made shorter: all of a model's together, so that their direction stays.
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "runtime/autograd/node.h"
#include "runtime/lua/bind.h"
#include "runtime/ops/check.h"

namespace mr {
namespace {

/// In lanes that do not depend on the processor, in double.
double sum_of_squares(const Tensor& x) {
  constexpr size_t lanes = 8;
  std::array<double, lanes> sums{};
  with_real(x.dtype(), [&]<class Real>() {
    const Tensor here = x.to(Device::cpu);
    const Span<const Real> values = here.span<const Real>();
    for (int64_t i = 0; i < values.size; ++i) {
      const auto value = static_cast<double>(values[i]);
      sums[static_cast<size_t>(i) % lanes] += value * value;
    }
  });
  double total = 0;
  for (const double each : sums) total += each;
  return total;
}

Tensor scaled(const Tensor& x, double factor) {
  const Tensor here = x.to(Device::cpu).clone();
  with_real(x.dtype(), [&]<class Real>() {
    const Span<Real> values = here.span<Real>();
    for (int64_t i = 0; i < values.size; ++i) values.data[i] = static_cast<Real>(values[i] * factor);
  });
  return here.to(x.device());
}

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
    {lua::op<&clip_gradients>("clip_gradients", "parameters, norm",
                              "Scales the gradients of all parameters so that their norm together is at most this; "
                              "returns what it was.")}};

}  // namespace mr
