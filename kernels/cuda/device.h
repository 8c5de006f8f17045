// The GPU as the runtime sees it, without a CUDA header: kernels/cuda/device.cu where CUDA is built in, kernels/cuda/none.cpp elsewhere.
#pragma once

#include <cstdint>
#include <string>

namespace mr::cuda {

/// Whether the program was compiled with CUDA, whether a usable device is there, and why not ("" when it is).
bool built();
bool available();
/// How many GPUs this process may use; it computes on the first.
int devices();
const char* reason();
std::string device_name();
int64_t memory_bytes();
int64_t free_bytes();

/// Device memory in the order of the one stream; throws std::bad_alloc when there is none left.
void* allocate(int64_t bytes);
void release(void* data) noexcept;
void copy_to_device(void* to, const void* from, int64_t bytes);
/// Waits for everything before it.
void copy_to_host(void* to, const void* from, int64_t bytes);
void copy_on_device(void* to, const void* from, int64_t bytes);
void fill_zero(void* data, int64_t bytes);
/// Waits; an error found here names the operation that caused it.
void synchronize();

/// Row-major c (m x n) = op(a) op(b), where op transposes if told to and k is the inner size.
void matmul(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const float* a, const float* b, float* c);
void matmul(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const double* a, const double* b, double* c);

}  // namespace mr::cuda
