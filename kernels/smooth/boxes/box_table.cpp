// Chebyshev coefficients by sums over Chebyshev nodes in extended precision, with portable functions in double.
#include "kernels/smooth/boxes/box_table.h"

#include <numbers>
#include <vector>

#include "kernels/core/angles.h"
#include "kernels/core/extended.h"

namespace mr {
namespace {

Extended sigma_of(Extended t) {
  const Extended e = portable::exp(static_cast<double>(t < 0 ? t : -t));
  return (t >= 0 ? 1 : e) / (1 + e);
}

Extended derivative_of(Extended t) {
  const Extended e = portable::exp(static_cast<double>(t < 0 ? t : -t));
  return e / ((1 + e) * (1 + e));
}

/// Nodes of Chebyshev interpolation, u_a = cos(pi (a + 1/2) / p). The coefficient of T_m is the sum over nodes a of
/// weight[m][a] times the function's value at u_a, with weight[m][a] = c_m / p T_m(u_a), c_0 = 1, and c_m = 2 for m >
/// 0.
template <int p>
struct Nodes {
  Extended u[p], weight[p][p];

  Nodes() {
    for (int a = 0; a < p; ++a) {
      const double angle = std::numbers::pi * (a + 0.5) / p;
      u[a] = portable::cos(angle);
      for (int m = 0; m < p; ++m) weight[m][a] = (m == 0 ? 1 : 2) * static_cast<Extended>(portable::cos(m * angle)) / p;
    }
  }
};

/// Computes the Chebyshev coefficients of a kernel (a function of a score difference) between two boxes of scores: of
/// kernel(distance + width / 2 (u_source - u_target)), for positions u within the boxes in [-1, 1].
template <class Real, int p>
void fill_block(const Nodes<p>& nodes, Extended (*kernel)(Extended), double distance, Real* block) {
  constexpr Extended half = BoxShape<Real>::width / 2;
  Extended by_source[p][p] = {};  // sums over the Chebyshev nodes of the source: [coefficient m][node of the target]
  for (int a = 0; a < p; ++a) {
    for (int b = 0; b < p; ++b) {
      const Extended value = kernel(distance + half * (nodes.u[a] - nodes.u[b]));
      for (int m = 0; m < p; ++m) by_source[m][b] += nodes.weight[m][a] * value;
    }
  }
  for (int m = 0; m < p; ++m) {
    for (int n = 0; n < p; ++n) {
      Extended sum = 0;
      for (int b = 0; b < p; ++b) sum += nodes.weight[n][b] * by_source[m][b];
      block[m * BoxShape<Real>::padded + n] = static_cast<Real>(sum);
    }
  }
}

template <class Real>
std::vector<Real> make_table(Extended (*kernel)(Extended)) {
  using Shape = BoxShape<Real>;
  const Nodes<Shape::terms> nodes;
  const int64_t block = BoxTable<Real>::block;
  std::vector<Real> table(static_cast<size_t>((2 * Shape::max_reach + 1) * block));
  for (int apart = -Shape::max_reach; apart <= Shape::max_reach; ++apart) {
    fill_block(nodes, kernel, apart * Shape::width, table.data() + (apart + Shape::max_reach) * block);
  }
  return table;
}

}  // namespace

template <class Real>
const Real* BoxTable<Real>::of(Kernel kernel) {
  static const std::vector<Real> tables[] = {make_table<Real>(&sigma_of), make_table<Real>(&derivative_of)};
  return tables[kernel].data() + BoxShape<Real>::max_reach * block;
}
template class BoxTable<float>;
template class BoxTable<double>;

}  // namespace mr
