// The one GPU, its one stream and its memory. Everything is queued on the stream; copies to the host and `synchronize`
// wait.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>

#include "kernels/device/capture.h"
#include "kernels/device/check.h"
#include "kernels/device/device.h"
#include "kernels/device/lost.h"
#include "kernels/device/memory_pool.h"
#include "kernels/device/staging.h"

namespace mr::cuda {
namespace {

__global__ void probe() {}

/// The memory that uploads pass through, and when its pieces are free again.
class Staging {
 public:
  /// How often it had to wait.
  int64_t upload(char* to, const char* from, int64_t bytes, cudaStream_t on) {
    const std::lock_guard lock(mutex_);
    prepare();
    int64_t waits = 0;
    for (int64_t done = 0; done < bytes;) {
      const StagingPlaces::Place place = places_.next(bytes - done);
      const auto count = static_cast<size_t>(place.bytes);
      if (place.left >= 0) CUDA_TRY(cudaEventRecord(free_[place.left], on));
      if (place.entered >= 0) waits += wait_for(free_[place.entered]);
      std::memcpy(memory_ + place.at, from + done, count);
      CUDA_TRY(cudaMemcpyAsync(to + done, memory_ + place.at, count, cudaMemcpyHostToDevice, on));
      done += place.bytes;
    }
    return waits;
  }

 private:
  static int wait_for(cudaEvent_t event) {
    const cudaError_t state = cudaEventQuery(event);
    if (state == cudaSuccess) return 0;
    if (state != cudaErrorNotReady) CUDA_TRY(state);
    static_cast<void>(cudaGetLastError());
    CUDA_TRY(cudaEventSynchronize(event));
    return 1;
  }

  void prepare() {
    if (memory_ != nullptr) return;
    for (cudaEvent_t& event : free_) {
      if (event == nullptr) CUDA_TRY(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    }
    void* made = nullptr;
    CUDA_TRY(cudaMallocHost(&made, StagingPlaces::all_bytes));
    memory_ = static_cast<char*>(made);
  }

  std::mutex mutex_;
  char* memory_ = nullptr;
  StagingPlaces places_;
  std::array<cudaEvent_t, StagingPlaces::pieces> free_{};
};

/// The names of the last kernels since somebody waited: one of them is to blame for an error that is found late.
class Trail {
 public:
  void note(const char* type) {
    const std::lock_guard lock(mutex_);
    names_[count_++ % names_.size()] = type;
  }
  void clear() {
    const std::lock_guard lock(mutex_);
    count_ = 0;
  }
  std::string text() {
    const std::lock_guard lock(mutex_);
    if (count_ == 0) return "";
    if (count_ == 1) return "; running: " + readable(names_[0]);
    std::string out = "; one of the last operations caused it (CUDA_LAUNCH_BLOCKING=1 tells which): ";
    const size_t shown = std::min(count_, names_.size());
    for (size_t back = 1; back <= shown; ++back) {
      out += (back > 1 ? ", before it " : "") + readable(names_[(count_ - back) % names_.size()]);
    }
    return out;
  }

 private:
  static std::string readable(const char* type) {
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> name(abi::__cxa_demangle(type, nullptr, nullptr, &status), std::free);
    return status == 0 ? name.get() : type;
  }

  std::mutex mutex_;
  std::array<const char*, 4> names_{};
  size_t count_ = 0;
};

struct Gpu {
  std::string reason, name;
  int multiprocessors = 1, count = 0;
  cudaStream_t stream = nullptr;
  Staging staging;
  Trail trail;
  std::atomic<int64_t> waits = 0;

  Gpu() {
    reason = open();
    if (!reason.empty()) static_cast<void>(cudaGetLastError());
  }

