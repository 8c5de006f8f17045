#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/pairs.cuh"
#include "kernels/tables/smooth.h"

namespace mr {
namespace cuda {
namespace {

template <class Real>
void with_fast_forms(SmoothKernels<Real>& table) {
  table.smooth_rank = &ranks_by_pairs<Real>;
  table.smooth_rank_vjp = &vjp_by_pairs<Real>;
}

}  // namespace
}  // namespace cuda

MR_CUDA_TABLE(SmoothKernels, float, cuda::with_fast_forms)
MR_CUDA_TABLE(SmoothKernels, double, cuda::with_fast_forms)

}  // namespace mr
