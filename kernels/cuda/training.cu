#include "kernels/cuda/launch.cuh"
#include "kernels/tables/training.h"

namespace mr {

MR_CUDA_TABLE(TrainingKernels, float, no_overrides)
MR_CUDA_TABLE(TrainingKernels, double, no_overrides)

}  // namespace mr
