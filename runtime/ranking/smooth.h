// Smooth ranking metrics of judged lists, one value per list.
#pragma once

#include "runtime/ops/lists.h"

namespace mr {

/// The smallest relevance whose gain 2^y - 1 is above 0 in float64.
float any_gain();

/// Smooth metrics, one value per list; differentiable in the scores. `steepness` is the factor inside the sigmoid.
Tensor smooth_ndcg(const Tensor& scores, const Lists& lists, double steepness);
Tensor smooth_ap(const Tensor& scores, const Lists& lists, double steepness, double relevant);
Tensor smooth_rr(const Tensor& scores, const Lists& lists, double steepness, double relevant);
Tensor smooth_nrbp_loss(const Tensor& scores, const Lists& lists, double steepness, double relevant);

}  // namespace mr
