// Code shared by losses that come with their derivative: one value per list and the derivative by
// every score are computed together, so that the backward pass only multiplies.
#pragma once

#include "runtime/ops/lists.h"

namespace mr {

/// Raises unless there is one score per row and none is NaN.
void check_scores(const char* operation, const Tensor& scores, const Lists& lists);

/// The value of a loss, and its derivative by the scores if that was requested.
struct LossAndSlope {
  Tensor value, derivative;

  /// Allocates value and derivative with the type and device of the scores.
  LossAndSlope(const Tensor& scores, const Lists& lists, bool with_derivative);

  template <class Real>
  Span<Real> slopes() const {
    return derivative.defined() ? derivative.span<Real>() : Span<Real>{};
  }
};

/// Multiplies the derivative of each list's value by `upstream`, the derivative by that value.
Tensor times_upstream(const Tensor& derivative, const Lists& lists, const Tensor& upstream);

/// Returns the value with a node for the backward pass, which multiplies the derivative.
Tensor recorded(const char* name, const Tensor& scores, const Lists& lists, const LossAndSlope& made);

}  // namespace mr
