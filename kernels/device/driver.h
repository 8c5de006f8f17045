// Interface of a GPU driver, which a Gpu (gpu.h) owns: memory, one stream on which work is queued in order, and
// recordings of such work. CudaDriver (cuda_driver.h) implements it; tests/support/emulated_gpu has an emulated one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace mr::cuda {

class Gpu;

/// Recorded GPU work, which can be run any number of times. It runs in the order in which it was recorded.
class Capture {
 public:
  virtual ~Capture() = default;
  virtual void run() = 0;
};

/// A product of row-major matrices: c (m x n) = op(a) op(b). op transposes if the flag is set; k is the inner size.
template <class Real>
struct Product {
  bool transpose_a, transpose_b;
  int64_t m, n, k;
  const Real *a, *b;
  Real* c;
};

class Driver {
 public:
  struct About {
    std::string name;
    int devices;  ///< number of GPUs that this process may use; the driver uses the first of them
    int multiprocessors;
  };
  explicit Driver(About about) : about_(std::move(about)) {}
  virtual ~Driver() = default;
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;
  const About& about() const { return about_; }

  /// `take` allocates device memory and returns null if there is none left. `give_back` frees memory after the work
  /// that uses it.
  virtual void* take(int64_t bytes) = 0;
  virtual void give_back(void* data) noexcept = 0;
  /// Returns how many bytes to allocate for a tensor of the given size. A driver that checks memory accesses may ask
  /// for more.
  virtual int64_t bytes_for(int64_t bytes) { return bytes; }
  virtual void handed_out(void* /*data*/, int64_t /*bytes*/) {}
  virtual void taken_back(void* /*data*/) noexcept {}

  /// Queues an upload; the caller may change the bytes once it returns. Returns how often it had to wait for staging
  /// memory.
  virtual int64_t upload(void* to, const void* from, int64_t bytes) = 0;
  /// Adds an upload to the recording, which keeps a copy of the bytes and uploads this copy whenever it runs.
  virtual void upload_recorded(void* to, const void* from, int64_t bytes) = 0;
  /// Queues a download; the result is valid after `wait`.
  virtual void download(void* to, const void* from, int64_t bytes) = 0;
  virtual void copy(void* to, const void* from, int64_t bytes) = 0;
  virtual void fill_zero(void* data, int64_t bytes) = 0;
  virtual void matmul(const Product<float>& product) = 0;
  virtual void matmul(const Product<double>& product) = 0;
  virtual void wait() = 0;

  virtual void begin_recording() = 0;
  /// Ends the recording and returns it, or null if the queued work cannot be run again.
  virtual std::unique_ptr<Capture> end_recording() = 0;

  /// `queue_works` returns true if the work queued so far succeeded. During a recording the stream cannot be queried,
  /// because the query would invalidate the recording. `recording_works` then returns a guess.
  virtual bool queue_works() = 0;
  virtual bool recording_works() = 0;

 private:
  About about_;
};

/// True if the program was compiled with CUDA.
bool built();
/// Opens the driver for `gpu`. Returns null and gives the reason if there is no usable device.
std::unique_ptr<Driver> open_driver(Gpu& gpu, std::string& reason);

}  // namespace mr::cuda
