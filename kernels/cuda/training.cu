#include "kernels/cuda/launch.cuh"
#include "kernels/tables/training.h"

namespace mr {

MR_CUDA_TABLE(TrainingKernels, float)
MR_CUDA_TABLE(TrainingKernels, double)

}  // namespace mr
