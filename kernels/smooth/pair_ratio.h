// Sigmoids of pairs and their derivatives k from one exponential per row, on CPU and GPU. With e_j = exp(x_j - c) for
// any c, sigma(x_j - x_i) = e_j / (e_i + e_j) and k(x_j - x_i) = e_i e_j / (e_i + e_j)^2.
#pragma once

namespace mr {

/// widest span of a list's scores times steepness for which e, e_i e_j and (e_i + e_j)^2 are normal numbers
template <class Real>
constexpr double ratio_span = sizeof(Real) == 4 ? 80 : 700;

}  // namespace mr
