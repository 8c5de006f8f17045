// The CPU's smooth nDCG with vectorized logarithms.
#pragma once

#include "kernels/smooth/smooth_metrics.h"

namespace mr::cpu {

template <class Real>
void smooth_ndcg(int64_t count, const SmoothNdcg<Real>& work);

}  // namespace mr::cpu
