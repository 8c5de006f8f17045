// Smooth ranking metrics of judged lists, one value per list.
#pragma once

#include "runtime/ops/lists.h"

namespace mr {

/// Returns the smallest relevance whose gain 2^y - 1 is above 0 in float64.
float any_gain();

/// The function of score differences that smooth ranks add up: sigmoid, or CDF of the Laplace distribution.
enum class SmoothKernel { logistic, laplace };

/// The form of smooth ranks: the function of score differences, and the factor of the differences inside it.
struct SmoothForm {
  SmoothForm(double a, SmoothKernel k = SmoothKernel::logistic) : steepness(a), kernel(k) {}
  double steepness;
  SmoothKernel kernel;
};

/// Smooth metrics, one value per list; differentiable in the scores.
Tensor smooth_ndcg(const Tensor& scores, const Lists& lists, const SmoothForm& form);
Tensor smooth_ap(const Tensor& scores, const Lists& lists, const SmoothForm& form, double relevant);
Tensor smooth_rr(const Tensor& scores, const Lists& lists, const SmoothForm& form, double relevant);
Tensor smooth_nrbp_loss(const Tensor& scores, const Lists& lists, const SmoothForm& form, double relevant);

}  // namespace mr
