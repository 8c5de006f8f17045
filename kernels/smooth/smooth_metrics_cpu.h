// Faster forms of the kernels of smooth_metrics.h on the CPU: logarithms by vectors, products without exponentials.
#pragma once

#include "kernels/smooth/smooth_metrics.h"

namespace mr::cpu {

template <class Real>
void smooth_ndcg(int64_t count, const SmoothNdcg<Real>& work);
template <class Real>
void smooth_rr_terms(int64_t count, const SmoothRrTerms<Real>& work);
template <class Real>
void smooth_rr_product_vjp(int64_t count, const SmoothRrProductVjp<Real>& work);

}  // namespace mr::cpu
