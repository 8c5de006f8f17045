// The CPU's loops over the pairs of one row, one loop for each cost of a pair (pair_forms.h), compiled once per
// instruction set.
#pragma once

#include <cstdint>

#include "kernels/core/simd.h"
#include "kernels/losses/pairs/pair_forms.h"

namespace mr::cpu {

/// Sums the pairs of a row i with scores s_j and weights w_j: with t_j = steepness (s_j - s_i), adds sum_j w_j
/// cost(t_j) to value and w_j slope(t_j) to slopes[j]. Returns sum_j w_j slope(t_j). Scores may be infinite, but not
/// NaN. A pair with w_j = 0 adds nothing. n is a multiple of pair_padding.
template <class Form>
using PairFormSum = double (*)(const Form& form, const double* s, const double* w, int64_t n, double s_i,
                               double steepness, double* slopes, double* value);

struct PairFormLoops {
#define MR_PAIR_FORM_LOOP(name, Form, ...) \
  PairFormSum<Form> name;                  \
  PairFormSum<Form> of(const Form&) const { return name; }
  MR_PAIR_FORMS(MR_PAIR_FORM_LOOP, MR_PAIR_FORM_LOOP)
#undef MR_PAIR_FORM_LOOP
};

inline const PairFormLoops& pair_form_loops() { return chosen_loops<PairFormLoops>(); }

}  // namespace mr::cpu
