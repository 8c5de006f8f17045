// The GPU as the runtime sees it, without a CUDA header. One object owns a GPU's stream, memory, graphs and error
// state.
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
  Gpu();
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  bool available() const { return driver_ != nullptr; }
  /// Returns why the GPU is not available ("" if it is).
  const std::string& reason() const { return reason_; }
  int devices() const { return available() ? driver_->about().devices : 0; }
  std::string name() const;
  int multiprocessors() const { return driver().about().multiprocessors; }

  /// Allocates device memory from the pool, in the order of the stream. Throws std::bad_alloc if there is none left.
  void* allocate(int64_t bytes);
  void release(void* data) noexcept;
  int64_t kept_bytes() const { return pool_.kept(); }
  /// Returns the device copy of a host table that never changes. It is uploaded on first use, and again on first use in
  /// a recording of GPU work.
  const void* constant(const void* table, int64_t bytes);

  void copy_to_device(void* to, const void* from, int64_t bytes);
  void copy_to_host(void* to, const void* from, int64_t bytes);
  void copy_on_device(void* to, const void* from, int64_t bytes);
  void fill_zero(void* data, int64_t bytes);
  template <class Real>
  void matmul(const Product<Real>& product);
  /// Waits for all work. An error that is found here names the last kernels, one of which may have caused it.
  void synchronize();
  int64_t waits() const { return waits_; }

  /// Starts a recording of GPU work. Until the recording ends, operations that have to wait for the GPU throw. Memory
  /// that the recorded work uses stays reserved while the recording exists.
  void begin_capture();
  /// Ends the recording and returns it, or null if the queued work cannot be run again.
  std::unique_ptr<Capture> end_capture();
  bool is_recording() const { return recordings_.is_open(); }

  /// Returns the object in which checks for NaN record what they find, so that they need not wait for the GPU; null if
  /// no tally (values that are accumulated on the device and read once per pass) is open.
  NanNotes* notes() const { return notes_; }
  void open_notes(NanNotes& notes) { notes_ = &notes; }
  /// Makes checks for NaN stop recording in `notes`. Does nothing if they record in the notes of another tally that
  /// was opened later.
  void close_notes(const NanNotes& notes) {
    if (notes_ == &notes) notes_ = nullptr;
  }

  /// Throws if there is no usable device, or throws the first cause if the GPU is lost.
  void require_alive() const;
  void note_launch(const char* type) { failures_.note_launch(type); }
  /// Call after a CUDA error with message `cause`: marks the GPU as lost unless it still works.
  void note_failure(const std::string& cause);
  /// Throws std::runtime_error with the expression, its source location and the kernels that may have caused the error.
  [[noreturn]] void fail(const std::string& what, const char* expression, const char* file, int line);

  /// Returns the driver. Throws if there is no usable device.
  Driver& driver() const;

 private:
  std::string reason_;
  // the program's own Driver object (driver.h), which owns the CUDA stream and other CUDA objects; null without a
  // usable GPU
  std::unique_ptr<Driver> driver_;
  Pool pool_;
  Recordings recordings_;
  // GPU copies of constant tables, by host address; `recorded_constants_` has the tables of the open recording
  std::map<const void*, void*> constants_, recorded_constants_;
  NanNotes* notes_ = nullptr;
  Failures failures_;
  std::atomic<int64_t> waits_ = 0;
};

/// Returns the GPU of this process, created on first use and never destroyed: tensors may be released after static
/// destructors have run, when the driver may be gone, too.
Gpu& gpu();

}  // namespace mr::cuda
