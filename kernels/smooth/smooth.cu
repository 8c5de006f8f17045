#include "kernels/device/launch.cuh"
#include "kernels/smooth/boxes/box_ranks.cuh"
#include "kernels/smooth/rows.h"

namespace mr {
namespace cuda {
namespace {

template <class Real>
void with_fast_forms(SmoothKernels<Real>& table) {
  table.smooth_rank = [](int64_t count, const SmoothRank<Real>& work) { smooth_rank(count, work, box_pairs); };
  table.smooth_rank_vjp = [](int64_t count, const SmoothRankVjp<Real>& work) {
    smooth_rank_vjp(count, work, box_pairs);
  };
}

}  // namespace
}  // namespace cuda

MR_CUDA_TABLE(SmoothKernels, float, cuda::with_fast_forms)
MR_CUDA_TABLE(SmoothKernels, double, cuda::with_fast_forms)

}  // namespace mr
