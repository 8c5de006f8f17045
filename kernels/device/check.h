// Every call into CUDA goes through CUDA_TRY or CUBLAS_TRY, so that a failure says which call it was. An error that
// breaks the context for good ("sticky") marks the device as lost: later calls fail at once with the first cause, while
// tensors on the CPU keep working.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

namespace mr::cuda {

/// Throws the first cause if the device is lost.
void require_alive();
/// Throw std::bad_alloc for lack of memory, else std::runtime_error with the expression, its place and, for errors that
/// are found late, the kernels that may have caused them.
void check(cudaError_t error, const char* expression, const char* file, int line);
void check(cublasStatus_t status, const char* expression, const char* file, int line);
/// What cuBLAS calls it.
const char* text_of(cublasStatus_t status);

/// The one stream; made on first use. Throws where no device is available.
cudaStream_t stream();
int multiprocessors();
/// Notes that a kernel is about to be launched; `type` is the name of the functor's type, with static lifetime.
void note_launch(const char* type);

}  // namespace mr::cuda

#define CUDA_TRY(expression) \
  (::mr::cuda::require_alive(), ::mr::cuda::check((expression), #expression, __FILE__, __LINE__))
#define CUBLAS_TRY(expression) CUDA_TRY(expression)
