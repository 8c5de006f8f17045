// Elementwise operations: functions of one entry, of two broadcast operands, and selection.
#include "kernels/tensor/rows.h"
#include "runtime/autograd/node.h"
#include "runtime/lua/bind.h"
#include "runtime/ops/argument_checks.h"
#include "runtime/ops/functions.h"
#include "runtime/ops/geometry.h"
#include "runtime/ops/row_products.h"

namespace mr {
namespace {

using ops::Operand;

// MR_ROW defines a struct that names a function's kernels for float32 and float64.
#define MR_ROW(function, Function)                                      \
  struct function##_row {                                               \
    template <class Real>                                               \
    static constexpr auto forward = &ArithmeticKernels<Real>::function; \
  };
#define MR_ROW_WITH_VJP(function, Function)                               \
  struct function##_row {                                                 \
    static constexpr const char* name = #function;                        \
    template <class Real>                                                 \
    static constexpr auto forward = &ArithmeticKernels<Real>::function;   \
    template <class Real>                                                 \
    static constexpr auto vjp = &ArithmeticKernels<Real>::function##_vjp; \
  };
MR_UNARY_FUNCTIONS(MR_ROW_WITH_VJP)
MR_BINARY_FUNCTIONS(MR_ROW_WITH_VJP)
MR_COMPARISONS(MR_ROW)
#undef MR_ROW
#undef MR_ROW_WITH_VJP

template <class Row>
Tensor unary(const Tensor& x) {
  check::floating("x", x);
  Tensor out = Tensor::empty(x.shape(), x.dtype(), x.device());
  with_real(x.dtype(), [&]<class Real>() {
    (kernels<ArithmeticKernels<Real>>(x.device()).*
     Row::template forward<Real>)(x.entries(), {x.span<const Real>(), out.span<Real>()});
  });
  return record(Row::name, out, {x}, [x = x.data()](const Tensor& g) -> Gradients {
    Tensor gx = Tensor::empty(x.shape(), x.dtype(), x.device());
    with_real(x.dtype(), [&]<class Real>() {
      (kernels<ArithmeticKernels<Real>>(x.device()).*
       Row::template vjp<Real>)(x.entries(), {x.span<const Real>(), g.span<const Real>(), gx.span<Real>()});
    });
    return {gx};
  });
}

