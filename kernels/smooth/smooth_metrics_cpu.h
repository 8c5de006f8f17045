// Faster forms of kernels of smooth_metrics.h and smooth_rr.h on the CPU: logarithms by vectors, products without
// exponentials.
#pragma once

#include "kernels/smooth/smooth_metrics.h"
#include "kernels/smooth/smooth_rr.h"

namespace mr::cpu {

template <class Real>
void smooth_ndcg(int64_t count, const SmoothNdcg<Real>& work);
template <class Real>
void smooth_rr_terms(int64_t count, const SmoothRrTerms<Real>& work);
template <class Real>
void smooth_rr_product_vjp(int64_t count, const SmoothRrProductVjp<Real>& work);

}  // namespace mr::cpu
