// Smooth RR's products on the CPU, F_i = prod over relevant j != i of sigma(a (s_i - s_j)), their logarithms, and the
// derivatives by the scores. smooth_rr.h has the reference forms.
//
// Problem: each of the P relevant rows of a list has a product over the P - 1 other relevant rows, P^2 factors in all.
// Idea: sorted by descending score, row r (from 0) has r factors of at most 1/2, so products fall quickly. Rows are
// visited by descending score until a product is negligible. The visited rows are the front; the products of all other
// rows count as 0. With exponentials e relative to the highest score, a product is 1 / prod_j (1 + e_j / e_i). Only
// near rows are needed: rows more than 350 / a below row i in score count as infinitely far below.
// Cost: O(P (m + log P)) for a front of m rows, because each part of 64, 128, 256, ... rows is selected in O(P). The
// last product of a front is above 2^-150 (float) or 2^-1022 (double), so m is at most 150 or 1022, and mostly far
// less. Logarithms do not underflow, so for them m is P if all scores are nearly equal.
// Negligible means F_i <= share F_0 sigma(a (s_1 - s_0)) / P, where rows 0 and 1 have the two highest scores and
// `share` is 2^-32 (float) or 2^-60 (double), or that F_i is below the least positive number of the type (for double,
// the least normal one).
// Error, without rounding and underflow: let T_i = F_i / R_i. The error of sum_i T_i is at most `share` times the sum.
// The error of each derivative is at most 3 a share T_0 sigma(a (s_1 - s_0)), which is a fraction of the contribution
// of the two highest rows. The dropped terms sum to less than share T_0 sigma(a (s_1 - s_0)), and they enter a
// derivative three times: through the rows above, through the row's own product, and through smooth ranks. Rows more
// than 350 / a below add at most P e^-350 T_0.
// Source: the sum is Li et al. 2021, Eq. 16; the bounds follow from the order of the products.
#pragma once

#include <cstdint>

#include "kernels/smooth/smooth_rr.h"

namespace mr::cpu {

template <class Real>
void smooth_rr_terms(int64_t count, const SmoothRrTerms<Real>& work);
template <class Real>
void smooth_log_rr(int64_t count, const SmoothLogRr<Real>& work);
template <class Real>
void smooth_rr_product_vjp(int64_t count, const SmoothRrProductVjp<Real>& work);

}  // namespace mr::cpu
