// The driver of the emulated GPU. The host can reach device memory only through copies and kernels, and a kernel may
// not get a pointer into host memory. As on a real GPU, queries of the stream during a recording are errors that spoil
// the recording. Freeing a recording makes such a query.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "kernels/device/gpu.h"
#include "kernels/device/staging.h"

namespace mr::test {

/// Number of resources that emulated GPUs own now: drivers, blocks of memory and recordings.
inline std::atomic<int64_t> owned = 0;

class EmulatedDriver final : public cuda::Driver {
 public:
  using Work = std::function<void()>;
  EmulatedDriver();
  ~EmulatedDriver() override;

  void* take(int64_t bytes) override;
  void give_back(void* data) noexcept override;
  int64_t bytes_for(int64_t bytes) override;
  void handed_out(void* data, int64_t bytes) override;
  void taken_back(void* data) noexcept override;
  int64_t upload(void* to, const void* from, int64_t bytes) override;
  void upload_recorded(void* to, const void* from, int64_t bytes) override;
  void download(void* to, const void* from, int64_t bytes) override;
  void copy(void* to, const void* from, int64_t bytes) override;
  void fill_zero(void* data, int64_t bytes) override;
  void matmul(const cuda::Product<float>& product) override;
  void matmul(const cuda::Product<double>& product) override;
  void wait() override { in_flight_.fill(false); }
  void begin_recording() override;
  std::unique_ptr<cuda::Capture> end_recording() override;
  bool queue_works() override;
  bool recording_works() override { return !broken_; }

  /// Runs `work` on the device: now or, during a recording, each time that the recording is run. Device memory is
  /// accessible while `work` runs.
  void queue(Work work);
  void run(const Work& work);

  /// Throws std::logic_error unless every pointer among the words of a kernel's functor is null or points into a live
  /// allocation of the device.
  void check_pointers(const void* work, size_t bytes, const char* kernel) const;
  /// Returns true if the next kernel launch runs its lanes backward: every second launch does.
  bool next_launch_is_backward() { return backward_ = !backward_; }

  /// Makes allocations fail after `allocations` more of them; if it is negative, only when the memory is full.
  void run_out_of_memory_after(int64_t allocations) { allocations_left_ = allocations; }
  /// Makes every later call fail, as after a fault of a kernel.
  void break_down() { broken_ = true; }

 private:
  class Access;
  /// An allocation and the number of bytes that were asked for. `shared` is true for memory of a recording, which
  /// several tensors use in turn.
  struct Tensor {
    size_t bytes;
    bool shared;
  };
  void protect(int protection) const;
  bool closes_now() { return ++accesses_ < 500 || accesses_ % 64 == 0; }
  bool holds(const char* pointer) const;

  char* base_ = nullptr;  // start of device memory, which the host may not access
  size_t used_ = 0;
  int open_ = 0;
  int64_t accesses_ = 0;
  bool closed_ = true, backward_ = false, broken_ = false;
  int64_t allocations_left_ = -1;
  cuda::StagingPlaces places_;
  // per staging piece, whether a transfer is pending: it counts as done only once the host has waited for it
  std::array<bool, cuda::StagingPlaces::pieces> in_flight_{};
  std::vector<char> staging_ = std::vector<char>(cuda::StagingPlaces::all_bytes);
  std::map<char*, Tensor> live_;
  std::map<char*, size_t> rooms_;  // size of each allocation's address range in bytes
  std::map<size_t, std::vector<char*>> free_;
  bool recording_ = false, spoilt_ = false;
  std::vector<Work> recorded_;
};

/// Returns the driver of an emulated GPU.
inline EmulatedDriver& driver_of(const cuda::Gpu& gpu) { return static_cast<EmulatedDriver&>(gpu.driver()); }

}  // namespace mr::test
