// Smooth RR's products on the CPU, F_i = prod over relevant j != i of sigma(a (s_i - s_j)), their logarithms, and the
// derivative by the scores. smooth_rr.h has the plain forms.
//
// Problem: each of the P relevant rows of a list has a product over the P - 1 others, P^2 factors in all.
// Idea: the row of place r by descending score (from 0) has r factors of at most 1/2, and products fall from place to
// place. Rows are therefore visited from the highest score on until a product is negligible; the rows before it are the
// front, and the products of all others count as 0. Exponentials e relative to the highest score make a product 1 over
// prod_j (1 + e_j / e_i), and need only rows near it: those more than 350 below (a s) count as infinitely far below.
// Cost: rows are visited in parts of 64, 128, 256, ... rows, each of which is selected in O(P); for a front of m rows
// that is O(P (m + log P)). The last row of a front has a product above 2^-150 (float) or 2^-1022 (double), so that m
// is at most 150 or 1022, mostly far less. A logarithm has no least number: there m is P where all scores are nearly
// equal. Negligible is F_i <= share F_0 sigma(a (s_1 - s_0)) / P, where 0 and 1 have the two highest scores and `share`
// is 2^-32 (float) or 2^-60 (double); and what is below the least number of the type, for double the least normal one.
// Error, but for rounding and least numbers: with T_i = F_i / R_i, of sum_i T_i at most share times it; of each
// derivative at most 3 a share T_0 sigma(a (s_1 - s_0)), a share of what the pair of the two highest rows alone adds to
// it. For terms that are dropped add up to less than share T_0 sigma(a (s_1 - s_0)), and are in a derivative once
// through rows above, once (P - 1 times one of them) through the own product, and once through smooth ranks. Rows 350
// below add P e^-350 T_0.
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
