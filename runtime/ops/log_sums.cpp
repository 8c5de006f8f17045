// logsumexp and log_softmax, without overflow or underflow of e^x.
#include "kernels/tensor/rows.h"
#include "runtime/autograd/node.h"
#include "runtime/lua/bind.h"
#include "runtime/ops/argument_checks.h"
#include "runtime/ops/geometry.h"

namespace mr {
namespace {

Tensor log_sum_of(const Tensor& x, std::optional<int64_t> dim) {
  check::floating("self", x);
  const int d = dim ? check::dimension("dim", x, *dim) : 0;
  const Runs runs = dim ? runs_along(x.shape(), d) : one_run(x.entries());
  Tensor out = Tensor::empty(dim ? x.shape().without(d) : Shape{}, x.dtype(), x.device());
  with_real(x.dtype(), [&]<class Real>() {
    kernels<ArithmeticKernels<Real>>(x.device())
        .log_sum(out.entries(), {.in = x.span<const Real>(), .out = out.span<Real>(), .runs = runs});
  });
  return record("logsumexp", out, {x}, [x = x.data(), y = out, runs](const Tensor& g) -> Gradients {
    Tensor gx = Tensor::empty(x.shape(), g.dtype(), g.device());
    with_real(g.dtype(), [&]<class Real>() {
      kernels<ArithmeticKernels<Real>>(g.device())
          .log_sum_vjp(y.entries(), {.in = x.span<const Real>(),
                                     .y = y.span<const Real>(),
                                     .upstream = g.span<const Real>(),
                                     .out = gx.span<Real>(),
                                     .runs = runs});
    });
    return {gx};
  });
}

Tensor log_softmax_of(const Tensor& x, int64_t dim) {
  check::floating("self", x);
  const int d = check::dimension("dim", x, dim);
  const Runs runs = runs_along(x.shape(), d);
  const int64_t count = x.shape().without(d).entries();
  Tensor out = Tensor::empty(x.shape(), x.dtype(), x.device());
  with_real(x.dtype(), [&]<class Real>() {
    kernels<ArithmeticKernels<Real>>(x.device())
        .log_softmax(count, {.in = x.span<const Real>(), .out = out.span<Real>(), .runs = runs});
  });
  return record("log_softmax", out, {x}, [y = out, runs, count](const Tensor& g) -> Gradients {
    Tensor gx = Tensor::empty(g.shape(), g.dtype(), g.device());
    with_real(g.dtype(), [&]<class Real>() {
      kernels<ArithmeticKernels<Real>>(g.device())
          .log_softmax_vjp(
              count,
              {.y = y.span<const Real>(), .upstream = g.span<const Real>(), .out = gx.span<Real>(), .runs = runs});
    });
    return {gx};
  });
}

}  // namespace

using lua::op;
extern const lua::OpTable log_sum_methods{
    lua::OpTable::methods,
    &lua::push_metatable<Tensor>,
    {
        op<&log_sum_of>("logsumexp", "self, dim?",
                        "log of the sum of e^x, of all entries or along a dimension, without overflow."),
        op<&log_softmax_of>("log_softmax", "self, dim",
                            "Logarithm of the softmax along a dimension, without overflow."),
    }};

}  // namespace mr
