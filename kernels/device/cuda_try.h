// Error checks of CUDA calls. CUDA_TRY makes a call for a GPU; if the call fails, the error names it. An error that
// breaks the context for good ("sticky") marks the GPU as lost: later calls fail at once with the first cause, while
// tensors on the CPU keep working.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include "kernels/device/gpu.h"

namespace mr::cuda {

/// Throws if `error` is not success: std::bad_alloc if memory ran out, else the exception of Gpu::fail, which names
/// the call (`expression`) and its source location.
void check(Gpu& gpu, cudaError_t error, const char* expression, const char* file, int line);
void check(Gpu& gpu, cublasStatus_t status, const char* expression, const char* file, int line);

const char* text_of(cublasStatus_t status);

cudaStream_t stream(const Gpu& gpu);

}  // namespace mr::cuda

#define CUDA_TRY(gpu, expression) \
  ((gpu).require_alive(), ::mr::cuda::check((gpu), (expression), #expression, __FILE__, __LINE__))
