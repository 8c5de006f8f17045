// Variances and standard deviations over all entries or along a dimension.
#include "runtime/autograd/node.h"
#include "runtime/lua/bind.h"
#include "runtime/ops/argument_checks.h"
#include "runtime/ops/functions.h"

namespace mr {
namespace {

/// Intermediate results of a variance: differences from the mean, the variance, its shape with the reduced dimension of
/// size 1 (`kept`, to broadcast it to x), and the divisor.
struct Moments {
  Tensor differences, variance;
  Shape kept;
  double divisor;
};

Moments moments(const Tensor& given, std::optional<int64_t> dim, std::optional<double> given_correction) {
  check::floating("self", given);
  const Tensor x = given.data();
  const double correction = given_correction.value_or(1);
  check::finite("correction", correction);
  Shape kept;
  if (dim) {
    kept = x.shape();
    kept.set(check::dimension("dim", x, *dim), 1);
  }
  const int64_t n = dim ? x.size(static_cast<int>(*dim) - 1) : x.entries();
  const double divisor = static_cast<double>(n) - correction;
  if (!(divisor > 0)) {
    char text[160];
    std::snprintf(text, sizeof text,
                  "has %lld entries, expected more than %g, because the variance divides by their number minus %g",
                  static_cast<long long>(n), correction, correction);
    throw ArgumentError("self", text);
  }
  const Tensor differences = ops::sub(x, ops::mean(x, dim).viewed(kept));
  return {differences, ops::div(ops::sum(ops::mul(differences, differences), dim), divisor), kept, divisor};
}

Tensor var_of(const Tensor& x, std::optional<int64_t> dim, std::optional<double> correction) {
  const Moments m = moments(x, dim, correction);
  return record("var", m.variance, {x}, [m](const Tensor& g) -> Gradients {
    return {ops::mul(m.differences, ops::mul(g, 2 / m.divisor).viewed(m.kept))};
  });
}

Tensor std_of(const Tensor& x, std::optional<int64_t> dim, std::optional<double> correction) {
  const Moments m = moments(x, dim, correction);
  const Tensor out = ops::sqrt(m.variance);
  return record("std", out, {x}, [m, out](const Tensor& g) -> Gradients {
    const Tensor scale = ops::where(out, ops::div(g, ops::mul(out, m.divisor)), 0.0);
    return {ops::mul(m.differences, scale.viewed(m.kept))};
  });
}

}  // namespace

using lua::op;
extern const lua::OpTable moment_methods{
    lua::OpTable::methods,
    &lua::push_metatable<Tensor>,
    {
        op<&var_of>("var", "self, dim?, correction?",
                    "Variance of all entries or along a dimension: the sum of squared differences from the mean, "
                    "divided by (number of entries - correction). The default correction is 1."),
        op<&std_of>("std", "self, dim?, correction?",
                    "Standard deviation, the square root of `var`. If it is 0, its derivative is 0."),
    }};

}  // namespace mr
