// Interface of a GPU driver, for its owner (gpu.h): memory, one stream on which work is queued in order, and
// recordings of such work. CUDA's is CudaDriver (cuda_driver.h); tests/support/emulated_gpu has another.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace mr::cuda {

class Gpu;

/// Work that was recorded instead of run, to be run in its order as often as wanted.
class Capture {
 public:
  virtual ~Capture() = default;
  virtual void run() = 0;
};

/// Row-major c (m x n) = op(a) op(b), where op transposes if told to and k is the inner size.
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
    int devices;  ///< that this process may use; the first is this one
    int multiprocessors;
  };
  explicit Driver(About about) : about_(std::move(about)) {}
  virtual ~Driver() = default;
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;
  const About& about() const { return about_; }

  /// Memory from the device, null for lack of it; and giving it back, which waits for what may still use it.
  virtual void* take(int64_t bytes) = 0;
  virtual void give_back(void* data) noexcept = 0;
  /// A driver that watches its memory asks for more than a tensor needs, and is told whom it serves.
  virtual int64_t bytes_for(int64_t bytes) { return bytes; }
  virtual void handed_out(void* /*data*/, int64_t /*bytes*/) {}
  virtual void taken_back(void* /*data*/) noexcept {}

  /// Queued, but the bytes may change when it returns. How often it had to wait for room to keep them in.
  virtual int64_t upload(void* to, const void* from, int64_t bytes) = 0;
  /// An upload as part of the recording, from a copy that stays with it.
  virtual void upload_recorded(void* to, const void* from, int64_t bytes) = 0;
  /// Queued: to be read after `wait`.
  virtual void download(void* to, const void* from, int64_t bytes) = 0;
  virtual void copy(void* to, const void* from, int64_t bytes) = 0;
  virtual void fill_zero(void* data, int64_t bytes) = 0;
  virtual void matmul(const Product<float>& product) = 0;
  virtual void matmul(const Product<double>& product) = 0;
  virtual void wait() = 0;

  virtual void begin_recording() = 0;
  /// Null where what was queued cannot be run again.
  virtual std::unique_ptr<Capture> end_recording() = 0;

  /// True if the work queued so far succeeded. A stream that records cannot be asked: the question would fail and spoil
  /// the recording. The answer is then as good as can be known.
  virtual bool queue_works() = 0;
  virtual bool recording_works() = 0;

 private:
  About about_;
};

/// True if the program was compiled with CUDA.
bool built();
/// For the GPU that it will belong to; null where there is no usable device, with the reason.
std::unique_ptr<Driver> open_driver(Gpu& gpu, std::string& reason);

}  // namespace mr::cuda
