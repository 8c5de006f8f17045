// Elementwise operations: one entry, two broadcast operands, a choice between two.
#include "kernels/tensor/rows.h"
#include "runtime/autograd/node.h"
#include "runtime/lua/bind.h"
#include "runtime/ops/check.h"
#include "runtime/ops/geometry.h"

namespace mr {
namespace {

using Operand = std::variant<Tensor, double>;

#define MR_UNARY_OP(name, Function)                                                                             \
  Tensor name##_of(const Tensor& x) {                                                                           \
    check::floating("x", x);                                                                                    \
    Tensor out = Tensor::empty(x.shape(), x.dtype(), x.device());                                               \
    with_real(x.dtype(), [&]<class Real>() {                                                                    \
      kernels<ArithmeticKernels<Real>>(x.device()).name(x.entries(), {x.span<const Real>(), out.span<Real>()}); \
    });                                                                                                         \
    return record(#name, out, {x}, [x = x.data()](const Tensor& g) -> Gradients {                               \
      Tensor gx = Tensor::empty(x.shape(), x.dtype(), x.device());                                              \
      with_real(x.dtype(), [&]<class Real>() {                                                                  \
        kernels<ArithmeticKernels<Real>>(x.device())                                                            \
            .name##_vjp(x.entries(), {x.span<const Real>(), g.span<const Real>(), gx.span<Real>()});            \
      });                                                                                                       \
      return {gx};                                                                                              \
    });                                                                                                         \
  }
MR_UNARY_FUNCTIONS(MR_UNARY_OP)
#undef MR_UNARY_OP

/// Both operands as tensors of one kind; a number takes the type of the other.
std::pair<Tensor, Tensor> both(const Operand& a, const Operand& b) {
  if (std::holds_alternative<double>(a)) {
    if (std::holds_alternative<double>(b)) throw ArgumentError("a", "two numbers, expected a tensor among them");
    const Tensor& y = std::get<Tensor>(b);
    check::floating("b", y);
    return {Tensor::full({}, std::get<double>(a), y.dtype(), y.device()), y};
  }
  const Tensor& x = std::get<Tensor>(a);
  check::floating("a", x);
  if (std::holds_alternative<double>(b)) return {x, Tensor::full({}, std::get<double>(b), x.dtype(), x.device())};
  check::same_kind("b", std::get<Tensor>(b), "a", x);
  return {x, std::get<Tensor>(b)};
}

#define MR_BINARY_FORWARD(name, Function)                                                         \
  Tensor name##_forward(const Tensor& x, const Tensor& y) {                                       \
    const Shape shape = broadcast_shape(x.shape(), y.shape());                                    \
    Tensor out = Tensor::empty(shape, x.dtype(), x.device());                                     \
    with_real(x.dtype(), [&]<class Real>() {                                                      \
      kernels<ArithmeticKernels<Real>>(x.device())                                                \
          .name(out.entries(), {x.span<const Real>(), y.span<const Real>(), out.span<Real>(),     \
                                broadcast_of(x.shape(), shape), broadcast_of(y.shape(), shape)}); \
    });                                                                                           \
    return out;                                                                                   \
  }
#define MR_BINARY_OP(name, Function)                                                                               \
  MR_BINARY_FORWARD(name, Function)                                                                                \
  Tensor name##_of(const Operand& a, const Operand& b) {                                                           \
    const auto [x, y] = both(a, b);                                                                                \
    Tensor out = name##_forward(x, y);                                                                             \
    const bool need_x = x.node() != nullptr, need_y = y.node() != nullptr;                                         \
    return record(#name, out, {x, y}, [x = x.data(), y = y.data(), need_x, need_y](const Tensor& g) -> Gradients { \
      Tensor gx = Tensor::empty(need_x ? g.shape() : Shape{0}, g.dtype(), g.device());                             \
      Tensor gy = Tensor::empty(need_y ? g.shape() : Shape{0}, g.dtype(), g.device());                             \
      with_real(g.dtype(), [&]<class Real>() {                                                                     \
        kernels<ArithmeticKernels<Real>>(g.device())                                                               \
            .name##_vjp(g.entries(),                                                                               \
                        {x.span<const Real>(), y.span<const Real>(), g.span<const Real>(),                         \
                         need_x ? gx.span<Real>() : Span<Real>{}, need_y ? gy.span<Real>() : Span<Real>{},         \
                         broadcast_of(x.shape(), g.shape()), broadcast_of(y.shape(), g.shape())});                 \
      });                                                                                                          \
      return {need_x ? Gradient(sum_to(gx, x.shape())) : Gradient(),                                               \
              need_y ? Gradient(sum_to(gy, y.shape())) : Gradient()};                                              \
    });                                                                                                            \
  }
MR_BINARY_FUNCTIONS(MR_BINARY_OP)
#undef MR_BINARY_OP

#define MR_COMPARISON(name, Function)                    \
  MR_BINARY_FORWARD(name, Function)                      \
  Tensor name##_of(const Operand& a, const Operand& b) { \
    const auto [x, y] = both(a, b);                      \
    return name##_forward(x, y);                         \
  }
