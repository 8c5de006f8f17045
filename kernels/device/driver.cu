// The CUDA driver, except recordings (capture.cpp) and matrix products (matmul.cpp).
#include <algorithm>
#include <cstring>
#include <new>

#include "kernels/device/cuda_driver.h"
#include "kernels/device/cuda_try.h"

namespace mr::cuda {
namespace {

__global__ void probe() {}

size_t bytes_of(int64_t n) { return static_cast<size_t>(n); }

}  // namespace

bool built() { return true; }

std::unique_ptr<Driver> open_driver(Gpu& gpu, std::string& reason) {
  int count = 0;
  cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaSuccess && count == 0) error = cudaErrorNoDevice;
  if (error != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    reason = std::string("no CUDA device: ") + cudaGetErrorString(error);
    return nullptr;
  }
  cudaDeviceProp properties{};
  cudaFuncAttributes attributes{};
  cudaStream_t stream = nullptr;
  error = cudaSetDevice(0);
  if (error == cudaSuccess) error = cudaGetDeviceProperties(&properties, 0);
  if (error == cudaSuccess) error = cudaFuncGetAttributes(&attributes, probe);
  if (error == cudaSuccess) error = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  const std::string name = properties.name;
  if (error != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    reason = "the CUDA device " + name + " cannot be used: " + cudaGetErrorString(error);
    return nullptr;
  }
  return std::make_unique<CudaDriver>(gpu, Driver::About{name, count, std::max(1, properties.multiProcessorCount)},
                                      Handle<cudaStream_t>(stream));
}

cudaStream_t stream(const Gpu& gpu) { return static_cast<const CudaDriver&>(gpu.driver()).stream(); }

void check(Gpu& gpu, cudaError_t error, const char* expression, const char* file, int line) {
  if (error == cudaSuccess) return;
  if (error == cudaErrorMemoryAllocation) {
    static_cast<void>(cudaGetLastError());
    throw std::bad_alloc();
  }
  gpu.fail(cudaGetErrorString(error), expression, file, line);
}

void check(Gpu& gpu, cublasStatus_t status, const char* expression, const char* file, int line) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  if (status == CUBLAS_STATUS_ALLOC_FAILED) throw std::bad_alloc();
  gpu.fail(text_of(status), expression, file, line);
}

HostBytes host_bytes(Gpu& gpu, int64_t bytes) {
  void* made = nullptr;
  CUDA_TRY(gpu, cudaMallocHost(&made, bytes_of(bytes)));
  return HostBytes(static_cast<char*>(made));
}

int64_t Staging::upload(Gpu& gpu, char* to, const char* from, int64_t bytes) {
  const std::lock_guard lock(mutex_);
  prepare(gpu);
  const cudaStream_t on = stream(gpu);
  int64_t waits = 0;
  for (int64_t done = 0; done < bytes;) {
    const StagingPlaces::Place place = places_.next(bytes - done);
    if (place.left >= 0) CUDA_TRY(gpu, cudaEventRecord(free_[place.left].get(), on));
    if (place.entered >= 0) waits += wait_for(gpu, free_[place.entered].get());
    char* const stop = memory_.get() + place.at;
    std::memcpy(stop, from + done, bytes_of(place.bytes));
    CUDA_TRY(gpu, cudaMemcpyAsync(to + done, stop, bytes_of(place.bytes), cudaMemcpyHostToDevice, on));
    done += place.bytes;
  }
  return waits;
}

int Staging::wait_for(Gpu& gpu, cudaEvent_t event) {
  const cudaError_t state = cudaEventQuery(event);
  if (state == cudaSuccess) return 0;
  if (state != cudaErrorNotReady) CUDA_TRY(gpu, state);
  static_cast<void>(cudaGetLastError());
  CUDA_TRY(gpu, cudaEventSynchronize(event));
  return 1;
}

void Staging::prepare(Gpu& gpu) {
  if (memory_ != nullptr) return;
  for (Handle<cudaEvent_t>& event : free_) {
    if (event != nullptr) continue;
    cudaEvent_t made = nullptr;
    CUDA_TRY(gpu, cudaEventCreateWithFlags(&made, cudaEventDisableTiming));
    event.reset(made);
  }
  memory_ = host_bytes(gpu, StagingPlaces::all_bytes);
}

void* CudaDriver::take(int64_t bytes) {
  void* data = nullptr;
  const cudaError_t error = cudaMalloc(&data, bytes_of(bytes));
  if (error == cudaErrorMemoryAllocation) {
    static_cast<void>(cudaGetLastError());
    return nullptr;
  }
  CUDA_TRY(gpu_, error);
  return data;
}

/// An error of cudaFree is ignored, because it belongs to a kernel that was launched earlier: the next CUDA call that
/// may throw reports it.
void CudaDriver::give_back(void* data) noexcept { static_cast<void>(cudaFree(data)); }

int64_t CudaDriver::upload(void* to, const void* from, int64_t bytes) {
  return staging_.upload(gpu_, static_cast<char*>(to), static_cast<const char*>(from), bytes);
}

void CudaDriver::download(void* to, const void* from, int64_t bytes) {
  CUDA_TRY(gpu_, cudaMemcpyAsync(to, from, bytes_of(bytes), cudaMemcpyDeviceToHost, stream()));
}

void CudaDriver::copy(void* to, const void* from, int64_t bytes) {
  CUDA_TRY(gpu_, cudaMemcpyAsync(to, from, bytes_of(bytes), cudaMemcpyDeviceToDevice, stream()));
}

void CudaDriver::fill_zero(void* data, int64_t bytes) {
  CUDA_TRY(gpu_, cudaMemsetAsync(data, 0, bytes_of(bytes), stream()));
}

void CudaDriver::wait() { CUDA_TRY(gpu_, cudaStreamSynchronize(stream())); }

bool CudaDriver::queue_works() {
  static_cast<void>(cudaGetLastError());
  const cudaError_t state = cudaStreamQuery(stream());
  return state == cudaSuccess || state == cudaErrorNotReady;
}

bool CudaDriver::recording_works() {
  static_cast<void>(cudaGetLastError());
  cudaStreamCaptureStatus status{};
  return cudaStreamIsCapturing(stream(), &status) == cudaSuccess;
}

}  // namespace mr::cuda