/// Returns both operands as tensors of the same type and device. A number gets the type of the other operand.
std::pair<Tensor, Tensor> both(const Operand& a, const Operand& b) {
  if (std::holds_alternative<double>(a)) {
    if (std::holds_alternative<double>(b))
      throw ArgumentError("a", "both operands are numbers, expected at least one tensor");
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

template <class Row>
Tensor forward_of(const Tensor& x, const Tensor& y) {
  const Shape shape = broadcast_shape(x.shape(), y.shape());
  Tensor out = Tensor::empty(shape, x.dtype(), x.device());
  with_real(x.dtype(), [&]<class Real>() {
    (kernels<ArithmeticKernels<Real>>(x.device()).*
     Row::template forward<Real>)(out.entries(), {.a = x.span<const Real>(),
                                                  .b = y.span<const Real>(),
                                                  .out = out.span<Real>(),
                                                  .from_a = broadcast_of(x.shape(), shape),
                                                  .from_b = broadcast_of(y.shape(), shape)});
  });
  return out;
}

/// Computes the derivative of a function of two broadcast operands.
template <class Row>
struct BinaryDerivative {
  Tensor x, y;
  bool need_x, need_y;

  Gradients operator()(const Tensor& g) const {
    Tensor gx = Tensor::empty(need_x ? g.shape() : Shape{0}, g.dtype(), g.device());
    Tensor gy = Tensor::empty(need_y ? g.shape() : Shape{0}, g.dtype(), g.device());
    with_real(g.dtype(), [&]<class Real>() {
      (kernels<ArithmeticKernels<Real>>(g.device()).*
       Row::template vjp<Real>)(g.entries(), {.a = x.span<const Real>(),
                                              .b = y.span<const Real>(),
                                              .upstream = g.span<const Real>(),
                                              .by_a = need_x ? gx.span<Real>() : Span<Real>{},
                                              .by_b = need_y ? gy.span<Real>() : Span<Real>{},
                                              .from_a = broadcast_of(x.shape(), g.shape()),
                                              .from_b = broadcast_of(y.shape(), g.shape())});
    });
    return {need_x ? Gradient(sum_to(gx, x.shape())) : Gradient(),
            need_y ? Gradient(sum_to(gy, y.shape())) : Gradient()};
  }
};

template <class Row>
Tensor binary(const Operand& a, const Operand& b) {
  const auto [x, y] = both(a, b);
  return record(Row::name, forward_of<Row>(x, y), {x, y},
                BinaryDerivative<Row>{x.data(), y.data(), x.node() != nullptr, y.node() != nullptr});
}

template <class Row>
Tensor comparison(const Operand& a, const Operand& b) {
  const auto [x, y] = both(a, b);
  return forward_of<Row>(x, y);
}

Tensor lt_of(const Operand& a, const Operand& b) { return comparison<gt_row>(b, a); }
Tensor le_of(const Operand& a, const Operand& b) { return comparison<ge_row>(b, a); }

Tensor clamp_of(const Tensor& x, std::optional<double> low, std::optional<double> high) {
  if (low && high && *low > *high)
    throw ArgumentError("min", number_text(*low) + " is larger than max, " + number_text(*high) + ". Pass min <= max");
  Tensor out = x;
  if (low) out = binary<maximum_row>(out, *low);
  if (high) out = binary<minimum_row>(out, *high);
  return out;
}

Tensor select_forward(const Tensor& condition, const Tensor& a, const Tensor& b, const Shape& shape) {
  Tensor out = Tensor::empty(shape, condition.dtype(), condition.device());
  with_real(out.dtype(), [&]<class Real>() {
    kernels<ArithmeticKernels<Real>>(out.device())
        .select(out.entries(), {.condition = condition.span<const Real>(),
                                .a = a.span<const Real>(),
                                .b = b.span<const Real>(),
                                .out = out.span<Real>(),
                                .from_condition = broadcast_of(condition.shape(), shape),
                                .from_a = broadcast_of(a.shape(), shape),
                                .from_b = broadcast_of(b.shape(), shape)});
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

/// Returns 1 for NaN entries, else 0. NaN is the only value that differs from itself.
Tensor isnan_of(const Tensor& x) {
  check::floating("self", x);
  return forward_of<sub_row>(Tensor::full({}, 1, x.dtype(), x.device()), forward_of<eq_row>(x, x));
}

}  // namespace

std::optional<std::pair<Tensor, Tensor>> factors_of(const Tensor& product) {
  const std::shared_ptr<Node>& node = product.node();
  const auto* const by = node != nullptr ? node->vjp.target<BinaryDerivative<mul_row>>() : nullptr;
  if (by == nullptr || !(by->x.shape() == by->y.shape()) || node->inputs[0] == node->inputs[1]) return std::nullopt;
  return std::pair(by->x.with_node(node->inputs[0]), by->y.with_node(node->inputs[1]));
}

Tensor ops::add(const Operand& a, const Operand& b) { return binary<add_row>(a, b); }
Tensor ops::sub(const Operand& a, const Operand& b) { return binary<sub_row>(a, b); }
Tensor ops::mul(const Operand& a, const Operand& b) { return binary<mul_row>(a, b); }
Tensor ops::div(const Operand& a, const Operand& b) { return binary<div_row>(a, b); }
Tensor ops::sqrt(const Tensor& x) { return unary<sqrt_row>(x); }
Tensor ops::where(const Tensor& condition, const Operand& a, const Operand& b) { return where_of(condition, a, b); }

using lua::op;
extern const lua::OpTable elementwise_methods{
    lua::OpTable::methods,
    &lua::push_metatable<Tensor>,
    {
        op<&unary<exp_row>>("exp", "self", "e to the power of each entry."),
        op<&unary<log_row>>("log", "self", "Natural logarithm of each entry."),
        op<&unary<sqrt_row>>("sqrt", "self", "Square root of each entry."),
        op<&unary<abs_row>>("abs", "self", "Absolute value of each entry; its derivative at 0 is 0."),
        op<&unary<sigmoid_row>>("sigmoid", "self", "1 / (1 + e^-x) of each entry, without overflow."),
        op<&unary<tanh_row>>("tanh", "self", "Hyperbolic tangent of each entry."),
        op<&unary<relu_row>>("relu", "self", "max(x, 0) of each entry; NaN stays NaN. Its derivative at 0 is 0."),
        op<&unary<softplus_row>>("softplus", "self", "log(1 + e^x) of each entry, without overflow."),
        op<&binary<maximum_row>>(
            "maximum", "self, other",
            "The larger of two entries, with broadcasting. Equal entries get half of the derivative each."),
        op<&binary<minimum_row>>(
            "minimum", "self, other",
            "The smaller of two entries, with broadcasting. Equal entries get half of the derivative each."),
        op<&comparison<gt_row>>("gt", "self, other", "1 where self > other, else 0."),
        op<&comparison<ge_row>>("ge", "self, other", "1 where self >= other, else 0."),
        op<&lt_of>("lt", "self, other", "1 where self < other, else 0."),
        op<&le_of>("le", "self, other", "1 where self <= other, else 0."),
        op<&comparison<eq_row>>("eq", "self, other", "1 where self equals other, else 0."),
        op<&isnan_of>("isnan", "self", "1 where the entry is NaN, else 0."),
        op<&where_of>("where", "self, a, b", "Entries of a where self is not 0, of b elsewhere."),
    }};

extern const lua::OpTable elementwise_operators{
    lua::OpTable::metamethods,
    &lua::push_metatable<Tensor>,
    {
        op<&binary<add_row>>("__add", "a, b", "Sum, with broadcasting."),
        op<&binary<sub_row>>("__sub", "a, b", "Difference, with broadcasting."),
        op<&binary<mul_row>>("__mul", "a, b", "Product, with broadcasting."),
        op<&binary<div_row>>("__div", "a, b", "Quotient, with broadcasting."),
        op<&binary<pow_row>>("__pow", "a, b", "Power, with broadcasting."),
        op<&unary<neg_row>>("__unm", "a", "Negative of each entry."),
    }};

extern const lua::OpTable elementwise_functions{
    lua::OpTable::functions,
    nullptr,
    {op<&clamp_of>("clamp", "x, min?, max?",
                   "Limits each entry to [min, max]. The derivative is 0 outside and one half at an end.")}};

}  // namespace mr