MR_COMPARISONS(MR_COMPARISON)
#undef MR_COMPARISON
#undef MR_BINARY_FORWARD

Tensor lt_of(const Operand& a, const Operand& b) { return gt_of(b, a); }
Tensor le_of(const Operand& a, const Operand& b) { return ge_of(b, a); }

Tensor clamp_of(const Tensor& x, std::optional<double> low, std::optional<double> high) {
  if (low && high && *low > *high) throw ArgumentError("min", "min is larger than max");
  Tensor out = x;
  if (low) out = maximum_of(out, *low);
  if (high) out = minimum_of(out, *high);
  return out;
}

Tensor select_forward(const Tensor& condition, const Tensor& a, const Tensor& b, const Shape& shape) {
  Tensor out = Tensor::empty(shape, condition.dtype(), condition.device());
  with_real(out.dtype(), [&]<class Real>() {
    kernels<ArithmeticKernels<Real>>(out.device())
        .select(out.entries(), {condition.span<const Real>(), a.span<const Real>(), b.span<const Real>(),
                                out.span<Real>(), broadcast_of(condition.shape(), shape),
                                broadcast_of(a.shape(), shape), broadcast_of(b.shape(), shape)});
  });
  return out;
}

Tensor as_tensor(const Operand& value, const Tensor& like, const char* name) {
  if (std::holds_alternative<double>(value))
    return Tensor::full({}, std::get<double>(value), like.dtype(), like.device());
  check::same_kind(name, std::get<Tensor>(value), "condition", like);
  return std::get<Tensor>(value);
}

Tensor where_of(const Tensor& condition, const Operand& a, const Operand& b) {
  check::floating("condition", condition);
  const Tensor x = as_tensor(a, condition, "a"), y = as_tensor(b, condition, "b");
  const Shape shape = broadcast_shape(broadcast_shape(condition.shape(), x.shape()), y.shape());
  const Tensor out = select_forward(condition, x, y, shape);
  return record(
      "where", out, {x, y}, [c = condition.data(), sx = x.shape(), sy = y.shape()](const Tensor& g) -> Gradients {
        const Tensor zero = Tensor::full({}, 0, g.dtype(), g.device());
        return {sum_to(select_forward(c, g, zero, g.shape()), sx), sum_to(select_forward(c, zero, g, g.shape()), sy)};
      });
}

}  // namespace

using lua::op;
extern const lua::OpTable elementwise_methods{
    lua::OpTable::methods,
    &lua::push_metatable<Tensor>,
    {
        op<&exp_of>("exp", "self", "e to the power of each entry."),
        op<&log_of>("log", "self", "Natural logarithm of each entry."),
        op<&sqrt_of>("sqrt", "self", "Square root of each entry."),
        op<&abs_of>("abs", "self", "Absolute value of each entry; its derivative at 0 is 0."),
        op<&sigmoid_of>("sigmoid", "self", "1 / (1 + e^-x) of each entry, without overflow."),
        op<&tanh_of>("tanh", "self", "Hyperbolic tangent of each entry."),
        op<&relu_of>("relu", "self", "The larger of each entry and 0; its derivative at 0 is 0."),
        op<&softplus_of>("softplus", "self", "log(1 + e^x) of each entry, without overflow."),
        op<&maximum_of>("maximum", "self, other",
                        "The larger of two entries, broadcast; equal entries share the derivative."),
        op<&minimum_of>("minimum", "self, other",
                        "The smaller of two entries, broadcast; equal entries share the derivative."),
        op<&gt_of>("gt", "self, other", "1 where greater than other, else 0."),
        op<&ge_of>("ge", "self, other", "1 where greater than or equal to other, else 0."),
        op<&lt_of>("lt", "self, other", "1 where less than other, else 0."),
        op<&le_of>("le", "self, other", "1 where less than or equal to other, else 0."),
        op<&eq_of>("eq", "self, other", "1 where equal to other, else 0."),
        op<&where_of>("where", "self, a, b", "Entries of a where self is not 0, of b elsewhere."),
    }};

extern const lua::OpTable elementwise_operators{lua::OpTable::metamethods,
                                                &lua::push_metatable<Tensor>,
                                                {
                                                    op<&add_of>("__add", "a, b", "Sum, broadcast."),
                                                    op<&sub_of>("__sub", "a, b", "Difference, broadcast."),
                                                    op<&mul_of>("__mul", "a, b", "Product, broadcast."),
                                                    op<&div_of>("__div", "a, b", "Quotient, broadcast."),
                                                    op<&pow_of>("__pow", "a, b", "Power, broadcast."),
                                                    op<&neg_of>("__unm", "a", "Negative of each entry."),
                                                }};

extern const lua::OpTable elementwise_functions{
    lua::OpTable::functions,
    nullptr,
    {op<&clamp_of>("clamp", "x, min?, max?",
                   "Each entry moved into [min, max]; no derivative outside, half of it at an end.")}};

}  // namespace mr
