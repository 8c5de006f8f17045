// The GPU as the runtime sees it, without a CUDA header: kernels/device/device.cu where CUDA is built in,
// kernels/device/none.cpp elsewhere.
#pragma once

#include <cstdint>
#include <memory>
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

/// Device memory in the order of the one stream, from the pool (kernels/device/memory_pool.h); throws std::bad_alloc
/// when there is none left.
void* allocate(int64_t bytes);
void release(void* data) noexcept;
/// Bytes that the pool keeps for the next requests.
int64_t kept_bytes();
void copy_to_device(void* to, const void* from, int64_t bytes);
/// Waits for everything before it.
void copy_to_host(void* to, const void* from, int64_t bytes);
void copy_on_device(void* to, const void* from, int64_t bytes);
void fill_zero(void* data, int64_t bytes);
/// Waits; an error found here names the operation that caused it.
void synchronize();
/// How often the host waited for what it had queued.
int64_t waits();

/// Work that was recorded instead of run, to be run in its order as often as wanted. The pool keeps the memory that it
/// uses.
class Capture {
 public:
  virtual ~Capture() = default;
  virtual void run() = 0;
};
/// From here on everything is recorded; what would have to wait throws.
void begin_capture();
/// Ends it; null where what was queued cannot be run again.
std::unique_ptr<Capture> end_capture();

/// Row-major c (m x n) = op(a) op(b), where op transposes if told to and k is the inner size.
void matmul(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const float* a, const float* b,
            float* c);
void matmul(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const double* a, const double* b,
            double* c);

}  // namespace mr::cuda
