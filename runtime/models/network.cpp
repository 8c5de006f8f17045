// Attention within lists, layer normalisation and dropout, for networks in which a row's score depends on the other
// rows.
#include "kernels/models/rows.h"
#include "runtime/autograd/node.h"
#include "runtime/ops/argument_checks.h"
#include "runtime/ops/geometry.h"
#include "runtime/ops/lists.h"

namespace mr {
namespace {

void check_attention(const Lists& lists, const Tensor& q, const Tensor& k, const Tensor& v, int64_t heads) {
  check::floating("q", q);
  if (q.dims() != 2 || q.size(0) != lists.rows()) {
    throw ArgumentError("q", "it has shape " + q.shape().text() + ", expected a matrix with one row for each of the " +
                                 std::to_string(lists.rows()) + " rows of the lists");
  }
  const auto like_q = [&](const char* name, const Tensor& x) {
    check::same_kind(name, x, "q", q);
    check::same_shape(name, x, "q", q);
  };
  like_q("k", k);
  like_q("v", v);
  if (heads < 1 || q.size(1) == 0 || q.size(1) % heads != 0) {
    throw ArgumentError(
        "heads", std::to_string(heads) + ", expected a divisor of the " + std::to_string(q.size(1)) + " columns of q");
  }
}

template <class Real>
AttentionInputs<Real> inputs(const Tensor& q, const Tensor& k, const Tensor& v, const Lists& lists, int64_t heads) {
  return {.q = q.span<const Real>(),
          .k = k.span<const Real>(),
          .v = v.span<const Real>(),
          .lists = lists.view(q.device()),
          .heads = heads,
          .columns = q.size(1) / heads};
}

Tensor attention(const Lists& lists, const Tensor& q, const Tensor& k, const Tensor& v, std::optional<int64_t> given) {
  const int64_t heads = given.value_or(1);
  check_attention(lists, q, k, v, heads);
  Tensor out = Tensor::empty(q.shape(), q.dtype(), q.device());
  Tensor log_sums = Tensor::empty({lists.rows(), heads}, q.dtype(), q.device());
  with_real(q.dtype(), [&]<class Real>() {
    kernels<NetworkKernels<Real>>(q.device())
        .attention(
            lists.count() * heads,
            {.in = inputs<Real>(q, k, v, lists, heads), .out = out.span<Real>(), .log_sums = log_sums.span<Real>()});
  });
  const auto vjp = [lists, heads, q = q.data(), k = k.data(), v = v.data(), out,
                    log_sums](const Tensor& g) -> Gradients {
    const Tensor by_q = Tensor::empty(q.shape(), q.dtype(), q.device());
    const Tensor by_k = Tensor::empty(q.shape(), q.dtype(), q.device());
    const Tensor by_v = Tensor::empty(q.shape(), q.dtype(), q.device());
    with_real(q.dtype(), [&]<class Real>() {
      kernels<NetworkKernels<Real>>(q.device())
          .attention_vjp(lists.count() * heads, {.in = inputs<Real>(q, k, v, lists, heads),
                                                 .out = out.span<const Real>(),
                                                 .log_sums = log_sums.span<const Real>(),
                                                 .upstream = g.span<const Real>(),
                                                 .by_q = by_q.span<Real>(),
                                                 .by_k = by_k.span<Real>(),
                                                 .by_v = by_v.span<Real>()});
    });
    return {by_q, by_k, by_v};
  };
  return record("lists:attention", out, {q, k, v}, vjp);
}

void check_layer_norm(const Tensor& x, const Tensor& gain, const Tensor& bias, double epsilon) {
  check::floating("self", x);
  const int64_t width = x.dims() < 2 ? 0 : x.size(x.dims() - 1);
  if (width == 0) {
    throw ArgumentError("self",
                        "the tensor has shape " + x.shape().text() + ", expected a matrix with at least one column");
  }
  const auto per_column = [&](const char* name, const Tensor& of) {
    check::same_kind(name, of, "self", x);
    if (of.entries() != width) {
      throw ArgumentError(name, std::to_string(of.entries()) + " entries, expected one for each of " +
                                    std::to_string(width) + " columns");
    }
  };
  per_column("gain", gain);
  per_column("bias", bias);
  check::positive("epsilon", epsilon);
}

int64_t pieces_of(int64_t rows) {
  return (rows + LayerNormSums<float>::rows_per_piece - 1) / LayerNormSums<float>::rows_per_piece;
}

Tensor layer_norm(const Tensor& x, const Tensor& gain, const Tensor& bias, std::optional<double> given) {
  const double epsilon = given.value_or(1e-5);
  check_layer_norm(x, gain, bias, epsilon);
  const int64_t width = x.size(x.dims() - 1), rows = x.entries() / width;
  Tensor out = Tensor::empty(x.shape(), x.dtype(), x.device());
  const Tensor mean = Tensor::empty({rows}, x.dtype(), x.device());
  const Tensor inverse = Tensor::empty({rows}, x.dtype(), x.device());
  with_real(x.dtype(), [&]<class Real>() {
    kernels<NetworkKernels<Real>>(x.device())
        .layer_norm(rows, {.x = x.span<const Real>(),
                           .gain = gain.span<const Real>(),
                           .bias = bias.span<const Real>(),
                           .width = width,
                           .epsilon = epsilon,
                           .y = out.span<Real>(),
                           .mean = mean.span<Real>(),
                           .inverse = inverse.span<Real>()});
  });
  const auto vjp = [x = x.data(), gain = gain.data(), bias_shape = bias.shape(), mean, inverse, rows,
                    width](const Tensor& g) -> Gradients {
    const Tensor by_x = Tensor::empty(x.shape(), x.dtype(), x.device());
    const int64_t pieces = pieces_of(rows);
    const Tensor by_gain = Tensor::empty({pieces, width}, x.dtype(), x.device());
    const Tensor by_bias = Tensor::empty({pieces, width}, x.dtype(), x.device());
    with_real(x.dtype(), [&]<class Real>() {
      const auto& of = kernels<NetworkKernels<Real>>(x.device());
      const LayerNormViews<Real> views{.x = x.span<const Real>(),
                                       .gain = gain.span<const Real>(),
                                       .mean = mean.span<const Real>(),
                                       .inverse = inverse.span<const Real>(),
                                       .upstream = g.span<const Real>(),
                                       .width = width};
      of.layer_norm_vjp(rows, {views, by_x.span<Real>()});
      of.layer_norm_sums(pieces, {views, by_gain.span<Real>(), by_bias.span<Real>()});
    });
    return {by_x, sum_to(by_gain, {width}).viewed(gain.shape()), sum_to(by_bias, {width}).viewed(bias_shape)};
  };
  return record("layer_norm", out, {x, gain, bias}, vjp);
}

Tensor dropped(const Tensor& x, RandomKey key, double rate) {
  Tensor out = Tensor::empty(x.shape(), x.dtype(), x.device());
  with_real(x.dtype(), [&]<class Real>() {
    kernels<NetworkKernels<Real>>(x.device())
        .dropout((x.entries() + 3) / 4, {.x = x.span<const Real>(), .key = key, .rate = rate, .out = out.span<Real>()});
  });
  return out;
}

Tensor dropout(const Tensor& x, double rate, int64_t seed, const std::string& stream) {
  check::floating("self", x);
  if (!(rate >= 0 && rate < 1))
    throw ArgumentError("rate", number_text(rate) + ", expected a number of at least 0 and below 1");
  if (rate == 0) return x;
  const RandomKey key = random_key(static_cast<uint64_t>(seed), stream.c_str());
  return record("dropout", dropped(x, key, rate), {x},
                [key, rate](const Tensor& g) -> Gradients { return {dropped(g, key, rate)}; });
}

}  // namespace

using lua::op;
extern const lua::OpTable attention_methods{
    lua::OpTable::methods,
    &lua::push_metatable<Lists>,
    {op<&attention>("attention", "self, q, k, v, heads?",
                    "Softmax attention (Vaswani et al. 2017, Eq. 1) within each list. q, k and v are matrices with one "
                    "row per row of the lists; their columns are divided among the heads (default 1).")}};
extern const lua::OpTable network_methods{
    lua::OpTable::methods,
    &lua::push_metatable<Tensor>,
    {op<&layer_norm>(
         "layer_norm", "self, gain, bias, epsilon?",
         "Normalises the rows of a matrix (with more dimensions: along the last) to mean 0 and variance 1, multiplies "
         "by gain and adds bias (Ba et al. 2016). epsilon (default 1e-5) is added to the variance."),
     op<&dropout>("dropout", "self, rate, seed, stream",
                  "Sets entries to 0 with probability `rate` and divides the others by 1 - rate. The choice depends on "
                  "seed and stream only.")}};

}  // namespace mr
