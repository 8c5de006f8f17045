// Computes sigmoids of pairs of rows, and their derivatives k, from one exponential per row instead of one per pair.
// Row j with x_j (steepness times score) has e_j = exp(x_j - c), for any constant c. Then sigma(x_j - x_i) = e_j / (e_i
// + e_j) and k(x_j - x_i) = e_i e_j / (e_i + e_j)^2.
#pragma once

namespace mr {

/// Widest span of steepness times score in a list, for which sigmoids may be computed from one exponential e per row.
/// For a wider span, e, e_i e_j or (e_i + e_j)^2 could overflow or underflow.
template <class Real>
constexpr double ratio_span = sizeof(Real) == 4 ? 80 : 700;

}  // namespace mr
