// Code shared by losses that come with their derivative: one value per list and the derivative by
// every score are computed together, so that the backward pass only multiplies.
#pragma once

#include "runtime/ops/lists.h"

namespace mr {

/// Raises unless `scores` has one score per row of the lists and none is NaN.
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

/// Returns the derivatives by the scores, each multiplied by the upstream gradient of its list's value (one number per
/// list).
Tensor times_upstream(const Tensor& derivative, const Lists& lists, const Tensor& upstream);

/// Returns the loss values with an autograd node: its backward pass multiplies the stored derivative by the upstream
/// gradient.
Tensor recorded(const char* name, const Tensor& scores, const Lists& lists, const LossAndSlope& made);

}  // namespace mr
