#include "kernels/tables/training.h"

#include "kernels/cuda/launch.cuh"

namespace mr {

MR_CUDA_TABLE(TrainingKernels, float)
MR_CUDA_TABLE(TrainingKernels, double)

}  // namespace mr
