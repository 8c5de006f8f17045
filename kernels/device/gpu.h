// The GPU as the runtime sees it, without a CUDA header. One object owns all that belongs to it, so that what is true
// of one GPU is written down in one place, and goes with it.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "kernels/core/tally.h"
#include "kernels/device/driver.h"
#include "kernels/device/failures.h"
#include "kernels/device/memory_pool.h"
#include "kernels/device/recordings.h"

namespace mr::cuda {

class Gpu {
 public:
  /// The first device, if it can be used.
  Gpu();
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  bool available() const { return driver_ != nullptr; }
  /// Why it is not ("" when it is).
  const std::string& reason() const { return reason_; }
  /// How many this process may use.
  int devices() const { return available() ? driver_->about().devices : 0; }
  std::string name() const;
  int multiprocessors() const { return driver().about().multiprocessors; }

  /// Device memory in the order of the stream, from the pool; throws std::bad_alloc when there is none left.
  void* allocate(int64_t bytes);
  void release(void* data) noexcept;
  /// Bytes that the pool keeps for the next requests.
  int64_t kept_bytes() const { return pool_.kept(); }
  /// A table of the host that never changes, on the device; uploaded when it is first asked for.
  const void* constant(const void* table, int64_t bytes);

  void copy_to_device(void* to, const void* from, int64_t bytes);
  /// Waits for everything before it.
  void copy_to_host(void* to, const void* from, int64_t bytes);
  void copy_on_device(void* to, const void* from, int64_t bytes);
  void fill_zero(void* data, int64_t bytes);
  template <class Real>
  void matmul(const Product<Real>& product);
  /// Waits; an error found here names the operation that caused it.
  void synchronize();
  /// How often the host waited for what it had queued.
  int64_t waits() const { return waits_; }

  /// From here on everything is recorded; what would have to wait throws. The pool keeps the memory that it uses.
  void begin_capture();
  /// Ends it; null where what was queued cannot be run again.
  std::unique_ptr<Capture> end_capture();

  /// Where checks of numbers note what they find instead of waiting for it: those of the tally that is open, or null.
  NanNotes* notes() const { return notes_; }
  void open_notes(NanNotes& notes) { notes_ = &notes; }
  /// Unless others were opened since.
  void close_notes(const NanNotes& notes) {
    if (notes_ == &notes) notes_ = nullptr;
  }

  /// Throws where there is no usable device, or the first cause if it is lost.
  void require_alive() const;
  void note_launch(const char* type) { failures_.note_launch(type); }
  /// After an error that is told as `cause`: marks the GPU as lost unless it still works.
  void note_failure(const std::string& cause);
  /// Throws std::runtime_error with the expression, its place and the kernels that may have caused it.
  [[noreturn]] void fail(const std::string& what, const char* expression, const char* file, int line);

  /// Throws where there is no usable device.
  Driver& driver() const;

 private:
  std::string reason_;
  std::unique_ptr<Driver> driver_;  // the stream, and what else the driver made
  Pool pool_;
  Recordings recordings_;
  std::map<const void*, void*> constants_, recorded_constants_;  // by the host's
  NanNotes* notes_ = nullptr;
  Failures failures_;
  std::atomic<int64_t> waits_ = 0;
};

/// The one of this process, made on first use. Never destroyed: tensors may be released after static objects are gone,
/// and then so may be the driver, which cleans up after the process.
Gpu& gpu();

}  // namespace mr::cuda
