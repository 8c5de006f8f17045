#include "kernels/ranking/order.cuh"
#include "kernels/ranking/rows.h"

namespace mr {
namespace cuda {
namespace {

template <class Real>
void with_fast_forms(MetricKernels<Real>& table) {
  table.place = &place<Real>;
}

}  // namespace
}  // namespace cuda

MR_CUDA_TABLE(MetricKernels, float, cuda::with_fast_forms)
MR_CUDA_TABLE(MetricKernels, double, cuda::with_fast_forms)

}  // namespace mr
