// Metrics among all items, estimated from the rank among sampled items (Krichene & Rendle 2020, Section 5). N items are
// not relevant, and m of them are sampled without replacement. If K of the N items are above the relevant item, then k
// of the m are with probability p(k|K) = C(K,k) C(N-K,m-k) / C(N,m). f(K) is the metric. Its estimates g(k) minimize,
// for K uniform on 0..N,
//   sum over K of (E[g|K] - f(K))^2 + gamma Var[g|K],
// so [(1 - gamma) A'A + gamma diag(c)] g = A'f with A = (p(k|K)). For uniform K both matrices have the same
// eigenvectors: the discrete Chebyshev polynomials v_d on 0..m, because p(k|K) and Bayes' rule map polynomials in k to
// polynomials in K of the same degree and back. Therefore
//   g = sum over d of v_d <v_d, h> / ((1 - gamma) q_d + gamma),
//   h(k) = E[f(K)|k],   q_d = product over i < d of (m-i) (N+2+i) / ((N-i) (m+2+i)).
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "kernels/core/threads.h"
#include "runtime/lua/bind.h"
#include "runtime/ops/argument_checks.h"

namespace mr {
namespace {

/// largest number of sampled items; with more, the largest binomial coefficient would overflow a double
constexpr int64_t most_sampled = 1000;

/// If gamma is 0, Chebyshev polynomials whose q_d is smaller than this are left out, because their coefficients would
/// only be rounding errors.
constexpr double least_q = 1e-10;

/// Returns E[f(K)|k]: the mean of the metric f over the possible ranks K among all items, given rank k among the
/// sampled ones. Weights of K are computed relative to the most likely K.
double mean_given(const double* f, int64_t n, int64_t m, int64_t k) {
  const int64_t first = k, last = n - m + k;
  const auto ratio = [&](int64_t at) {  // weight of K = at + 1 divided by the weight of K = at
    return static_cast<double>(at + 1) * static_cast<double>(last - at) /
           (static_cast<double>(at + 1 - k) * static_cast<double>(n - at));
  };
  const int64_t mode = m == 0 ? first : std::clamp(k * n / m, first, last);
  constexpr double negligible = 1e-20;
  double total = 1, sum = f[mode], weight = 1;
  for (int64_t at = mode; at < last; ++at) {
    weight *= ratio(at);
    total += weight;
    sum += weight * f[at + 1];
    if (weight < negligible * total) break;
  }
  weight = 1;
  for (int64_t at = mode; at > first; --at) {
    weight /= ratio(at - 1);
    total += weight;
    sum += weight * f[at - 1];
    if (weight < negligible * total) break;
  }
  return sum / total;
}

/// Returns the normalized discrete Chebyshev polynomial of degree d on 0..m. It is computed by its difference equation
/// from both ends, where it is smallest, to the middle.
std::vector<double> chebyshev(int64_t d, int64_t m) {
  std::vector<double> v(static_cast<size_t>(m) + 1, 1);
  const auto lambda = static_cast<double>(d * (d + 1));
  for (int64_t k = 0; 2 * k < m; ++k) {
    const auto up = static_cast<double>((k + 1) * (m - k)), down = static_cast<double>(k * (m + 1 - k));
    v[k + 1] = ((up + down - lambda) * v[k] - (k > 0 ? down * v[k - 1] : 0)) / up;
  }
  double largest = 0, squares = 0;
  for (int64_t k = 0; 2 * k <= m; ++k) {
    v[m - k] = d % 2 == 0 ? v[k] : -v[k];
    if (2 * k == m && d % 2 == 1) v[k] = 0;
    largest = std::max(largest, std::abs(v[k]));
  }
  for (double& x : v) {
    x /= largest;
    squares += x * x;
  }
  for (double& x : v) x /= std::sqrt(squares);
  return v;
}

/// Returns the estimated metric for each rank k = 0..m of the relevant item among m sampled items. `values` has the
/// metric for each rank K = 0..N among all items.
Tensor sampled_estimates(const Tensor& values, int64_t sampled, double gamma) {
  const int64_t n = values.entries() - 1, m = sampled;
  if (values.dtype() != Dtype::float64)
    throw ArgumentError("values", "has type " + std::string(name_of(values.dtype())) + ", expected float64");
  if (n < 0) throw ArgumentError("values", "is empty, expected the metric at each rank, from rank 0");
  if (m < 0 || m > std::min(n, most_sampled))
    throw ArgumentError("sampled", std::to_string(m) + ", expected 0 to " + std::to_string(std::min(n, most_sampled)));
  if (!(gamma >= 0 && gamma <= 1)) throw ArgumentError("gamma", number_text(gamma) + ", expected 0 to 1");
  const std::vector<double> f = values.to_vector<double>();
  std::vector<double> h(static_cast<size_t>(m) + 1), g(h.size(), 0);
  cpu::parallel_each(m + 1, 8, [&](int64_t k) { h[k] = mean_given(f.data(), n, m, k); });
  double q = 1;
  for (int64_t d = 0; d <= m; ++d) {
    cpu::check_interrupt();
    if (gamma == 0 && q < least_q) break;
    const std::vector<double> v = chebyshev(d, m);
    double product = 0;
    for (int64_t k = 0; k <= m; ++k) product += v[k] * h[k];
    const double coefficient = product / ((1 - gamma) * q + gamma);
    for (int64_t k = 0; k <= m; ++k) g[k] += coefficient * v[k];
    const auto i = static_cast<double>(d), all = static_cast<double>(n), few = static_cast<double>(m);
    if (d < m) q *= (few - i) * (all + 2 + i) / ((all - i) * (few + 2 + i));
  }
  return Tensor::from(g);
}

}  // namespace

extern const lua::OpTable sampled_rank_functions{
    lua::OpTable::functions,
    nullptr,
    {lua::op<&sampled_estimates>("sampled_estimates", "values, sampled, gamma",
                                 "Estimates of a metric among all items, for each number of sampled items above the "
                                 "relevant item. They minimize squared bias plus gamma times variance.")}};

}  // namespace mr
