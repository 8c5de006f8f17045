// Unfolds windows of pictures into columns. stdlib/moonrank/tensor/operations.lua composes convolutions and pooling
// from it.
#include "kernels/tensor/rows.h"
#include "runtime/autograd/node.h"
#include "runtime/lua/bind.h"
#include "runtime/ops/argument_checks.h"

namespace mr {
namespace {

std::string pair_text(const std::vector<int64_t>& pair) {
  return "{" + std::to_string(pair[0]) + ", " + std::to_string(pair[1]) + "}";
}

void check_pair(const char* name, const std::vector<int64_t>& pair, int64_t least) {
  constexpr int64_t most = int64_t{1} << 20;
  const auto fits = [&](int64_t n) { return n >= least && n <= most; };
  if (pair.size() == 2 && fits(pair[0]) && fits(pair[1])) return;
  throw ArgumentError(name, (pair.size() == 2 ? pair_text(pair) + ", " : "") +
                                "expected two integers {down, across}, each from " + std::to_string(least) + " to " +
                                std::to_string(most));
}

Windows windows_of(const Tensor& x, const std::vector<int64_t>& size, const std::vector<int64_t>& stride,
                   const std::vector<int64_t>& padding) {
  check_pair("size", size, 1);
  check_pair("stride", stride, 1);
  check_pair("padding", padding, 0);
  Windows windows{};
  for (int axis = 0; axis < 2; ++axis) {
    const int64_t room = x.size(2 + axis) + 2 * padding[axis] - size[axis];
    if (room < 0) {
      throw ArgumentError("size", "a window of " + pair_text(size) + " is larger than pictures of shape " +
                                      x.shape().text() + " with a padding of " + pair_text(padding));
    }
    windows.size[axis] = x.size(2 + axis);
    windows.window[axis] = size[axis];
    windows.count[axis] = room / stride[axis] + 1;
    windows.stride[axis] = stride[axis];
    windows.padding[axis] = padding[axis];
  }
  return windows;
}

Tensor unfold(const Tensor& x, const std::vector<int64_t>& size, const std::vector<int64_t>& stride,
              const std::vector<int64_t>& padding, double outside) {
  check::floating("x", x);
  if (x.dims() != 4) {
    throw ArgumentError(
        "x", "it has shape " + x.shape().text() + ", expected 4 dimensions: pictures, channels, height and width");
  }
  const Windows windows = windows_of(x, size, stride, padding);
  Tensor out = Tensor::empty({x.size(0), x.size(1), windows.area(), windows.places()}, x.dtype(), x.device());
  with_real(x.dtype(), [&]<class Real>() {
    kernels<ArithmeticKernels<Real>>(x.device())
        .unfold(x.size(0) * x.size(1) * windows.area() * windows.count[0], {.in = x.span<const Real>(),
                                                                            .windows = windows,
                                                                            .outside = static_cast<Real>(outside),
                                                                            .out = out.span<Real>()});
  });
  return record("unfold", out, {x}, [shape = x.shape(), windows](const Tensor& g) -> Gradients {
    Tensor gx = Tensor::empty(shape, g.dtype(), g.device());
    with_real(g.dtype(), [&]<class Real>() {
      kernels<ArithmeticKernels<Real>>(g.device())
          .fold(gx.entries(), {.upstream = g.span<const Real>(), .windows = windows, .out = gx.span<Real>()});
    });
    return {gx};
  });
}

}  // namespace

extern const lua::OpTable window_functions{
    lua::OpTable::functions,
    nullptr,
    {lua::op<&unfold>("unfold", "x, size, stride, padding, outside",
                      "Unfolds windows of pictures {pictures, channels, height, width} to {pictures, channels, entries "
                      "of a window, windows}. `outside` is the value of the padding.")}};

}  // namespace mr