  /// Empty, or why there is no usable device.
  std::string open() {
    if (const cudaError_t error = cudaGetDeviceCount(&count); error != cudaSuccess || count == 0) {
      return std::string("no CUDA device: ") + cudaGetErrorString(error == cudaSuccess ? cudaErrorNoDevice : error);
    }
    cudaDeviceProp properties{};
    cudaFuncAttributes attributes{};
    cudaError_t error = cudaSetDevice(0);
    if (error == cudaSuccess) error = cudaGetDeviceProperties(&properties, 0);
    if (error == cudaSuccess) error = cudaFuncGetAttributes(&attributes, probe);
    if (error == cudaSuccess) error = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    name = properties.name;
    multiprocessors = std::max(1, properties.multiProcessorCount);
    if (error == cudaSuccess) return "";
    return "the CUDA device " + name + " cannot be used: " + cudaGetErrorString(error);
  }
};

/// Never destroyed: tensors may be released after static objects are gone, and the driver cleans up after the process.
Gpu& gpu() {
  static Gpu* const the_gpu = std::make_unique<Gpu>().release();
  return *the_gpu;
}

[[noreturn]] void fail(const std::string& what, const char* expression, const char* file, int line) {
  std::string text = "CUDA: " + what + " in " + expression + " (" + file + ":" + std::to_string(line) + ")";
  text += gpu().trail.text();
  note_failure(text);
  throw std::runtime_error(text);
}

size_t bytes_of(int64_t n) { return static_cast<size_t>(n); }

/// Null for lack of memory; other errors are thrown.
void* take_from_device(int64_t bytes) {
  void* data = nullptr;
  const cudaError_t error = cudaMalloc(&data, bytes_of(bytes));
  if (error == cudaErrorMemoryAllocation) {
    static_cast<void>(cudaGetLastError());
    return nullptr;
  }
  CUDA_TRY(error);
  return data;
}

/// Waits for what may still use it; an error here is one of an earlier kernel, and the next call that can throw reports
/// it.
void give_to_device(void* data) { static_cast<void>(cudaFree(data)); }

}  // namespace

Pool& device_pool() {
  static Pool* const the_pool = std::make_unique<Pool>(&take_from_device, &give_to_device).release();
  return *the_pool;
}

void require_alive() {
  if (!available()) throw std::runtime_error(reason());
  require_not_lost();
}

bool queue_works() {
  static_cast<void>(cudaGetLastError());
  const cudaError_t state = cudaStreamQuery(stream());
  return state == cudaSuccess || state == cudaErrorNotReady;
}

bool recording_works() {
  static_cast<void>(cudaGetLastError());
  cudaStreamCaptureStatus status{};
  return cudaStreamIsCapturing(stream(), &status) == cudaSuccess;
}

void check(cudaError_t error, const char* expression, const char* file, int line) {
  if (error == cudaSuccess) return;
  if (error == cudaErrorMemoryAllocation) {
    static_cast<void>(cudaGetLastError());
    throw std::bad_alloc();
  }
  fail(cudaGetErrorString(error), expression, file, line);
}

void check(cublasStatus_t status, const char* expression, const char* file, int line) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  if (status == CUBLAS_STATUS_ALLOC_FAILED) throw std::bad_alloc();
  fail(text_of(status), expression, file, line);
}

cudaStream_t stream() { return gpu().stream; }
int multiprocessors() { return gpu().multiprocessors; }
void note_launch(const char* type) { gpu().trail.note(type); }

bool built() { return true; }
bool available() { return gpu().reason.empty(); }
int devices() { return available() ? gpu().count : 0; }
const char* reason() { return gpu().reason.c_str(); }

std::string device_name() {
  require_alive();
  return gpu().name;
}

int64_t memory_bytes() {
  size_t free = 0, total = 0;
  CUDA_TRY(cudaMemGetInfo(&free, &total));
  return static_cast<int64_t>(total);
}

int64_t free_bytes() {
  size_t free = 0, total = 0;
  CUDA_TRY(cudaMemGetInfo(&free, &total));
  return static_cast<int64_t>(free);
}

void* allocate(int64_t bytes) {
  require_alive();
  if (bytes <= 0) return nullptr;
  return device_pool().allocate(bytes);
}

void release(void* data) noexcept {
  if (data != nullptr) device_pool().release(data);
}

int64_t kept_bytes() { return available() ? device_pool().kept() : 0; }

void copy_to_device(void* to, const void* from, int64_t bytes) {
  if (bytes <= 0) return;
  require_alive();
  if (is_capturing()) return upload_captured(to, from, bytes);
  gpu().waits += gpu().staging.upload(static_cast<char*>(to), static_cast<const char*>(from), bytes, stream());
}

void copy_to_host(void* to, const void* from, int64_t bytes) {
  refuse_while_capturing();
  if (bytes > 0) CUDA_TRY(cudaMemcpyAsync(to, from, bytes_of(bytes), cudaMemcpyDeviceToHost, stream()));
  synchronize();
}

void copy_on_device(void* to, const void* from, int64_t bytes) {
  if (bytes > 0) CUDA_TRY(cudaMemcpyAsync(to, from, bytes_of(bytes), cudaMemcpyDeviceToDevice, stream()));
}

void fill_zero(void* data, int64_t bytes) {
  if (bytes > 0) CUDA_TRY(cudaMemsetAsync(data, 0, bytes_of(bytes), stream()));
}

void synchronize() {
  refuse_while_capturing();
  ++gpu().waits;
  CUDA_TRY(cudaStreamSynchronize(stream()));
  gpu().trail.clear();
}

int64_t waits() { return available() ? gpu().waits.load() : 0; }

}  // namespace mr::cuda
