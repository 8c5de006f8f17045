// Code shared by losses that come with their derivative: one value per list and the derivative by
// every score are computed together, so that the backward pass only multiplies.
#pragma once

#include "runtime/ops/lists.h"

namespace mr {

/// One score per row, none NaN.
void check_scores(const char* operation, const Tensor& scores, const Lists& lists);

/// The value, and beside it the derivative by the scores where that is asked for.
struct LossAndSlope {
  Tensor value, derivative;

  /// Room for both, as the scores are.
  LossAndSlope(const Tensor& scores, const Lists& lists, bool with_derivative);

  template <class Real>
  Span<Real> slopes() const {
    return derivative.defined() ? derivative.span<Real>() : Span<Real>{};
  }
};

/// The derivative of each list's value, times the derivative by that value.
Tensor times_upstream(const Tensor& derivative, const Lists& lists, const Tensor& upstream);

/// The value with a node that multiplies the derivative.
Tensor recorded(const char* name, const Tensor& scores, const Lists& lists, const LossAndSlope& made);

}  // namespace mr
