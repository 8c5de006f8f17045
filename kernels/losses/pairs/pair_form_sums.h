// The CPU's loops over the pairs of one row, one loop for each cost of a pair (pair_forms.h), compiled once per
// instruction set.
#pragma once

#include <cstdint>

#include "kernels/core/simd/simd.h"
#include "kernels/losses/pairs/pair_forms.h"
#include "kernels/ranking/swaps.h"

namespace mr::cpu {

/// The costs of the pairs of one row, their slopes and their curvatures, each times the pair's weight and summed up.
struct PairFormSums {
  double value = 0, slope = 0, curvature = 0;
};

/// Sums up the pairs of a row i with scores s_j and weights w_j, at t_j = steepness (s_j - s_i). Adds w_j slope(t_j) to
/// slopes[j] and, unless `curvatures` is null, w_j curvature(t_j) to curvatures[j]. Scores may be infinite, but not
/// NaN. A pair with w_j = 0 adds nothing. n is a multiple of pair_padding.
template <class Form>
using PairFormSum = PairFormSums (*)(const Form& form, const double* s, const double* w, int64_t n, double s_i,
                                     double steepness, double* slopes, double* curvatures);

/// Arrays with an entry for each pair of a row i: the score s_j of the pair's other row, e_j = exp(steepness (s_j - c))
/// for any centre c, 1 / e_j, and the pair's weight.
struct ExponentialPairs {
  const double *scores, *exponentials, *inverses, *weights;
};

struct PairFormLoops {
#define MR_PAIR_FORM_LOOP(name, Form, ...) \
  PairFormSum<Form> name;                  \
  PairFormSum<Form> of(const Form&) const { return name; }
  MR_PAIR_FORMS(MR_PAIR_FORM_LOOP, MR_PAIR_FORM_LOOP)
#undef MR_PAIR_FORM_LOOP
  /// Like `ranknet` with curvatures, but exponentials of score differences are quotients of e_i = exp(steepness (s_i -
  /// c)) and e_j, which is faster. All e_i / e_j have to be normal numbers.
  PairFormSums (*curved_ranknet)(const ExponentialPairs& pairs, int64_t n, double s_i, double e_i, double steepness,
                                 double* slopes, double* curvatures);
  /// Replaces n numbers by their exponentials: portable::exp by vectors, with the same bits.
  void (*exponentials)(double* x, int64_t n);
  /// Computes the weights of a row's pairs: own times SumSwaps::Delta where the level of the other row is lower, else
  /// 0. `row` has the row's level and share, `levels` and `shares` those of the other rows. Returns the largest weight.
  /// n is a multiple of pair_padding.
  double (*sum_swap_weights)(const SwapRow& row, const double* levels, const double* shares, int64_t n, double own,
                             double* weights);
};

inline const PairFormLoops& pair_form_loops() { return chosen_loops<PairFormLoops>(); }

}  // namespace mr::cpu
