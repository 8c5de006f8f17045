// Built instead of the CUDA sources in a program without CUDA. Every function that would need a GPU throws.
#include "kernels/bounds/rows.h"
#include "kernels/device/gpu.h"
#include "kernels/device/group_numbers.h"
#include "kernels/device/sort.h"
#include "kernels/losses/negatives/rows.h"
#include "kernels/losses/rows.h"
#include "kernels/models/interactions.h"
#include "kernels/models/rows.h"
#include "kernels/ranking/rows.h"
#include "kernels/smooth/rows.h"
#include "kernels/tensor/rows.h"

namespace mr {

MR_NO_CUDA_TABLE(MoveKernels, float)
MR_NO_CUDA_TABLE(MoveKernels, double)
MR_NO_CUDA_TABLE(MoveKernels, int64_t)
MR_NO_CUDA_TABLE(ArithmeticKernels, float)
MR_NO_CUDA_TABLE(ArithmeticKernels, double)
MR_NO_CUDA_TABLE(BoundKernels, float)
MR_NO_CUDA_TABLE(BoundKernels, double)
MR_NO_CUDA_TABLE(MetricKernels, float)
MR_NO_CUDA_TABLE(MetricKernels, double)
MR_NO_CUDA_TABLE(SmoothKernels, float)
MR_NO_CUDA_TABLE(SmoothKernels, double)
MR_NO_CUDA_TABLE(LambdaKernels, float)
MR_NO_CUDA_TABLE(LambdaKernels, double)
MR_NO_CUDA_TABLE(RowLossKernels, float)
MR_NO_CUDA_TABLE(RowLossKernels, double)
MR_NO_CUDA_TABLE(NegativesKernels, float)
MR_NO_CUDA_TABLE(NegativesKernels, double)
MR_NO_CUDA_TABLE(NetworkKernels, float)
MR_NO_CUDA_TABLE(NetworkKernels, double)
MR_NO_CUDA_TABLE(TrainingKernels, float)
MR_NO_CUDA_TABLE(TrainingKernels, double)
MR_NO_CUDA_TABLE(DeferredKernels, float)
MR_NO_CUDA_TABLE(DeferredKernels, double)

namespace cuda {
bool built() { return false; }
std::unique_ptr<Driver> open_driver(Gpu& /*gpu*/, std::string& reason) {
  reason = "this moonrank was built without CUDA";
  return nullptr;
}

void sort_pairs(int64_t, uint64_t*, int64_t*, int) { gpu().require_alive(); }
void exclusive_scan(int64_t, const int64_t*, int64_t*) { gpu().require_alive(); }
void write_interactions(const InteractionRows&) { gpu().require_alive(); }
void group_numbers(int64_t, const int64_t*, int64_t, const NumberGroups&) { gpu().require_alive(); }

}  // namespace cuda
}  // namespace mr
