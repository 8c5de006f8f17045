// Built instead of the CUDA sources: there is no GPU, and everything that would need one says so.
#include <stdexcept>

#include "kernels/bounds/rows.h"
#include "kernels/device/device.h"
#include "kernels/device/sort.h"
#include "kernels/losses/rows.h"
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
MR_NO_CUDA_TABLE(NetworkKernels, float)
MR_NO_CUDA_TABLE(NetworkKernels, double)
MR_NO_CUDA_TABLE(TrainingKernels, float)
MR_NO_CUDA_TABLE(TrainingKernels, double)
MR_NO_CUDA_TABLE(DeferredKernels, float)
MR_NO_CUDA_TABLE(DeferredKernels, double)

namespace cuda {
namespace {
[[noreturn]] void missing() { throw std::runtime_error("this moonrank was built without CUDA"); }
}  // namespace

bool built() { return false; }
bool available() { return false; }
int devices() { return 0; }
const char* reason() { return "this moonrank was built without CUDA"; }
std::string device_name() { missing(); }
int64_t memory_bytes() { missing(); }
int64_t free_bytes() { missing(); }
void* allocate(int64_t) { missing(); }
void release(void*) noexcept {}
int64_t kept_bytes() { return 0; }
void copy_to_device(void*, const void*, int64_t) { missing(); }
void copy_to_host(void*, const void*, int64_t) { missing(); }
void copy_on_device(void*, const void*, int64_t) { missing(); }
void fill_zero(void*, int64_t) { missing(); }
void synchronize() { missing(); }
void sort_pairs(int64_t, uint64_t*, int64_t*, int) { missing(); }
void exclusive_scan(int64_t, const int64_t*, int64_t*) { missing(); }
int64_t waits() { return 0; }
void begin_capture() { missing(); }
std::unique_ptr<Capture> end_capture() { missing(); }
void matmul(bool, bool, int64_t, int64_t, int64_t, const float*, const float*, float*) { missing(); }
void matmul(bool, bool, int64_t, int64_t, int64_t, const double*, const double*, double*) { missing(); }

}  // namespace cuda
}  // namespace mr
