// A fully connected layer: f(x weight + bias).
#include "kernels/models/layer.h"

#include "kernels/models/rows.h"
#include "runtime/autograd/node.h"
#include "runtime/lua/bind.h"
#include "runtime/ops/argument_checks.h"
#include "runtime/ops/matmul.h"

namespace mr {
namespace {

Activation to_activation(const std::string& name) {
  if (name == "none") return Activation::none;
  if (name == "relu") return Activation::relu;
  if (name == "tanh") return Activation::tanh;
  if (name == "sigmoid") return Activation::sigmoid;
  if (name == "softplus") return Activation::softplus;
  throw ArgumentError("activation",
                      "'" + name + "' is not an activation, expected 'none', 'relu', 'tanh', 'sigmoid' or 'softplus'");
}

void check_layer(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  check::floating("x", x);
  check::same_kind("weight", weight, "x", x);
  check::same_kind("bias", bias, "x", x);
  if (x.dims() != 2 || weight.dims() != 2 || x.size(1) != weight.size(0)) {
    throw ArgumentError("weight",
                        "shapes " + x.shape().text() + " and " + weight.shape().text() + " cannot be multiplied");
  }
  if (bias.entries() != weight.size(1)) {
    throw ArgumentError("bias", "bias has " + std::to_string(bias.entries()) + " entries, expected one for each of " +
                                    std::to_string(weight.size(1)) + " outputs");
  }
}

/// Returns the derivative by z = x weight + bias, and the bias gradient, from the derivative by the layer's result.
std::pair<Tensor, Tensor> by_inner(const Tensor& y, const Tensor& g, const Shape& bias, Activation activation) {
  const int64_t rows = y.size(0), width = y.size(1);
  Tensor dz = Tensor::empty(y.shape(), y.dtype(), y.device()), by_bias = Tensor::empty(bias, y.dtype(), y.device());
  with_real(y.dtype(), [&]<class Real>() {
    const int64_t pieces = (rows + LayerVjp<Real>::piece_rows - 1) / LayerVjp<Real>::piece_rows;
    const Tensor sums = Tensor::empty({pieces, width}, Dtype::float64, y.device());
    const auto& table = kernels<TrainingKernels<Real>>(y.device());
    table.layer_vjp(pieces, {.y = y.span<const Real>(),
                             .upstream = g.span<const Real>(),
                             .dz = dz.span<Real>(),
                             .sums = sums.span<double>(),
                             .rows = rows,
                             .width = width,
                             .activation = activation});
    table.layer_bias(width, {sums.span<const double>(), by_bias.span<Real>()});
  });
  return {dz, by_bias};
}

Tensor layer(const Tensor& x, const Tensor& weight, const Tensor& bias, const std::string& activation) {
  check_layer(x, weight, bias);
  const Activation kind = to_activation(activation);
  const Tensor y = product(x, false, weight, false);
  with_real(y.dtype(), [&]<class Real>() {
    kernels<TrainingKernels<Real>>(y.device())
        .layer_forward(y.size(0), {.z = y.span<Real>(), .bias = bias.span<const Real>(), .activation = kind});
  });
  const auto vjp = [x = x.data(), weight = weight.data(), y = y.data(), bias = bias.shape(), kind,
                    need_x = x.node() != nullptr](const Tensor& g) -> Gradients {
    const auto [dz, by_bias] = by_inner(y, g, bias, kind);
    return {need_x ? Gradient(product(dz, false, weight, true)) : Gradient(), Gradient(product(x, true, dz, false)),
            Gradient(by_bias)};
  };
  return record("layer", y, {x, weight, bias}, vjp);
}

}  // namespace

extern const lua::OpTable layer_functions{
    lua::OpTable::functions,
    nullptr,
    {lua::op<&layer>("layer", "x, weight, bias, activation",
                     "f(x weight + bias), where f is 'none', 'relu', 'tanh', 'sigmoid' or 'softplus'.")}};

}  // namespace mr
