// The CUDA implementation of Driver. It owns the CUDA objects that it creates.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <type_traits>
#include <vector>

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include "kernels/device/driver.h"
#include "kernels/device/staging.h"

namespace mr::cuda {

/// Destroys CUDA objects. An error of these calls is ignored, because it belongs to work queued earlier: the next CUDA
/// call that may throw reports it.
struct Destroy {
  void operator()(cudaStream_t stream) const { static_cast<void>(cudaStreamDestroy(stream)); }
  void operator()(cudaEvent_t event) const { static_cast<void>(cudaEventDestroy(event)); }
  void operator()(cudaGraph_t graph) const { static_cast<void>(cudaGraphDestroy(graph)); }
  void operator()(cudaGraphExec_t graph) const { static_cast<void>(cudaGraphExecDestroy(graph)); }
  void operator()(cublasHandle_t blas) const;
};
template <class Pointer>
using Handle = std::unique_ptr<std::remove_pointer_t<Pointer>, Destroy>;

struct FreeHost {
  void operator()(char* data) const { static_cast<void>(cudaFreeHost(data)); }
};
using HostBytes = std::unique_ptr<char, FreeHost>;
HostBytes host_bytes(Gpu& gpu, int64_t bytes);

struct FreeDevice {
  void operator()(char* data) const { static_cast<void>(cudaFree(data)); }
};
using DeviceBytes = std::unique_ptr<char, FreeDevice>;

/// Page-locked memory for uploads, with events that tell when its pieces are free again.
class Staging {
 public:
  /// Queues an upload, and returns how many times the upload had to wait for free page-locked memory.
  int64_t upload(Gpu& gpu, char* to, const char* from, int64_t bytes);

 private:
  static int wait_for(Gpu& gpu, cudaEvent_t event);
  void prepare(Gpu& gpu);

  std::mutex mutex_;
  std::array<Handle<cudaEvent_t>, StagingPlaces::pieces> free_;
  HostBytes memory_;
  StagingPlaces places_;
};

class CudaDriver final : public Driver {
 public:
  CudaDriver(Gpu& gpu, About about, Handle<cudaStream_t> stream)
      : Driver(std::move(about)), gpu_(gpu), stream_(std::move(stream)) {}
  cudaStream_t stream() const { return stream_.get(); }

  void* take(int64_t bytes) override;
  void give_back(void* data) noexcept override;
  int64_t upload(void* to, const void* from, int64_t bytes) override;
  void upload_recorded(void* to, const void* from, int64_t bytes) override;
  void download(void* to, const void* from, int64_t bytes) override;
  void copy(void* to, const void* from, int64_t bytes) override;
  void fill_zero(void* data, int64_t bytes) override;
  void matmul(const Product<float>& product) override;
  void matmul(const Product<double>& product) override;
  void wait() override;
  void begin_recording() override;
  std::unique_ptr<Capture> end_recording() override;
  bool queue_works() override;
  bool recording_works() override;

 private:
  cublasHandle_t blas();

  Gpu& gpu_;
  Handle<cudaStream_t> stream_;
  Staging staging_;
  std::vector<HostBytes> recorded_uploads_;
  DeviceBytes blas_workspace_;
  Handle<cublasHandle_t> blas_;
  std::once_flag blas_made_;
};

}  // namespace mr::cuda
